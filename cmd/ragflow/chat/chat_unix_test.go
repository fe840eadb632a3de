//go:build !windows

package chat_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/chat"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/lineedit"
	"example.com/ragflow/internal/screen"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
	"example.com/ragflow/transcript"
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
		event := func(kind graph.EventKind, v any) bool {
			return yield(ragflow.Event{Kind: kind, Live: v != nil, Thread: "t-1", Run: run, Node: nodes.GenerateID, Value: v}, nil)
		}
		event(graph.RunStarted, nil)
		event(graph.TaskStarted, nil)
		if do := f.script[q.Text]; do != nil {
			emit := func(text string) bool {
				return event(graph.Custom, nodes.Token{Text: text, Void: text == ""})
			}
			if err := do(ctx, emit); err != nil {
				yield(ragflow.Event{}, err)
				return
			}
		}
		event(graph.RunEnded, nil)
	}
}

func (f *fake) Reply(_ context.Context, run string) (*ragflow.Reply, error) {
	question := strings.TrimPrefix(run, "r")
	if r := f.reply[question]; r != nil {
		return r, nil
	}
	return &ragflow.Reply{ThreadID: "t-1", RunID: run, Answer: "You asked: " + question}, nil
}

func (*fake) Index(context.Context) (*ragflow.IndexReport, error) {
	return &ragflow.IndexReport{Roots: []string{"/docs"}, Files: 1, Chunks: 1}, nil
}
func (*fake) Run(context.Context, string) (*transcript.Run, error) { return &transcript.Run{}, nil }
func (*fake) List(context.Context) ([]threads.Info, error) {
	return []threads.Info{{ID: "t-1", Title: "First \x1b[31mtitle", Turns: 2}, {ID: "t-2", Title: "Second", Turns: 1}}, nil
}

func (*fake) Thread(_ context.Context, id string) (*threads.Thread, error) {
	return &threads.Thread{Info: threads.Info{ID: id, Title: "Title of " + id}, Messages: []threads.Message{{Message: state.Message{Role: state.Human, Content: "earlier"}}}}, nil
}
func (*fake) Trace(context.Context, string) (string, string, error) { return "answer", "flow", nil }

func (f *fake) undo(context.Context, string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undone++
	return "the question", nil
}

// session is a chat in a terminal of this process.
type session struct {
	t      *testing.T
	fake   *fake
	pty    *os.File
	screen *screen.Screen
	moved  chan struct{}
	ended  chan error
	cancel context.CancelFunc
}

const patience = 10 * time.Second

func start(t *testing.T, f *fake, change func(*chat.Config)) *session {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	term, err := lineedit.Open(tty, tty)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{t, f, master, screen.New(80, 24), make(chan struct{}, 1), make(chan error, 1), cancel}
	go func() { _, _ = io.Copy(io.MultiWriter(s.screen, s), master) }()
	c := chat.Config{
		Assistant: f, Threads: f, Undo: f.undo, Terminal: term, Out: tty, Err: tty, Env: map[string]string{},
		Models:   func(context.Context) []string { return []string{"a model"} },
		Markdown: func(_ context.Context, t *threads.Thread) string { return "# " + t.Title + "\n" },
		Nearest:  func(string, []string) string { return "" },
		Quote:    func(name string) string { return name },
		Explain:  func(err error) (string, string) { return err.Error(), "" },
	}
	if change != nil {
		change(&c)
	}
	go func() { s.ended <- errors.Join(chat.Run(ctx, c), term.Close()) }()
	t.Cleanup(func() { cancel(); _ = master.Close(); _ = tty.Close() })
	s.prompt("Ctrl-D leaves.")
	return s
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
	for !re.MatchString(s.screen.Text()) {
		select {
		case <-s.moved:
		case <-deadline:
			s.t.Fatalf("the screen does not end in %q:\n%s", pattern, s.screen.Text())
		}
	}
}

