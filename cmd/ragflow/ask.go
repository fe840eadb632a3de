package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/chat"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
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
	agent          bool
	image          string
}

// defaultTraceDir is where --trace writes to.
const defaultTraceDir = "output"

func (a *app) askCommand() *cobra.Command {
	var o askOptions
	c := command("ask [QUESTION]", -1, func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("output") && !o.trace {
			return usagef("-o says where --trace writes to, but --trace is missing").with("ragflow ask --trace -o " + o.dir + ` "…"`)
		}
		if c.Flags().Changed("thread") && o.thread == "" {
			return usagef("--thread is empty").with("name a conversation, or leave out --thread to begin a new one")
		}
		question, err := a.question(c.Context(), c.Flags().Changed("question"), args, o)
		if err != nil {
			return err
		}
		return a.ask(c.Context(), question, o)
	})
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
	f.BoolVar(&o.agent, "agent", false, "let the model search as often as it likes before it answers")
	f.StringVar(&o.image, "image", "", "ask about what the picture `FILE` shows, such as a screenshot, with a model that reads pictures")
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
	case o.resume && o.image != "":
		return "", usagef("--resume goes on with an earlier question and takes no picture")
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
		var err error
		text, err = wait(ctx, func() (string, error) {
			data, err := io.ReadAll(io.LimitReader(a.in, largestQuestion))
			return string(data), err
		})
		if err != nil {
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

// needsModel is the error of a flag that was given and needs a model where none is
// configured.
func (a *app) needsModel(flag string, given bool) error {
	switch {
	case !given || a.opened.config.Models.Chat != nil:
		return nil
	case a.flags.offline:
		return usagef("%s does not go with --offline, which uses no model", flag)
	}
	which := map[string]string{"--agent": "one that can call tools", "--image": "one that reads pictures", "--transform": "the model that writes the queries"}[flag]
	return usagef("%s, but no model is configured", flag).
		with("name " + cmp.Or(which, "one") + ": --model or SMART_LLM_MODEL; ragflow models shows what there is")
}

func (a *app) ask(ctx context.Context, question string, o askOptions) (err error) {
	with, err := a.converse(ctx, o.thread, o.resume)
	if err != nil {
		return err
	}
	assistant, report, err := a.openReport(ctx, with.configure)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	if err := cmp.Or(a.needsModel("--agent", o.agent), a.needsModel("--require-model", o.requireModel), a.needsModel("--image", o.image != "")); err != nil {
		return err
	}
	if len(a.flags.docs) == 0 && !a.asJSON {
		a.tellRoots(report)
	}
	if with.isNew && with.thread != "" {
		a.tell("new thread %q", with.thread)
	}
	if o.image != "" {
		if question, err = a.withImage(ctx, question, o.image); err != nil {
			return err
		}
	}
	q := ragflow.Question{Text: question, Thread: with.thread, Resume: o.resume, Agent: o.agent, Filter: with.scope.Filter, Trace: o.trace}
	reply, err := a.answer(ctx, assistant, q, o)
	if err != nil {
		return failed("ask", err)
	}
	var prompt *ragflow.PromptReply
	if o.showPrompt {
		if prompt, err = assistant.Prompt(ctx, reply.RunID); err != nil {
			return failed("show the prompt", err)
		}
	}
	if err := a.printReply(reply, prompt, with.isNew); err != nil {
		return err
	}
	if o.trace {
		if err := a.writeTrace(o.dir, reply.AnswerMD, reply.FlowTraceMD); err != nil {
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

// answer asks a question and shows the answer as chat does: on a terminal while it is
// written, unless --debug or --verbose write there too.
func (a *app) answer(ctx context.Context, assistant *ragflow.Assistant, q ragflow.Question, o askOptions) (*ragflow.Reply, error) {
	config := a.chatConfig(assistant)
	config.Observe, config.Still = a.observer(o), o.debug || o.verbose
	if _, _, terminal := a.size(a.stdout); !terminal || a.asJSON {
		config.Out, config.Size = a.out, nil
	}
	if a.asJSON {
		config.Out, config.Quiet = io.Discard, true
	}
	return chat.Ask(ctx, config, q)
}

// tellRoots says what is searched where the person did not.
func (a *app) tellRoots(r *ingest.Report) {
	const most = 3 // folders that are named one by one
	names := strings.Join(r.Roots[:min(len(r.Roots), most)], ", ")
	if more := len(r.Roots) - most; more > 0 {
		names += fmt.Sprintf(", %d more", more)
	}
	a.tell("searching %s (%s)", names, count(r.Chunks, "passage"))
}

// observer returns what listens to a run: it keeps the thread's id for the hint
// after an interruption, and prints what --debug and --verbose ask for.
func (a *app) observer(o askOptions) func(ragflow.Event) {
	return func(e ragflow.Event) {
		a.started = e.Thread
		if e.Kind != ragflow.StepEnded {
			return
		}
		task := []graph.Delta{{Path: e.Path, Node: e.Node, Notes: e.Notes, Error: e.Error}}
		if o.debug {
			for _, l := range transcript.DebugLines(task) {
				fmt.Fprintln(a.err, l)
			}
		}
		if o.verbose {
			for _, l := range transcript.StageLines(task) {
				fmt.Fprintln(a.err, l)
			}
		}
	}
}

// printReply prints what belongs to an answer that was shown, or with --json all of it.
func (a *app) printReply(r *ragflow.Reply, prompt *ragflow.PromptReply, isNew bool) error {
	if a.asJSON {
		return a.print(struct {
			*ragflow.Reply
			Prompt *ragflow.PromptReply `json:"prompt,omitempty"`
		}{r, prompt}, nil)
	}
	if prompt != nil {
		s := a.styleOf(a.stdout)
		fmt.Fprintf(a.out, "\n%s\n%s\n\n%s\n%s\n", s.bold("System prompt"), transcript.Visible(prompt.SystemPrompt), s.bold("User message"), transcript.Visible(prompt.UserMessage))
	}
	if err := a.out.Flush(); err != nil { // the answer before what is said about it
		return failed("write the answer", err)
	}
	if r.Certainty.Band == state.BandUnsure && r.Model != offlineName {
		a.tell("unsure: the passages that were found may not hold the answer; compare it with its sources")
	}
	if isNew && r.Model == offlineName {
		a.tell("offline: the answer quotes your documents; no model was used")
	}
	a.tell("continue with: ragflow ask%s --thread %s \"…\"", a.dataFlag(), quoted(r.ThreadID))
	return nil
}

// offlineName is Reply.Model where no model answered.
const offlineName = "offline"
