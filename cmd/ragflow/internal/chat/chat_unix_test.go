//go:build !windows

package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/chat"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// fake answers what its script says. A question it has no script for is
// answered with itself.
type fake struct {
	mu     sync.Mutex
	script map[string]func(ctx context.Context, emit func(string) bool) error
	asked  []string
	undone int
	reply  map[string]*ragflow.Reply
}

func (f *fake) Stream(ctx context.Context, q ragflow.Question) iter.Seq2[ragflow.Event, error] {
	return func(yield func(ragflow.Event, error) bool) {
		f.mu.Lock()
		f.asked = append(f.asked, q.Text)
		run := "r" + q.Text
		f.mu.Unlock()
		event := func(e ragflow.Event) bool {
			e.Thread, e.Run, e.Node = "t-1", run, nodes.GenerateID
			return yield(e, nil)
		}
		event(ragflow.Event{Kind: ragflow.StepBegan})
		if do := f.script[q.Text]; do != nil {
			emit := func(text string) bool {
				if text == "" {
					return event(ragflow.Event{Kind: ragflow.Withdrawn})
				}
				return event(ragflow.Event{Kind: ragflow.Text, Text: text})
			}
			if err := do(ctx, emit); err != nil {
				yield(ragflow.Event{}, err)
				return
			}
		}
		event(ragflow.Event{Kind: ragflow.Done, Reply: f.replyTo(q.Text)})
	}
}

func (f *fake) replyTo(question string) *ragflow.Reply {
	if r := f.reply[question]; r != nil {
		return r
	}
	return &ragflow.Reply{ThreadID: "t-1", RunID: "r" + question, Answer: "You asked: " + question}
}

func (*fake) All(context.Context) ([]threads.Info, error) {
	return []threads.Info{{ID: "t-1", Title: "First \x1b[31mtitle", Turns: 2}, {ID: "t-2", Title: "Second", Turns: 1}}, nil
}

func (f *fake) undo(context.Context, string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undone++
	return "the question", nil
}

// scripts are the answers of the program of a session to some questions. step waits for the test.
func scripts(step func()) *fake {
	return &fake{
		script: map[string]func(context.Context, func(string) bool) error{
			"hang": func(ctx context.Context, emit func(string) bool) error {
				emit("The beginning")
				<-ctx.Done()
				return context.Cause(ctx)
			},
			"long": func(_ context.Context, emit func(string) bool) error {
				for n := range 40 {
					emit(fmt.Sprintf("line %d\n\n", n+1))
				}
				step()
				return nil
			},
			"fail": func(context.Context, func(string) bool) error { return errors.New("the store is \x1b[31mgone") },
			"q": func(_ context.Context, emit func(string) bool) error {
				emit("# Titl")
				step()
				emit("e\n\nSome **bold** text [Source 1]")
				step()
				emit("") // void
				emit("Another **bold** text [Source 9][Source 1]\n\n```\ncode")
				step()
				return nil
			},
		},
		reply: map[string]*ragflow.Reply{
			"q": {
				ThreadID: "t-1", RunID: "rq", Answer: "Another **bold** text [Source 1]\n\n```\ncode\n```\n",
				Citations: []ragflow.CitationReply{{Path: "/docs/a.md", Citation: state.Citation{N: 1, Source: "a.md", StartLine: 3, EndLine: 4, Title: "A \x1b[31mtitle", Quote: "quoted\x1b[2J text"}}},
			},
		},
	}
}

