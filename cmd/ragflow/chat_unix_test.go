//go:build !windows

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/settings"
)

// terminalTest is the program in a terminal, and a script that types.
type terminalTest struct {
	t      *testing.T
	dir    string
	file   *os.File
	screen shownScreen
	ended  chan error
	moved  chan struct{} // something was written

	process *os.Process
	written bytes.Buffer // all that the program wrote; read it after the end
}

// shownScreen is what a person sees, and the lines that have left it at the top.
type shownScreen struct {
	vt10x.Terminal

	left *strings.Builder
}

func (s shownScreen) Write(p []byte) (int, error) {
	columns, rows := s.Size()
	for rest := p; len(rest) > 0; {
		_, n := utf8.DecodeRune(rest)
		before := s.Cursor()
		top, _, _ := strings.Cut(s.String(), "\n")
		if _, err := s.Terminal.Write(rest[:n]); err != nil {
			return len(p), err
		}
		wrapped := before.X == columns-1 && s.Cursor().X == 1
		if before.Y == rows-1 && (rest[0] == '\n' || wrapped) {
			s.left.WriteString(strings.TrimRight(top, " ") + "\n")
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// Text returns the lines of the screen without the spaces at their ends.
func (s shownScreen) Text() string {
	lines := strings.Split(s.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// patience is how long the screen may take to show what a script waits for.
const patience = 20 * time.Second

// startChat runs "ragflow chat" in a folder with documents in docs.
func startChat(t *testing.T, columns, rows int, env []string, args ...string) *terminalTest {
	t.Helper()
	dir := chatFolder(t)
	return startChatIn(t, dir, columns, rows, env, args...)
}

// chatFolder makes a folder with documents.
func chatFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "docs"), os.DirFS("testdata/chat/docs")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func startChatIn(t *testing.T, dir string, columns, rows int, env []string, args ...string) *terminalTest {
	t.Helper()
	return startIn(t, dir, columns, rows, env, append([]string{"chat", "--docs", "docs", "--data-dir", "data"}, args...)...)
}

// startIn runs ragflow in a terminal.
func startIn(t *testing.T, dir string, columns, rows int, env []string, args ...string) *terminalTest {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "ragflow", args...)
	c.Dir = dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "HOME=" + dir, "TZ=UTC"}, env...)
	file, err := pty.StartWithSize(c, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		t.Fatal(err)
	}
	tt := &terminalTest{t, dir, file, shownScreen{vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(file)), new(strings.Builder)}, make(chan error, 1), make(chan struct{}, 1), c.Process, bytes.Buffer{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.MultiWriter(tt.screen, tt), file) // ends with an error, as terminals do
	}()
	go func() {
		err := c.Wait()
		<-read
		tt.ended <- err
	}()
	t.Cleanup(func() { _ = file.Close() })
	return tt
}

