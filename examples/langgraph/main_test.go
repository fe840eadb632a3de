package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// lines counts the lines of the blocks of a file, without comments and empty lines.
func lines(t *testing.T, file, comment string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range regexp.MustCompile(`(?s)`+comment+` begin [^\n]*\n(.*?)\n\s*`+comment+` end`).FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, comment) {
				n++
			}
		}
	}
	return n
}

// What a user of LangGraph writes takes at most 1.3 times its lines here.
func TestLines(t *testing.T) {
	ours, theirs := lines(t, "main.go", "//"), lines(t, "blocks.py", "#")
	t.Logf("%d lines of Go, %d of Python", ours, theirs)
	if theirs < 80 || float64(ours) > 1.3*float64(theirs) {
		t.Errorf("%d lines of Go, %d of Python", ours, theirs)
	}
}

func TestBlocks(t *testing.T) {
	for i, want := range []string{"a b", "long", "X Y", "yes", "third", "deep", "a", "a a", "a", "picked b"} {
		s, err := blocks()[i](t.Context())
		if got := strings.Join(s.Notes, " "); err != nil || got != want {
			t.Errorf("block %d: %q, %v, want %q", i, got, err, want)
		}
	}
}
