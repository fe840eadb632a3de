package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Assistant is what a session needs of *ragflow.Assistant.
type Assistant interface {
	Stream(ctx context.Context, q ragflow.Question) iter.Seq2[ragflow.Event, error]
}

// Threads is what a session needs of *threads.Log.
type Threads interface {
	All(ctx context.Context) ([]threads.Info, error)
}

// Config is what a session works with. Assistant, Threads, Undo, Out and Err are needed,
// and one of Terminal and In.
type Config struct {
	Assistant Assistant
	Threads   Threads
	Terminal  *Terminal // nil if no person types
	In        io.Reader // read if Terminal is nil
	Out       io.Writer
	Err       io.Writer // hints and errors, if Terminal is nil

	// Size returns columns and rows of the screen that Out is; nil if it is none, and text is
	// written as it is.
	Size func() (columns, rows int)

	Style screen.Style
	Quiet bool // no greetings and hints
	Still bool // show nothing of an answer before it is done

	Sources bool // show the passages of all sources that were found below each answer

	Thread string       // the conversation to continue; empty begins a new one
	Filter state.Filter // documents to answer from
	Agent  bool         // the model searches as often as it likes before each answer

	// Undo takes the last turn of a thread back and returns its question.
	Undo func(ctx context.Context, thread string) (question string, err error)

	// Interrupts delivers each Ctrl-C that is typed while a turn runs.
	Interrupts <-chan os.Signal

	// Observe receives the events of turns; may be nil.
	Observe func(ragflow.Event)

	// Running marks that a turn is under way until the function it returns is called; may be nil.
	Running func() (done func())

	Indexed *ingest.Report                                                // what the index holds; may be nil
	Models  []string                                                      // lines that say what answers
	Pick    func(list []threads.Info, name string) (id string, err error) // returns the thread named by an id, its beginning, or "last"
	Quote   func(name string) string                                      // as one word for the person's shell
	Explain func(error) (what, hint string)                               // an error, for a person
}

// ErrReported is the error of a session without a terminal in which a question failed. The
// reason was printed already; the error wraps it too.
var ErrReported = errors.New("not all was answered")

// errQuit ends the session.
var errQuit = errors.New("quit")

// errUnknown is the error of a command that does not exist. Nothing was asked, so nothing failed.
var errUnknown = errors.New("unknown command")

// session is a sequence of conversations. One goroutine owns it.
type session struct {
	Config
	thread string   // empty until the first question of a new one is saved
	listed []string // ids that /threads numbered
	failed error    // the first failure of a session without a terminal
	last   *ragflow.Reply
	screen region
}

// Run talks until the person leaves, or until the input or ctx ends. Without a terminal, the
// first error of a question or a command is returned as [ErrReported] after all lines were read,
// unless the command does not exist.
func Run(ctx context.Context, c Config) error {
	s := newSession(c)
	s.greet()
	if s.thread != "" {
		s.introduce(ctx)
	}
	read := s.lines(ctx)
	for {
		text, err := read()
		switch {
		case errors.Is(err, errInterrupted):
			if strings.TrimSpace(text) == "" {
				s.hint("Ctrl-D or /quit leaves.")
			}
			continue
		case errors.Is(err, io.EOF):
			return s.farewell()
		case err != nil:
			return err
		}
		if err := s.line(ctx, text); errors.Is(err, errQuit) {
			return s.farewell()
		} else if err != nil {
			return err
		}
	}
}

func newSession(c Config) *session {
	if c.Terminal != nil {
		c.Size = c.Terminal.size
	}
	return &session{Config: c, thread: c.Thread, screen: region{out: c.Out, size: c.Size}}
}

// Ask asks one question and shows the answer as a session does.
func Ask(ctx context.Context, c Config, q ragflow.Question) (*ragflow.Reply, error) {
	s := newSession(c)
	defer s.screen.end()
	reply, err := s.stream(ctx, q)
	if err == nil {
		s.answer(reply)
	}
	return reply, err
}

// line answers a question or carries out a command. An error ends the session.
func (s *session) line(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
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

// lines returns the function that reads the next text.
func (s *session) lines(ctx context.Context) func() (string, error) {
	if s.Terminal != nil {
		return func() (string, error) { return s.Terminal.readLine(ctx, s.accent("›")+" ") }
	}
	in := bufio.NewReader(s.In)
	return func() (string, error) {
		return screen.Wait(ctx, func() (string, error) {
			text, err := in.ReadString('\n')
			if text != "" {
				err = nil
			}
			return strings.TrimRight(text, "\r\n"), err
		})
	}
}

// greet says which models answer, and from how many documents.
func (s *session) greet() {
	if s.Quiet {
		return
	}
	if s.Terminal != nil {
		about := ""
		if s.Indexed != nil {
			about = fmt.Sprintf(" · %s in %s", screen.Count(s.Indexed.Chunks, "passage"), screen.Count(s.Indexed.Indexed, "file"))
		}
		fmt.Fprintf(s.Out, "%s%s\n", s.Style.Bold("ragflow"), s.Style.Dim(about))
		for _, m := range s.Models {
			s.hint(m)
		}
		s.hint("Ask something, or type /help. Ctrl-D leaves.")
		fmt.Fprintln(s.Out)
	}
}

// introduce shows the conversation that the next question continues.
func (s *session) introduce(ctx context.Context) {
	list, err := s.Threads.All(ctx)
	if err != nil {
		s.complain(err)
		return
	}
	for _, t := range list {
		if t.ID == s.thread {
			s.say(s.Style.Bold(s.clip(screen.Line(t.Title), s.width())), s.Style.Dim(fmt.Sprintf("%s, last used %s", screen.Count(t.Turns, "turn"), when(t.Used))), "")
			return
		}
	}
	s.hint("a new conversation, " + screen.Line(s.thread))
}

// farewell says how to come back, and returns the error of [Run].
func (s *session) farewell() error {
	if s.thread != "" && !s.Quiet {
		s.hint("go on with: ragflow chat --thread " + s.Quote(s.thread))
	}
	if s.failed == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrReported, s.failed)
}