// Write tells a waiting script that there is news.
func (tt *terminalTest) Write(p []byte) (int, error) {
	tt.written.Write(p)
	select {
	case tt.moved <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (tt *terminalTest) send(s string) {
	tt.t.Helper()
	if _, err := io.WriteString(tt.file, s); err != nil {
		tt.t.Fatal(err)
	}
}

// expect waits until the end of the screen matches.
func (tt *terminalTest) expect(pattern string) {
	tt.t.Helper()
	re := regexp.MustCompile(`(?s)` + pattern + `\s*$`)
	deadline := time.After(patience)
	for !re.MatchString(tt.screen.Text()) {
		select {
		case <-tt.moved:
		case <-deadline:
			tt.t.Fatalf("the screen does not end in %q:\n%s", pattern, tt.screen.Text())
		}
	}
}

// prompt waits for an empty prompt below a text.
func (tt *terminalTest) prompt(after string) {
	tt.t.Helper()
	tt.expect(after + `.*\n›`)
}

// exit waits for the end of the program.
func (tt *terminalTest) exit(want int) {
	tt.t.Helper()
	select {
	case err := <-tt.ended:
		code := 0
		if err != nil {
			code = err.(*exec.ExitError).ExitCode() //nolint:errorlint,forcetypeassert // of Wait, which wraps nothing
		}
		if code != want {
			tt.t.Errorf("exit code %d, want %d; screen:\n%s", code, want, tt.screen.Text())
		}
	case <-time.After(patience):
		tt.t.Fatalf("the program goes on; screen:\n%s", tt.screen.Text())
	}
}

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC`)
	anyTook = regexp.MustCompile(` +\d+\.\d (ms|s)\b`)
	anyHost = regexp.MustCompile(`file://[^/]*`)
)

// steady replaces what differs between two runs.
func (tt *terminalTest) steady(text string) []byte {
	text = strings.ReplaceAll(text, tt.dir, "/home/you")
	text = anyID.ReplaceAllString(text, "00000000-0000-7000-8000-000000000000")
	text = anyTime.ReplaceAllString(text, "2026-01-02 15:04 UTC")
	text = anyTook.ReplaceAllStringFunc(text, func(s string) string { // as wide as it was
		unit := s[strings.LastIndexByte(s, ' '):]
		return fmt.Sprintf("%*s", len(s), "1.0"+unit)
	})
	return []byte(anyHost.ReplaceAllString(text, "file://host"))
}

// The screens of a session, as people see them.
func TestChatScreens(t *testing.T) {
	for name, columns := range map[string]int{"plain": 80, "narrow": 40} {
		t.Run(name, func(t *testing.T) {
			s := startChat(t, columns, 150, []string{"NO_COLOR=1"})
			s.prompt(`Ctrl-D\s+leaves`)
			s.send("How do I back up a volume?\r")
			s.prompt(`\[1\]`)
			s.send("/threads\r")
			s.prompt(`one\s+of them`)
			s.send("/thraeds\r")
			s.prompt(`there\s+are:[^›]*/quit`)
			s.send("/help\r")
			s.prompt("stops an\\s+answer")
			s.send("\x04")
			s.exit(0)
			golden.Assert(t, "testdata/chat/"+name+".golden", s.steady(s.screen.Text()))
		})
	}
}

// Styles are written unless NO_COLOR is set.
func TestChatStyles(t *testing.T) {
	for env, want := range map[string]bool{"A=1": true, "NO_COLOR=1": false} {
		s := startChat(t, 80, 50, []string{env})
		s.prompt(`Ctrl-D\s+leaves`)
		s.send("How do I back up a volume?\r")
		s.prompt(`\[1\]`)
		s.send("\x04")
		s.exit(0)
		for _, sequence := range []string{"\x1b[36m[1]", "\x1b[1mragflow"} {
			if got := strings.Contains(s.written.String(), sequence); got != want {
				t.Errorf("with %s, %q is written: %t, want %t", env, sequence, got, want)
			}
		}
	}
}

// Without a terminal each line is a question or a command.
func TestChatPiped(t *testing.T) {
	dir := chatFolder(t)
	c := exec.CommandContext(t.Context(), "ragflow", "chat", "--docs", "docs", "--data-dir", "data", "--quiet")
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	c.Stdin = strings.NewReader("How do I back up a volume?\n\nand how do I restore it?\n/undo\n")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if strings.Contains(stdout.String(), "\x1b") || stderr.Len() > 0 {
		t.Errorf("sequences, or errors: %q", stderr.String())
	}
	golden.Assert(t, "testdata/chat/piped.golden", (&terminalTest{dir: dir}).steady(stdout.String()))
}

// A conversation continues in a later session, with the lines typed in the first; SIGTERM
// restores the terminal.
func TestChatGoesOn(t *testing.T) {
	dir := chatFolder(t)
	s := startChatIn(t, dir, 80, 50, []string{"NO_COLOR=1"}, "--thread", "work")
	s.prompt("a new conversation, work")
	s.send("\x1b[200~How do I back up\na volume?\x1b[201~\r")
	s.prompt(`\[1\] docs/volumes.md`)
	s.send("What is a network?\r")
	s.prompt(`networks.md`)
	s.send("/undo\r")
	s.prompt(`taken back: What is a network\?`)
	s.send("\x04")
	s.expect("go on with: ragflow chat --thread work")
	s.exit(0)
	info, err := os.Stat(filepath.Join(dir, "data", settings.ChatHistory))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history: %v, %v; want mode 0600", info, err)
	}

	s = startChatIn(t, dir, 80, 50, []string{"NO_COLOR=1"}, "--thread", "work")
	s.prompt(`How do I back up a volume\?\n1 turn, last used`)
	s.send("\x1b[A\x1b[A\x1b[A")
	s.expect("› How do I back up\n  a volume\\?")
	s.send("\r")
	s.prompt(`\[1\] docs/volumes.md`)
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exit(exitTerminated)
	if strings.Contains(s.screen.Text(), "goroutine") {
		t.Errorf("a stack on the screen:\n%s", s.screen.Text())
	}
}