// TestMain is also the program of a session: a chat with a fake assistant, in
// the terminal that it is started in. It writes what was asked to file 4.
func TestMain(m *testing.M) {
	if os.Getenv("CHAT_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	steps := os.NewFile(3, "steps")
	f := scripts(func() { _, _ = steps.Read(make([]byte, 1)) })
	term, err := chat.OpenTerminal("")
	if err != nil {
		os.Exit(9)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, interrupts := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			if s == syscall.SIGTERM {
				cancel(errTerminated)
				continue
			}
			interrupts <- s
		}
	}()
	err = chat.Run(ctx, chat.Config{
		Assistant: f, Threads: f, Undo: f.undo, Terminal: term, Interrupts: interrupts, Out: os.Stdout, Err: os.Stdout,
		Style:  screen.Style{On: true},
		Models: []string{"a model"},
		Pick: func(list []threads.Info, name string) (string, error) {
			for _, t := range list {
				if t.ID == name || name == "last" {
					return t.ID, nil
				}
			}
			return "", fmt.Errorf("no conversation %q", name)
		},
		Quote:   func(name string) string { return name },
		Explain: func(err error) (string, string) { return err.Error(), "" },
	})
	code := 0
	switch closed := term.Close(); {
	case errors.Is(err, errTerminated) && closed == nil:
		code = 7
	case err != nil || closed != nil:
		code = 8
	}
	_, _ = fmt.Fprintf(os.NewFile(4, "asked"), "%s; %d taken back", strings.Join(f.asked, "|"), f.undone)
	os.Exit(code)
}

var errTerminated = errors.New("terminated")

// session is a chat in a terminal.
type session struct {
	t     *testing.T
	pty   *os.File
	vt    vt10x.Terminal
	moved chan struct{}
	ended chan error
	step  *os.File
	asked *os.File
	kill  func() // SIGTERM
}

const patience = 10 * time.Second

func start(t *testing.T) *session {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "CHAT_TEST_PROGRAM=1", "TERM=xterm-256color", "HOME="+t.TempDir())
	steps, step, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	asked, ask, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{steps, ask}
	master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 100, Cols: 80})
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	_, _ = steps.Close(), ask.Close()
	s := &session{
		t, master, vt10x.New(vt10x.WithSize(80, 100), vt10x.WithWriter(master)), make(chan struct{}, 1), make(chan error, 1), step, asked,
		func() { _ = c.Process.Signal(syscall.SIGTERM) },
	}
	go func() {
		_, _ = io.Copy(io.MultiWriter(s.vt, s), master)
		s.ended <- c.Wait()
	}()
	t.Cleanup(func() { _, _ = master.Close(), step.Close() })
	s.prompt("Ctrl-D leaves.")
	return s
}

