package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/chat"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/settings"
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
	sources        string
}

// Values of --sources.
const (
	sourcesCited = "cited"
	sourcesAll   = "all"
)

// defaultTraceDir is where --trace writes to.
const defaultTraceDir = "output"

func (a *app) askCommand(g *given) *cobra.Command {
	var o askOptions
	c := command("ask [QUESTION]", -1, func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("output") && !o.trace {
			return usagef("-o says where --trace writes to, but --trace is missing").with("ragflow ask --trace -o " + o.dir + ` "…"`)
		}
		if c.Flags().Changed("thread") && o.thread == "" {
			return usagef("--thread is empty").with("name a conversation, or leave out --thread to begin a new one")
		}
		if o.sources != sourcesCited && o.sources != sourcesAll {
			return usagef("--sources is cited or all, not %q", o.sources)
		}
		question, err := a.askedQuestion(c, args, o)
		if err != nil {
			return err
		}
		return a.ask(c.Context(), g, question, o)
	})
	f := c.Flags()
	g.addAsk(f)
	g.add(f, "MCP_SERVERS")
	f.StringVarP(&o.question, "question", "q", "", "the question, as `TEXT`")
	f.StringVar(&o.thread, "thread", "", "conversation `ID` to continue, or to begin: an id, a name, or last")
	f.BoolVar(&o.resume, "resume", false, "go on with the thread's unfinished run instead of asking")
	f.BoolVar(&o.trace, "trace", false, "write answer.md and flow_trace.md")
	f.StringVarP(&o.dir, "output", "o", defaultTraceDir, "folder `DIR` that --trace writes to")
	f.StringVar(&o.sources, "sources", sourcesCited, "show passages of the sources: `WHICH` is cited, or all to show those as well that the answer does not cite")
	a.jsonFlag(c)
	f.BoolVar(&o.debug, "debug", false, "write to standard error what each node read, did and wrote")
	f.BoolVar(&o.verbose, "verbose", false, "write to standard error how long each node took")
	f.BoolVar(&o.failOnNoAnswer, "fail-on-no-answer", false, "exit with code 4 if the documents do not hold the answer")
	f.BoolVar(&o.agent, "agent", false, "let the model search as often as it likes before it answers")
	f.StringVar(&o.image, "image", "", "ask about what the picture `FILE` shows, such as a screenshot, with a model that reads pictures")
	f.BoolVar(&o.requireModel, "require-model", false, "exit with code 1 if no model wrote the answer, such as after a wrong key")
	f.BoolVar(&o.showPrompt, "show-prompt", false, "show what a model gets to answer with: instructions, sources and question")
	return c
}

// askedQuestion is the question of -q, the arguments or standard input; empty with --resume.
func (a *app) askedQuestion(c *cobra.Command, args []string, o askOptions) (string, error) {
	given := c.Flags().Changed("question")
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
	case given:
		args = []string{o.question}
	}
	return a.question(c.Context(), args)
}

