//go:build unix

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := program{t, dir, filepath.Join(dir, "data")}
	library(t, dir, 0)
	cmd := p.command("index", "--watch", "docs")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	warnings := bufio.NewReader(stderr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	until := func(what string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("watch ended without %q: %v", what, cmd.Wait())
	}
	until("the index holds")
	if err := os.WriteFile(filepath.Join(dir, "docs", "added.txt"), []byte("A cactus is watered once a month."), 0o600); err != nil {
		t.Fatal(err)
	}
	until("(1 new,")
	docs := filepath.Join(dir, "docs") // a folder that is gone is told once, and looked for again
	if err := os.Rename(docs, docs+"2"); err != nil {
		t.Fatal(err)
	}
	for line := ""; !strings.Contains(line, "tried again"); {
		if line, err = warnings.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(docs+"2", docs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "later.txt"), []byte("A fern is watered daily."), 0o600); err != nil {
		t.Fatal(err)
	}
	until("(1 new,")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v, want a good end", err)
	}
}