// text is what a person sees.
func (s *session) text() string {
	lines := strings.Split(s.vt.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func (s *session) Write(p []byte) (int, error) {
	select {
	case s.moved <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) expect(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(`(?s)` + pattern + `\s*$`)
	deadline := time.After(patience)
	for !re.MatchString(s.text()) {
		select {
		case <-s.moved:
		case <-deadline:
			s.t.Fatalf("the screen does not end in %q:\n%s", pattern, s.text())
		}
	}
}

func (s *session) prompt(after string) {
	s.t.Helper()
	s.expect(after + `.*\n›`)
}

// end waits for the end of the session and returns what was asked in it.
func (s *session) end(want int) string {
	s.t.Helper()
	select {
	case err := <-s.ended:
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		}
		if code != want {
			s.t.Errorf("the session ended with %d, want %d:\n%s", code, want, s.text())
		}
	case <-time.After(patience):
		s.t.Fatalf("the session goes on:\n%s", s.text())
	}
	asked, err := io.ReadAll(s.asked)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(asked)
}

// Ctrl-C ends a turn and never the session; lines typed meanwhile are kept.
func TestInterrupt(t *testing.T) {
	s := start(t)
	s.send("hang\r")
	s.expect(`The beginning\n\nwriting …`)
	s.send("typed ahead\x03\x03")
	s.expect(`stopped\n\n› typed ahead`)
	s.send("\r")
	s.prompt("You asked: typed ahead")
	s.send("\x03")
	s.prompt("Ctrl-D or /quit leaves.")
	s.send("half a li\x03")
	s.prompt(`half a li`)
	s.send("\x04")
	s.end(0)
}

// The end of the context ends the session at the prompt, and within a turn.
func TestEnd(t *testing.T) {
	s := start(t)
	s.kill()
	s.end(7)

	s = start(t)
	s.send("hang\r")
	s.expect("writing …")
	s.kill()
	s.end(7)
}

// A draft grows on the screen; the answer replaces what differs.
func TestStream(t *testing.T) {
	s := start(t)
	next := func() {
		if _, err := s.step.WriteString("x"); err != nil {
			t.Fatal(err)
		}
	}
	s.send("q\r")
	s.expect(`\n\nTitl\n\nwriting …`)
	next()
	s.expect(`\n\nTitle\n\nSome bold text \[1\]\n\nwriting …`)
	next()
	s.expect(`Another bold text \[9\]\[1\]\n\n    code\n\nwriting …`)
	next()
	s.expect(`› q\n\nAnother bold text \[1\]\n\n    code\n\n  \[1\] /docs/a.md:3-4  A ␛\[31mtitle\n\n›`)
	s.send("\x04")
	s.end(0)
}

// On a small screen the end of a draft is shown. If the screen shrinks meanwhile and lines on it
// cannot be replaced, the answer says so.
func TestShrunkScreen(t *testing.T) {
	s := start(t)
	resize := func(rows uint16) {
		if err := pty.Setsize(s.pty, &pty.Winsize{Rows: rows, Cols: 80}); err != nil {
			t.Fatal(err)
		}
		s.vt.Resize(80, int(rows))
	}
	resize(12)
	s.send("long\r")
	s.expect(`\nline 39\n\nline 40\n\nwriting …`)
	resize(8)
	if _, err := s.step.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	s.expect(`The window was resized. Only what is below counts.\n\nYou asked: long\n\n›`)
	s.send("\x04")
	s.end(0)
}

// Pasted lines stay one question; so do lines joined by Ctrl-J. Ctrl-R
// searches what was typed, and Esc leaves the search with what was found.
func TestLines(t *testing.T) {
	s := start(t)
	s.send("\x1b[200~first\r\nsecond\x1b[201~")
	s.expect(`› first\n  second`)
	s.send("\nthird\r")
	s.prompt("You asked:")
	s.send("\x1b[A") // the last one again
	s.expect(`› first\n  second\n  third`)
	s.send("\x03")
	s.prompt(`third`)
	s.send("one\rtwo\r") // the second is typed before the first is answered
	s.prompt("You asked: two")
	s.send("\x12fir")
	s.expect(`› first\n  second\n  third.*fir.*`)
	s.send("\x1b")
	s.expect(`› first\n  second\n  third`)
	s.send("!\r")
	s.prompt(`You asked: first second third!`)
	s.send("/help\r")
	s.prompt(`Ctrl-C\s+stops\s+an\s+answer`)
	s.send("日本語\x7f\x7f\r")
	s.prompt("You asked: 日")
	s.send("\x04")
	if got, want := s.end(0), "first\nsecond\nthird|one|two|first\nsecond\nthird!|日; 0 taken back"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// Commands that change the conversation.
func TestCommands(t *testing.T) {
	s := start(t)
	for _, step := range []struct{ send, want string }{
		{"/undo\r", "there is nothing to take back"},
		{"/new x\r", "/new takes no argument"},
		{"/nothing\r", `unknown command /nothing;\s+there\s+are:\s+/new,`},
		{"/etc/hosts?\r", `You asked: /etc/hosts\?`},
		{"fail\r", `the store is ␛\[31mgone`},
		{"ask\r", "You asked: ask"},
		{"/undo\r", "taken back: the question"},
		{"/threads\r", `1  First ␛\[31mtitle\n.*2  Second`},
		{"/threads 2\r", "Second\n1 turn"},
		{"/threads last\r", "First"},
		{"/threads zzz\r", `no conversation "zzz"`},
		{"/new\r", "a new conversation"},
	} {
		s.send(step.send)
		s.prompt(step.want)
	}
	s.send("/quit\r")
	if got := s.end(0); !strings.HasSuffix(got, "; 1 taken back") {
		t.Errorf("asked %q, want 1 turn taken back", got)
	}
}
