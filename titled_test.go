package ragflow_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
)

// TestTitled asks what a thing is: the page about it comes first, though others name it
// more often.
func TestTitled(t *testing.T) {
	docs := t.TempDir()
	write(t, filepath.Join(docs, "compose.md"), "# Docker Compose\n\nA tool for running applications of several containers.\n")
	write(t, filepath.Join(docs, "image.md"), "# What is an image?\n\nA package of files.\n")
	for i := range 30 {
		write(t, filepath.Join(docs, fmt.Sprintf("notes%d.md", i)), "# Notes\n\n"+strings.Repeat("Docker Compose mended. The image of Docker Compose. ", 2+i%5)+"\n")
	}
	a := open(t, ragflow.Config{Docs: []string{docs}})
	for question, want := range map[string]string{
		"What is Docker Compose?":       "compose.md",
		"what's docker compose":         "compose.md",
		"What is an image?":             "image.md",
		"What are images":               "image.md",
		"Czym jest Docker Compose?":     "compose.md",
		"Docker Compose là gì?":         "compose.md",
		"Tell me about Docker Compose.": "compose.md",
	} {
		r := ask(t, a, "", question)
		if len(r.Citations) == 0 || r.Citations[0].Source != want {
			t.Errorf("%s: %q cites %v, want %s first", question, r.Answer, r.Citations, want)
		}
	}
	byTitle := func(h ragflow.SearchHit) bool {
		return h.Source == "compose.md" && h.Legs[len(h.Legs)-1].Name == index.LegTitle
	}
	if r := searchLeg(t, a, "What is Docker Compose?", 20, ""); !slices.ContainsFunc(r.Hits, byTitle) {
		t.Errorf("a search does not list the page: %v", r.Hits)
	}
	if r := searchLeg(t, a, "Docker Compose mended", 20, ""); slices.ContainsFunc(r.Hits, byTitle) {
		t.Error("who asks for something else gets the page, too")
	}
}
