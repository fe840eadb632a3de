package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/chat"
	"example.com/ragflow/ingest"
	"example.com/ragflow/transcript"
)

// askOptions are the flags of ask.
type askOptions struct {
	question       string
	thread         string
	resume         bool
	trace          bool
	dir            string
	debug          bool
	verbose        bool
	failOnNoAnswer bool
	showPrompt     bool
	requireModel   bool
}

// defaultTraceDir is where --trace writes to.
const defaultTraceDir = "output"

func (a *app) askCommand() *cobra.Command {
	var o askOptions
	c := &cobra.Command{
		Use:   "ask [QUESTION]",
		Short: "Ask a question and get a cited answer from your documents",
		Long: `Ask a question. The answer quotes your documents and cites the file and the lines
of each statement; where they do not hold the answer, it says so.

Documents named with --docs are indexed first, as far as they are new or have
changed. Each question begins a new thread, whose id is printed on standard
error; with --thread the question continues that conversation and may refer to
it ("and how do I back it up?"); it is answered from the documents of the
question before, unless --docs, --collection or --filter name others. A thread
is named by its id, by the first 8 or more characters of one, or by "last"; any
other name begins a thread of that name.

The question may also be given with -q, or on standard input with "-".`,
		Example: `  ragflow ask --docs ./docs "How do I keep a container's data?"
  ragflow ask --thread last "and how do I back it up?"
  ragflow ask --filter category=guide --path 'docs/**/*.md' "How do I keep a container's data?"
  ragflow ask --docs ./docs --trace -o ./output -q "How do I keep a container's data?"
  echo "What is a volume?" | ragflow ask --docs ./docs --json -`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("output") && !o.trace {
				f := usagef("-o says where --trace writes to, but --trace is missing")
				f.hint = "ragflow ask --trace -o " + o.dir + ` "…"`
				return f
			}
			question, err := a.question(c.Context(), c.Flags().Changed("question"), args, o)
			if err != nil {
				return err
			}
			return a.ask(c.Context(), question, o)
		},
	}
	f := c.Flags()
	a.askFlags(f)
	f.StringVarP(&o.question, "question", "q", "", "the question, as `TEXT`")
	f.StringVar(&o.thread, "thread", "", "conversation `ID` to continue, or to begin: an id, a name, or last")
	f.BoolVar(&o.resume, "resume", false, "go on with the thread's unfinished run instead of asking")
	f.BoolVar(&o.trace, "trace", false, "write answer.md and flow_trace.md")
	f.StringVarP(&o.dir, "output", "o", defaultTraceDir, "folder `DIR` that --trace writes to")
	a.jsonFlag(c)
	f.BoolVar(&o.debug, "debug", false, "tell on standard error what each node read, did and wrote")
	f.BoolVar(&o.verbose, "verbose", false, "tell on standard error how long each node took")
	f.BoolVar(&o.failOnNoAnswer, "fail-on-no-answer", false, "exit with code 4 where the documents do not hold the answer")
	f.BoolVar(&o.requireModel, "require-model", false, "exit with code 1 where no model wrote the answer, such as after a wrong key")
	f.BoolVar(&o.showPrompt, "show-prompt", false, "show what a model is told to answer with: instructions, sources and question")
	return c
}

// question finds the one question among flag (given or not), arguments and
// standard input.
func (a *app) question(ctx context.Context, given bool, args []string, o askOptions) (string, error) {
	switch {
	case o.resume && o.thread == "":
		return "", usagef("--resume needs --thread: the conversation whose run to go on with")
	case o.resume && (given || len(args) > 0):
		return "", usagef("--resume goes on with an earlier question and takes no new one")
	case o.resume:
		return "", nil
	case given && len(args) > 0:
		return "", usagef("two questions: -q %q and %q", o.question, strings.Join(args, " "))
	}
	text := o.question
	if !given {
		text = strings.Join(args, " ") // unquoted words are one question
	}
	if text == "-" {
		if slices.Contains(a.flags.docs, stdinDocs) {
			return "", usagef("standard input can be the question or the documents, not both")
		}
		var err error
		if text, err = readAll(ctx, a.in, largestQuestion); err != nil {
			return "", failed("read the question from standard input", err)
		}
		text = strings.TrimRight(text, "\r\n")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
		a.warn("the question is not valid UTF-8; bad bytes were replaced")
	}
	if strings.TrimSpace(text) == "" {
		return "", failed("", ragflow.ErrEmptyQuery)
	}
	return text, nil
}

// largestQuestion is how many bytes are read from standard input: more than
// the longest question that is used.
const largestQuestion = 1 << 20

func (a *app) ask(ctx context.Context, question string, o askOptions) (err error) {
	with, err := a.converse(ctx, o.thread, o.resume)
	if err != nil {
		return err
	}
	assistant, report, err := a.openReport(ctx, func(c *ragflow.Config) {
		with.configure(c)
		c.Observe = a.observer(o)
	})
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	if o.requireModel && a.opened.config.Chat == nil {
		return usagef("--require-model, but no model is configured").with("name one with --model; ragflow models shows what there is")
	}
	if len(a.flags.docs) == 0 && !a.asJSON {
		if report == nil {
			if report, err = assistant.Library().Sync(ctx); err != nil {
				return failed("ask", err)
			}
		}
		a.tellRoots(report)
	}
	if with.isNew && with.thread != "" {
		a.tell("new thread %q", with.thread)
	}
	q := ragflow.Question{Text: question, Thread: with.thread, Resume: o.resume, Trace: o.trace}
	reply, shown, err := a.answer(ctx, assistant, q, o)
	if err != nil {
		return failed("ask", err)
	}
	var prompt *ragflow.PromptReply
	if o.showPrompt {
		if prompt, err = assistant.Prompt(ctx, reply.RunID); err != nil {
			return failed("show the prompt", err)
		}
	}
	if err := a.printReply(reply, prompt, with.isNew, shown); err != nil {
		return err
	}
	if o.trace {
		answer, flow, err := assistant.Trace(ctx, reply.RunID)
		if err != nil {
			return failed("write the trace", err)
		}
		if err := a.writeTrace(o.dir, answer, flow); err != nil {
			return err
		}
	}
	if o.requireModel && reply.Model == offlineName && !reply.Abstained {
		return &failure{code: exitFailure, err: errors.New("no model wrote the answer"), hint: "ragflow doctor checks address, key and name of the model"}
	}
	if o.failOnNoAnswer && reply.Abstained {
		return errNoAnswer
	}
	return nil
}

