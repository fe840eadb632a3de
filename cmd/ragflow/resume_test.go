package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestResumeKeepsDocuments resumes a run that stopped with the documents of its question,
// whatever was indexed since and wherever the command runs.
func TestResumeKeepsDocuments(t *testing.T) {
	t.Parallel()
	p := program{t: t, dir: t.TempDir(), data: t.TempDir()}
	for file, text := range map[string]string{
		"a/heater.md": "# Heater\n\nTo reset the heater, hold the red button for ten seconds.\n",
		"b/heater.md": "# Heater\n\nTo reset the heater, pull the plug.\n",
	} {
		path := filepath.Join(p.dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: p.data, Docs: []string{filepath.Join(p.dir, "a")}})
	if err != nil {
		t.Fatal(err)
	}
	a.Runs().Drain()
	_, err = a.Ask(t.Context(), ragflow.Question{Text: "How do I reset the heater?", Thread: "stopped"})
	if !errors.Is(err, ragflow.ErrDrained) {
		t.Fatalf("got %v, want a run that stopped", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	p.do("index", "b")
	var reply ragflow.Reply
	p.json(&reply, "ask", "--thread", "stopped", "--resume", "--json")
	if len(reply.Citations) != 1 || reply.Citations[0].Path != filepath.Join(p.dir, "a", "heater.md") {
		t.Errorf("cited %+v, want the heater.md of a", reply.Citations)
	}
}

// TestTraceOfRunThatDidNotBegin: the trace of a run that ended before its first step holds
// nothing of the turn before.
func TestTraceOfRunThatDidNotBegin(t *testing.T) {
	t.Parallel()
	p := program{t: t, dir: t.TempDir(), data: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "heater.md"), []byte("# Heater\n\nTo reset the heater, hold the red button.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.do("ask", "--docs", ".", "--thread", "t", "How do I reset the heater?")
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: p.data})
	if err != nil {
		t.Fatal(err)
	}
	a.Runs().Drain()
	if _, err = a.Ask(t.Context(), ragflow.Question{Text: "And the boiler?", Thread: "t"}); !errors.Is(err, ragflow.ErrDrained) {
		t.Fatalf("got %v, want a run that stopped", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	p.do("trace", "last")
	answer, err := os.ReadFile(filepath.Join(p.dir, "output", "answer.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{p.do("trace", "--json", "last"), string(answer)} {
		if !strings.Contains(text, "And the boiler?") || strings.Contains(text, "red button") {
			t.Errorf("the trace is not that of the question:\n%s", text)
		}
	}
}