func (s *session) prompt(after string) {
	s.t.Helper()
	s.expect(after + `.*\n›`)
}

func (s *session) end(want error) {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if !errors.Is(err, want) {
			s.t.Errorf("the session ended with %v, want %v", err, want)
		}
	case <-time.After(patience):
		s.t.Fatalf("the session goes on:\n%s", s.screen.Text())
	}
	if u := s.screen.Unknown(); len(u) > 0 {
		s.t.Errorf("unknown sequences %q", u)
	}
}

// hang answers nothing until its context ends.
func hang(ctx context.Context, emit func(string) bool) error {
	emit("The beginning")
	<-ctx.Done()
	return context.Cause(ctx)
}

// Ctrl-C ends a turn and never the session; what is typed meanwhile is kept.
func TestInterrupt(t *testing.T) {
	f := &fake{script: map[string]func(context.Context, func(string) bool) error{"hang": hang}}
	s := start(t, f, nil)
	s.send("hang\r")
	s.expect(`The beginning\n\nwriting …`)
	s.send("typed ahead\x03\x03")
	s.expect(`/retry asks again\n\n› typed ahead`)
	s.send("\r")
	s.prompt("You asked: typed ahead")
	s.send("\x03")
	s.prompt("Ctrl-D or /quit leaves.")
	s.send("half a li\x03")
	s.prompt(`half a li\^C`)
	s.send("\x04")
	s.end(nil)
}

// The end of the context ends the session at the prompt, and within a turn.
func TestEnd(t *testing.T) {
	s := start(t, &fake{}, nil)
	s.cancel()
	s.end(context.Canceled)

	f := &fake{script: map[string]func(context.Context, func(string) bool) error{"hang": hang}}
	s = start(t, f, nil)
	s.send("hang\r")
	s.expect("writing …")
	s.cancel()
	s.end(context.Canceled)
}

// A draft grows on the screen; the answer replaces what differs.
func TestStream(t *testing.T) {
	next := make(chan struct{})
	f := &fake{
		script: map[string]func(context.Context, func(string) bool) error{"q": func(_ context.Context, emit func(string) bool) error {
			emit("# Titl")
			<-next
			emit("e\n\nSome **bold** text [Source 1]")
			<-next
			emit("") // void
			emit("Another **bold** text [Source 9][Source 1]\n\n```\ncode")
			<-next
			return nil
		}},
		reply: map[string]*ragflow.Reply{"q": {
			ThreadID: "t-1", RunID: "rq", Answer: "Another **bold** text [Source 1]\n\n```\ncode\n```\n",
			Citations: []ragflow.CitationReply{{N: 1, Source: "a.md", Path: "/docs/a.md", StartLine: 3, EndLine: 4, Title: "A \x1b[31mtitle", Quote: "quoted\x1b[2J text"}},
		}},
	}
	s := start(t, f, func(c *chat.Config) { c.Style = true })
	s.send("q\r")
	s.expect(`\n\nTitl\n\nwriting …`)
	next <- struct{}{}
	s.expect(`\n\nTitle\n\nSome bold text \[1\]\n\nwriting …`)
	next <- struct{}{}
	s.expect(`Another bold text \[9\]\[1\]\n\n    code\n\nwriting …`)
	next <- struct{}{}
	s.expect(`› q\n\nAnother bold text \[1\]\n\n    code\n\n  \[1\] /docs/a.md:3-4  A ␛\[31mtitle\n\n›`)
	s.send("/sources\r")
	s.prompt(`│ quoted␛\[2J text`)
	s.send("/open 1\r")
	s.prompt(`/docs/a.md:3`)
	s.send("/open 7\r")
	s.prompt(`has no source 7`)
	s.send("\x04")
	s.end(nil)
}

