package ragflow_test

import (
	"os"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestReadmeShowsTheGraph compares the diagram of the README with the graph.
func TestReadmeShowsTheGraph(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := ragflow.DrawGraph()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```mermaid\n")
	got, _, _ := strings.Cut(rest, "```")
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the diagram in README.md is\n%s\nthe graph is\n%s", got, want)
	}
}
