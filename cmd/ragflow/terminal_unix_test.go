//go:build !windows

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// keep asks a question in a folder with documents.
func keep(t *testing.T, dir, thread, question string) {
	t.Helper()
	p := program{t, dir, filepath.Join(dir, "data")}
	p.do("ask", "--quiet", "--docs", "docs", "--thread", thread, question)
}

// Deleting asks first if a person can answer, and anything but yes is no.
func TestDeleteAsks(t *testing.T) {
	dir := chatFolder(t)
	keep(t, dir, "my work", "How do I back up a volume?")
	for _, answer := range []string{"\r", "n\r", "maybe\r", "\x04"} {
		s := startIn(t, dir, 80, 24, nil, "threads", "delete", "--data-dir", "data", "my work")
		s.expect(`delete for good:\n  my work  1 turn  How do I back up a volume\?\nreally\? \[y/N\]`)
		s.send(answer)
		s.exit(exitFailure)
		if !strings.Contains(s.screen.Text(), "nothing was deleted") {
			t.Errorf("after %q the screen is\n%s", answer, s.screen.Text())
		}
	}
	s := startIn(t, dir, 80, 24, nil, "threads", "delete", "--data-dir", "data", "my work")
	s.expect(`really\? \[y/N\]`)
	s.send("\x03")
	s.exit(exitInterrupted)
	if list := (program{t, dir, filepath.Join(dir, "data")}).do("threads", "list"); !strings.Contains(list, "my work") {
		t.Errorf("deleted without a yes:\n%s", list)
	}
	s = startIn(t, dir, 80, 24, nil, "threads", "delete", "--data-dir", "data", "my work")
	s.expect(`really\? \[y/N\]`)
	s.send("Yes\r")
	s.exit(0)
	if !strings.Contains(s.screen.Text(), "deleted 1 thread") {
		t.Errorf("the screen is\n%s", s.screen.Text())
	}
}

// The command in a hint can be pasted into a shell, whatever the thread is called.
func TestHintsCanBePasted(t *testing.T) {
	dir := chatFolder(t)
	for _, name := range []string{"it's mine", "$HOME; wörk", `quo"te`} {
		p := program{t, dir, filepath.Join(dir, "data")}
		cmd := p.command("ask", "--docs", "docs", "--thread", name, "What is a volume?")
		var told strings.Builder
		cmd.Stderr = &told
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		_, hint, found := strings.Cut(told.String(), " --thread ")
		word, _, ended := strings.Cut(hint, " \"…\"")
		if !found || !ended {
			t.Fatalf("no hint in %q", told.String())
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+word).Output()
		if err != nil || string(out) != name {
			t.Errorf("the shell reads %s as %q, want %q, %v", word, out, name, err)
		}
	}
}