// Pasted lines stay one question; so do lines joined by Alt-Enter.
func TestLines(t *testing.T) {
	f := &fake{}
	s := start(t, f, nil)
	s.send("\x1b[200~first\r\nsecond\x1b[201~")
	s.expect(`› first\n  second`)
	s.send("\x1b\rthird\r")
	s.prompt("You asked:")
	s.send("\x1b[A") // the last one again
	s.expect(`› first\n  second\n  third`)
	s.send("\x03")
	s.prompt(`\^C`)
	s.send("one\rtwo\r") // the second is typed before the first is answered
	s.prompt("You asked: two")
	s.send("\x12fir")
	s.expect(`search fir: first\n  second\n  third`)
	s.send("\r")
	s.prompt("third")
	s.send("/he\t\r")
	s.prompt(`Ctrl-C\s+stops an answer`)
	s.send("\x04")
	s.end(nil)
	want := []string{"first\nsecond\nthird", "one", "two", "first\nsecond\nthird"}
	if strings.Join(f.asked, "|") != strings.Join(want, "|") {
		t.Errorf("asked %q, want %q", f.asked, want)
	}
}

// Commands that change the conversation.
func TestCommands(t *testing.T) {
	f := &fake{script: map[string]func(context.Context, func(string) bool) error{
		"fail": func(context.Context, func(string) bool) error { return errors.New("the store is \x1b[31mgone") },
	}}
	dir := t.TempDir()
	s := start(t, f, func(c *chat.Config) { c.Env["HOME"] = dir })
	for _, step := range []struct{ send, want string }{
		{"/sources\r", "nothing was asked in this session yet"},
		{"/retry\r", "there is no question to ask again"},
		{"/undo\r", "there is nothing to take back"},
		{"/export\r", "there is no conversation to write yet"},
		{"/new x\r", "/new takes no argument"},
		{"/nothing\r", "unknown command /nothing; /help lists the commands"},
		{"/etc/hosts?\r", `You asked: /etc/hosts\?`},
		{"fail\r", `the store is ␛\[31mgone`},
		{"/open 1\r", "was not answered; /retry asks again"},
		{"ask\r", "You asked: ask"},
		{"/retry\r", `asking again: ask\n\nYou asked: ask`},
		{"/undo\r", "taken back: the question"},
		{"/export ~/out.md\r", "wrote .*out.md"},
		{"/export ~/out.md\r", `out.md is already there; give\s+another name:\s+/export FILE`},
		{"/trace ~/traces\r", "nothing was asked in this session yet"},
		{"/threads\r", `1  First ␛\[31mtitle\n.*2  Second`},
		{"/threads 2\r", "Second\n1 turn"},
		{"/threads t-\r", `2 conversations begin with "t-"`},
		{"/threads last\r", "First"},
		{"/threads zzz\r", `no conversation "zzz"`},
		{"/model\r", "a model"},
		{"/new\r", "a new conversation"},
	} {
		s.send(step.send)
		s.prompt(step.want)
	}
	s.send("/quit\r")
	s.end(nil)
	if f.undone != 2 {
		t.Errorf("%d turns taken back, want 2", f.undone)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "out.md")); err != nil || string(data) != "# Title of t-1\n" {
		t.Errorf("exported %q, %v", data, err)
	}
}

// /open runs the editor at the line, with the terminal as it was.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "vim")
	script := "#!/bin/sh\nread answer\necho \"editor got $* and $answer\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f := &fake{reply: map[string]*ragflow.Reply{"q": {RunID: "rq", Answer: "a", Citations: []ragflow.CitationReply{{N: 1, Path: "/docs/a.md", StartLine: 12, EndLine: 12}}}}}
	s := start(t, f, func(c *chat.Config) { c.Env["EDITOR"] = editor })
	s.send("q\r")
	s.prompt(`a.md:12`)
	s.send("/open 1\r")
	s.expect("/open 1") // released: the editor's own line editing echoes
	s.send("typed to it\n")
	s.prompt(`editor got \+12 /docs/a.md and typed to it`)
	s.send("after\r")
	s.prompt("You asked: after")
	s.send("\x04")
	s.end(nil)
}
