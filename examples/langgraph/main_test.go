package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines counts the lines of the blocks of some files, by name, without comments and empty lines.
func lines(t *testing.T, files, comment string) (sum int, each map[string]int) {
	t.Helper()
	each = map[string]int{}
	names, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile(`(?s)`+comment+` begin ([^\n]*)\n(.*?)\n\s*`+comment+` end`).FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[2]) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, comment) {
					each[block[1]]++
					sum++
				}
			}
		}
	}
	return sum, each
}

// TestLines checks that code for LangGraph takes at most 1.3 times its lines here, over all blocks.
func TestLines(t *testing.T) {
	ours, goes := lines(t, "*.go", "//")
	theirs, pythons := lines(t, "*.py", "#")
	t.Logf("%d blocks, %d lines of Go, %d of Python", len(goes), ours, theirs)
	if len(pythons) != len(goes) || float64(ours) > 1.3*float64(theirs) {
		t.Errorf("%d lines of Go in %d blocks, %d of Python in %d", ours, len(goes), theirs, len(pythons))
	}
	guide, err := os.ReadFile("../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range pythons {
		row := "| " + name + " | " + strconv.Itoa(goes[name]) + " | " + strconv.Itoa(pythons[name]) + " |"
		if !strings.Contains(string(guide), row) {
			t.Errorf("docs/engine.md lacks the row %s", row)
		}
	}
}

// TestBlocks checks that the blocks give the results of those in Python, which are also run if langgraph is
// installed.
func TestBlocks(t *testing.T) {
	want, err := os.ReadFile("testdata/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, b := range blocks() {
		s, err := b(t.Context())
		if err != nil {
			t.Errorf("block %d: %v", i, err)
		}
		got.WriteString(strings.Join(s.Notes, " ") + "\n")
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if exec.CommandContext(t.Context(), "python3", "-c", "import langgraph").Run() != nil {
		return
	}
	out, err := exec.CommandContext(t.Context(), "python3", "blocks.py").Output()
	if diff := cmp.Diff(string(want), string(out)); err != nil || diff != "" {
		t.Errorf("python: %v (-want +got):\n%s", err, diff)
	}
}