// question makes one question of words, or reads it from standard input for "-".
func (a *app) question(ctx context.Context, words []string) (string, error) {
	text := strings.Join(words, " ")
	if text == "-" {
		var err error
		text, err = screen.Wait(ctx, func() (string, error) {
			data, err := io.ReadAll(io.LimitReader(a.in, maxQuestion))
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

// maxQuestion is how many bytes are read from standard input: more than the longest question
// that is used.
const maxQuestion = 1 << 20

func (a *app) ask(ctx context.Context, g *given, question string, o askOptions) error {
	with, err := a.converse(ctx, g, o.thread, o.resume)
	if err != nil {
		return err
	}
	return a.with(ctx, with.given, opening{sync: true, tools: o.agent || o.resume, change: with.configure}, func(opened *session) error {
		return a.askIn(ctx, opened, with, question, o)
	})
}

// askIn asks a question in a conversation, and shows the answer and the files that belong to it.
func (a *app) askIn(ctx context.Context, opened *session, with conversation, question string, o askOptions) (err error) {
	s := opened.settings
	if err := cmp.Or(needsModel(s, "--agent", o.agent), needsModel(s, "--require-model", o.requireModel), needsModel(s, "--image", o.image != "")); err != nil {
		return err
	}
	if len(with.given.docs()) == 0 && !a.asJSON {
		a.tellRoots(opened.report)
	}
	if with.isNew && with.thread != "" {
		a.tell("new thread %q", with.thread)
	}
	if o.image != "" {
		if question, err = a.withImage(ctx, s.Config, question, o.image); err != nil {
			return err
		}
	}
	q := ragflow.Question{Text: question, Thread: with.thread, Resume: o.resume, Agent: o.agent, Filter: with.scope.Filter, Trace: o.trace || o.showPrompt}
	reply, err := a.answer(ctx, opened, q, o)
	if err != nil {
		return failed("ask", err)
	}
	var prompt *ragflow.PromptReply
	if o.showPrompt {
		prompt = reply.Prompt
	}
	before := a.askedBefore(ctx, opened, reply)
	if err := a.printReply(reply, prompt, before); err != nil {
		return err
	}
	if !a.asJSON {
		a.tellReply(s, reply, with.isNew)
		if before != nil {
			a.tell("asked before, and rated %s on %s: %s; see: ragflow threads show%s %s",
				before.Rating, before.Time.Format(time.DateOnly), line(before.Question), dataFlag(s), quoted(before.ThreadID))
		}
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

// answer asks a question and shows the answer as chat does: on a terminal while it is written,
// unless --debug or --verbose write there too. The error of a run that can be resumed wraps
// [unfinishedError].
func (a *app) answer(ctx context.Context, opened *session, q ragflow.Question, o askOptions) (*ragflow.Reply, error) {
	saved := "" // thread of the run
	config := a.chatConfig(opened)
	config.Still, config.Sources = o.debug || o.verbose, o.sources == sourcesAll
	config.Observe = func(e ragflow.Event) {
		saved = e.Thread
		if e.Kind != ragflow.StepEnded {
			return
		}
		task := []graph.Delta{{Path: e.Path, Node: e.Node, Notes: e.Notes, Error: e.Error}}
		var lines []string
		if o.debug {
			lines = transcript.DebugLines(task)
		}
		if o.verbose {
			lines = append(lines, transcript.StageLines(task)...)
		}
		for _, l := range lines {
			fmt.Fprintln(a.err, l)
		}
	}
	if _, _, terminal := a.size(a.stdout); !terminal || a.asJSON {
		config.Out, config.Size = a.out, nil
	}
	if a.asJSON {
		config.Out, config.Quiet = io.Discard, true
	}
	reply, err := chat.Ask(ctx, config, q)
	if saved != "" && (errors.Is(err, context.Canceled) || errors.Is(err, ragflow.ErrDrained)) {
		err = &unfinishedError{err, "ragflow ask" + dataFlag(opened.settings) + " --thread " + quoted(saved) + " --resume"}
	}
	return reply, err
}

// dataFlag is the flag, with a space in front, that makes a later call in the same folder use the same
// data folder; empty if it does without.
func dataFlag(s *settings.Settings) string {
	if !strings.HasPrefix(s.Source("RAGFLOW_DATA_DIR"), "flag") {
		return ""
	}
	return " --data-dir " + quoted(s.Config.DataDir)
}

// tellRoots says what is searched if the person did not.
func (a *app) tellRoots(r *ingest.Report) {
	const maxNamed = 3
	names := strings.Join(r.Roots[:min(len(r.Roots), maxNamed)], ", ")
	if more := len(r.Roots) - maxNamed; more > 0 {
		names += fmt.Sprintf(", %d more", more)
	}
	a.tell("searching %s (%s)", names, count(r.Chunks, "passage"))
}

// printReply prints what belongs to an answer that was shown, or with --json all of it. before is a rating of a
// similar question; prompt and before may be nil.
func (a *app) printReply(r *ragflow.Reply, prompt *ragflow.PromptReply, before *feedback.Feedback) error {
	err := a.print(struct {
		*ragflow.Reply
		Prompt *ragflow.PromptReply `json:"prompt,omitempty"`
		Before *feedback.Feedback   `json:"asked_before,omitempty"`
	}{r, prompt, before}, func() {
		if prompt != nil {
			s := a.styleOf(a.stdout)
			fmt.Fprintf(a.out, "\n%s\n%s\n\n%s\n%s\n", s.Bold("System prompt"), transcript.Visible(prompt.SystemPrompt), s.Bold("User message"), transcript.Visible(prompt.UserMessage))
		}
	})
	return failed("write the answer", errors.Join(err, a.out.Flush())) // before what is said about it
}

// tellReply says how good an answer is, and how to go on.
func (a *app) tellReply(s *settings.Settings, r *ragflow.Reply, isNew bool) {
	if r.Certainty.Band == state.BandUnsure && r.Model != offlineName {
		a.tell("unsure: the passages that were found may not hold the answer; compare it with its sources")
	}
	if isNew && r.Model == offlineName {
		a.tell("offline: the answer quotes your documents; no model was used")
	}
	a.tell("continue with: ragflow ask%s --thread %s \"…\"", dataFlag(s), quoted(r.ThreadID))
}

// askedBefore returns the rating of the most similar question that was answered well before, if its thread is still
// there; nil if there is none.
func (a *app) askedBefore(ctx context.Context, opened *session, r *ragflow.Reply) *feedback.Feedback {
	all, err := opened.Ratings(ctx, "")
	if err != nil {
		a.warn(err.Error())
		return nil
	}
	ratings := &feedback.List{Feedback: all}
	ratings.Feedback = ratings.Latest()
	for _, f := range ratings.Like(r.Question) {
		if f.RunID == r.RunID || f.Rating != feedback.RatingUp && f.Better == "" {
			continue
		}
		if _, err := opened.Threads().Info(ctx, f.ThreadID); err == nil {
			return &f
		}
	}
	return nil
}

// offlineName is Reply.Model if no model answered.
const offlineName = "offline"
