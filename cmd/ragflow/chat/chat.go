package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/lineedit"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
	"example.com/ragflow/transcript"
)

// Assistant is what a session needs of *ragflow.Assistant.
type Assistant interface {
	Index(ctx context.Context) (*ragflow.IndexReport, error)
	Stream(ctx context.Context, q ragflow.Question) iter.Seq2[ragflow.Event, error]
	Reply(ctx context.Context, run string) (*ragflow.Reply, error)
	Trace(ctx context.Context, run string) (answerMD, flowTraceMD string, err error)
}

// Threads is what a session needs of *threads.Log.
type Threads interface {
	List(ctx context.Context) ([]threads.Info, error)
	Thread(ctx context.Context, id string) (*threads.Thread, error)
	Run(ctx context.Context, run string) (*transcript.Run, error)
}

// Config is what a session works with. Assistant, Threads, Out and Err are needed, and
// one of Terminal and In.
type Config struct {
	Assistant Assistant
	Threads   Threads
	Terminal  *lineedit.Terminal // nil where no person types
	In        io.Reader          // read where Terminal is nil
	Out       io.Writer
	Err       io.Writer // hints and errors, where Terminal is nil
	Prompt    bool      // without Terminal: a person types all the same, so ask for each line
	Style     bool      // bold and colours
	Links     bool      // hyperlinks to files
	Quiet     bool      // no greetings and hints

	Thread  string            // the conversation to go on with; empty begins a new one
	History *lineedit.History // nil keeps it for the session only
	Env     map[string]string // EDITOR, PAGER and HOME are looked at

	// Undo takes the last turn of a thread back and returns its question. Nil where
	// that cannot be done; there is no /undo then, and /retry makes a turn more.
	Undo func(ctx context.Context, thread string) (question string, err error)

	// Running tells that a turn is under way until what it returns is called; nil
	// tells nobody.
	Running func() (done func())

	Indexed  *ragflow.IndexReport                          // what the index holds; may be nil
	Models   func(ctx context.Context) []string            // lines that say what answers
	Markdown func(context.Context, *threads.Thread) string // a conversation, to export
	Nearest  func(word string, of []string) string         // the word most like it, or empty
	Quote    func(name string) string                      // as one word for the person's shell
	Explain  func(error) (what, hint string)               // an error, for a person
}

// errQuit ends the session.
var errQuit = errors.New("quit")

// session is one conversation after the other, owned by one goroutine.
type session struct {
	Config
	thread string         // empty until the first question of a new one is saved
	last   *ragflow.Reply // what /open, /sources and /trace are about; may be nil
	asked  string         // the last question, for /retry
	cut    bool           // the last turn was stopped or failed
	listed []string       // ids that /threads numbered
	failed error          // the first failure of a session without a terminal
	screen region
}

// Run talks until the person leaves, the input or ctx ends. Without a terminal
// it returns the first error that a question had, after all were asked.
func Run(ctx context.Context, c Config) error {
	s := &session{Config: c, thread: c.Thread}
	s.screen = region{out: c.Out, size: s.size}
	if s.History == nil {
		s.History = &lineedit.History{}
	}
	s.greet(ctx)
	if s.thread != "" {
		s.introduce(ctx)
	}
	read := s.lines(ctx)
	for {
		text, err := read()
		switch {
		case errors.Is(err, lineedit.ErrInterrupted):
			if strings.TrimSpace(text) == "" {
				s.hint("Ctrl-D or /quit leaves.")
			}
			continue
		case errors.Is(err, io.EOF):
			s.farewell()
			return s.failed
		case err != nil:
			return err
		}
		if err := s.line(ctx, text); errors.Is(err, errQuit) {
			s.farewell()
			return s.failed
		} else if err != nil {
			return err
		}
	}
}

// line does what one text asks for. An error ends the session.
func (s *session) line(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if err := s.History.Add(text); err != nil {
		s.warn(err.Error())
	}
	var err error
	if name, rest, ok := command(text); ok {
		s.echo(text)
		err = s.command(ctx, name, rest)
	} else {
		err = s.ask(ctx, text)
	}
	if err == nil || errors.Is(err, errQuit) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, graph.ErrDrained) {
		return err // the program is to end
	}
	s.complain(err)
	return nil
}

// lines returns what reads the next text.
func (s *session) lines(ctx context.Context) func() (string, error) {
	if s.Terminal != nil {
		p := lineedit.Prompt{First: s.accent("›") + " ", More: "  ", Complete: s.complete}
		return func() (string, error) { return s.Terminal.ReadLine(ctx, p, s.History) }
	}
	type result struct {
		text string
		err  error
	}
	next := make(chan result)
	asked := make(chan struct{}, 1)
	go func() { // ends with the session, or with the read it waits in
		in := bufio.NewReader(s.In)
		for range asked {
			text, err := in.ReadString('\n')
			if text != "" {
				err = nil
			}
			select {
			case next <- result{strings.TrimRight(text, "\r\n"), err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() (string, error) {
		if s.Prompt {
			fmt.Fprint(s.Out, "> ")
		}
		asked <- struct{}{}
		select {
		case r := <-next:
			return r.text, r.err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// greet says what answers, from what, and in which conversation.
func (s *session) greet(ctx context.Context) {
	if s.Quiet {
		return
	}
	if s.Terminal != nil {
		about := ""
		if s.Indexed != nil {
			about = fmt.Sprintf(" · %s in %s", count(s.Indexed.Chunks, "passage"), count(s.Indexed.Files, "file"))
		}
		fmt.Fprintf(s.Out, "%s%s\n", s.bold("ragflow"), s.dim(about))
		for _, m := range s.Models(ctx) {
			s.hint(m)
		}
		s.hint("Ask something, or type /help. Ctrl-D leaves.")
		fmt.Fprintln(s.Out)
	}
}

// introduce shows which conversation goes on.
func (s *session) introduce(ctx context.Context) {
	list, err := s.Threads.List(ctx)
	if err != nil {
		s.complain(err)
		return
	}
	for _, t := range list {
		if t.ID == s.thread {
			if err := s.recall(ctx); err != nil {
				s.complain(err)
			}
			s.say(s.bold(s.clip(oneLine(t.Title))), s.dim(fmt.Sprintf("%s, last used %s", count(t.Turns, "turn"), when(t.Used))), "")
			return
		}
	}
	s.hint("a new conversation, " + oneLine(s.thread))
}

// recall makes the last question of the conversation the one that /retry asks.
func (s *session) recall(ctx context.Context) error {
	t, err := s.Threads.Thread(ctx, s.thread)
	if err != nil {
		return err
	}
	for _, m := range t.Messages {
		if m.Role == state.Human {
			s.asked = m.Content
		}
	}
	return nil
}

// farewell says how to come back.
func (s *session) farewell() {
	if s.thread != "" && !s.Quiet {
		s.hint("go on with: ragflow chat --thread " + s.Quote(s.thread))
	}
}

// Watch runs f while the terminal's input is kept for later. Ctrl-C ends the
// context of f; the error then matches context.Canceled. A nil terminal is not
// watched.
func Watch(ctx context.Context, t *lineedit.Terminal, f func(context.Context) error) error {
	if t == nil {
		return f(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case c := <-t.Input():
			if t.Keep(c) {
				cancel()
			}
		}
	}
}
