//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/threads"
)

// TestFrozen freezes a process in the middle of a turn until its lease has run
// out and another has gone on with the thread. Thawed, it is refused with a
// clear error, and nothing it had to say is saved.
func TestFrozen(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a lease to run out; left out with -short")
	}
	t.Parallel()
	next := make(chan struct{})
	model := llmtest.NewServer(llmtest.Say("NONE"), llmtest.Say("SCORE: 0.90\nREFINED: volumes"), llmtest.SayThen("From the ", next, "frozen one. [Source 1]"))
	defer model.Close()
	dir := t.TempDir()
	p := program{t, dir, filepath.Join(dir, "data")}
	library(t, dir, 0)
	p.do("index", "--quiet", "docs")

	frozen := p.command("ask", "--thread", "shared", "--model", "played", "How often should I water herb 1?")
	frozen.Env = append(frozen.Env, "OPENAI_BASE_URL="+model.URL())
	var stdout, stderr bytes.Buffer
	frozen.Stdout, frozen.Stderr = &stdout, &stderr
	if err := frozen.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = frozen.Process.Kill() }()
	for len(model.Calls()) < 3 { // it is being answered
		pause(t, 10*time.Millisecond)
	}
	p.freeze(frozen.Process)
	close(next)
	second := "How often should I water herb 2?"
	p.do("ask", "--thread", "shared", "--quiet", second) // waits until the lease has run out
	before := p.messages("shared")
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	err := frozen.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitFailure {
		t.Errorf("the thawed process ended with %v, want exit code %d", err, exitFailure)
	}
	if got := stderr.String(); !strings.Contains(got, "shared") || !strings.Contains(got, "hint:") {
		t.Errorf("it said:\n%s", got)
	}
	t.Logf("the thawed process said:\n%s", stderr.String())
	after := p.messages("shared")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("it changed the thread (-before +after):\n%s", diff)
	}
	if n := strings.Count(strings.Join(after, "\n"), second); n != 1 || strings.Contains(strings.Join(after, "\n"), "frozen one") {
		t.Errorf("messages:\n%s", strings.Join(after, "\n"))
	}
	p.do("threads", "verify")
}

// freeze stops a process while it holds no lock of the database, so that others can write.
func (p program) freeze(process *os.Process) {
	p.t.Helper()
	for range 5 {
		if err := process.Signal(syscall.SIGSTOP); err != nil {
			p.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
		probe := p.command("ask", "--thread", "elsewhere", "--quiet", "How often should I water herb 3?")
		cmd := exec.CommandContext(ctx, probe.Path)
		cmd.Args, cmd.Dir, cmd.Env = probe.Args, probe.Dir, probe.Env
		out, err := cmd.CombinedOutput()
		stuck := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return
		case !stuck:
			p.t.Fatalf("asking in another thread: %v\n%s", err, out)
		}
		if err := process.Signal(syscall.SIGCONT); err != nil {
			p.t.Fatal(err)
		}
		pause(p.t, 50*time.Millisecond)
	}
	p.t.Fatal("stopped five times, it held the database each time")
}

// messages are what was said in a thread.
func (p program) messages(thread string) []string {
	p.t.Helper()
	var shown threads.Thread
	p.json(&shown, "threads", "show", "--json", thread)
	var out []string
	for _, m := range shown.Messages {
		out = append(out, string(m.Role)+": "+m.Content)
	}
	return out
}

// pause waits, and fails if the test has run out of time.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("the test has run out of time")
	case <-time.After(d):
	}
}