// answer asks a question, and on a terminal shows the answer as chat does, while
// it is written unless --debug or --verbose write there too.
func (a *app) answer(
	ctx context.Context, assistant *ragflow.Assistant, q ragflow.Question, o askOptions,
) (r *ragflow.Reply, shown bool, err error) {
	_, _, terminal := a.size(a.stdout)
	config := a.chatConfig(assistant)
	if terminal && !a.asJSON && !o.debug && !o.verbose {
		config.Observe = a.observer(o)
		r, err = chat.Ask(ctx, config, q)
		return r, true, err
	}
	defer a.ending.running()()
	if r, err = assistant.Ask(ctx, q); err != nil || !terminal || a.asJSON {
		return r, false, err
	}
	chat.Show(ctx, config, r)
	return r, true, nil
}

// mostRoots is how many folders are named one by one.
const mostRoots = 3

// tellRoots says what is searched where the person did not.
func (a *app) tellRoots(r *ingest.Report) {
	if a.quiet {
		return
	}
	var names []string
	for _, root := range r.Roots[:min(len(r.Roots), mostRoots)] {
		names = append(names, line(root))
	}
	if more := len(r.Roots) - mostRoots; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(a.err, "searching %s (%s)\n", strings.Join(names, ", "), count(r.Files, "file"))
}

// observer returns what listens to a run: it keeps the thread's id for the hint
// after an interruption, and prints what --debug and --verbose ask for.
func (a *app) observer(o askOptions) func(ragflow.Event) {
	return func(e ragflow.Event) {
		a.started = e.Thread
		if o.debug {
			for _, l := range transcript.DebugLines(e.Tasks) {
				fmt.Fprintln(a.err, l)
			}
		}
		if o.verbose {
			for _, l := range transcript.StageLines(e.Tasks) {
				fmt.Fprintln(a.err, l)
			}
		}
	}
}

// printReply prints the answer, unless it was shown while it was written, and
// its sources, and on standard error what belongs to it.
func (a *app) printReply(r *ragflow.Reply, prompt *ragflow.PromptReply, isNew, shown bool) error {
	if a.asJSON {
		return a.print(struct {
			*ragflow.Reply
			Prompt *ragflow.PromptReply `json:"prompt,omitempty"`
		}{r, prompt}, nil)
	}
	s := a.styleOf(a.stdout)
	if !shown {
		a.printAnswer(r)
	}
	if prompt != nil {
		fmt.Fprintf(a.out, "\n%s\n%s\n\n%s\n%s\n", s.bold("System prompt"), transcript.Visible(prompt.SystemPrompt), s.bold("User message"), transcript.Visible(prompt.UserMessage))
	}
	if err := a.out.Flush(); err != nil { // the answer before what is said about it
		return failed("write the answer", err)
	}
	for _, w := range r.Warnings {
		if !shown {
			a.warn(w)
		}
	}
	if a.quiet {
		return nil
	}
	if isNew && r.Model == offlineName {
		fmt.Fprintln(a.err, "offline: the answer quotes your documents; no model was used")
	}
	fmt.Fprintf(a.err, "thread %s — continue with: ragflow ask%s --thread %s \"…\"\n", line(r.ThreadID), a.dataFlag(), quoted(r.ThreadID))
	return nil
}

// printAnswer prints an answer and its sources where no terminal is.
func (a *app) printAnswer(r *ragflow.Reply) {
	fmt.Fprintln(a.out, transcript.Visible(strings.TrimSpace(r.Answer)))
	if len(r.Citations) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", r.SourcesHeader)
	}
	for i, c := range r.Citations {
		same := func(o ragflow.CitationReply) bool { return o.N == c.N }
		if slices.ContainsFunc(r.Citations[:i], same) {
			continue // each source once, with all its lines
		}
		group := slices.DeleteFunc(slices.Clone(r.Citations), func(o ragflow.CitationReply) bool { return !same(o) })
		fmt.Fprintf(a.out, "[%d] %s  %s\n", c.N, chat.Place(line(c.Source), group), line(c.Title))
		if r.Model != offlineName { // without a model, the answer is the quotes
			fmt.Fprintf(a.out, "    “%s”\n", shorten(line(c.Quote), longestQuote))
		}
		if c.URL != "" {
			fmt.Fprintf(a.out, "    %s\n", line(c.URL))
		}
		if slices.ContainsFunc(group, func(o ragflow.CitationReply) bool { return o.Changed }) {
			fmt.Fprintf(a.out, "    %s\n", r.ChangedNotice)
		}
	}
}

// offlineName is Reply.Model where no model answered.
const offlineName = "offline"

// longestQuote is how many runes of a quote stand below an answer; the trace
// has all of it.
const longestQuote = 100

// shorten cuts a text at a word to at most n runes.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	head := string(runes[:n-1])
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
		head = head[:i]
	}
	return head + "…"
}
