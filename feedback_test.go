package ragflow_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/search"
)

const irrigation = "Basil irrigation schedule"

// TestRate is B01, B02 and R16: a good answer is promoted into the searched
// index, a bad rating withdraws it, and both ratings are kept.
func TestRate(t *testing.T) {
	docs, data := library(t), t.TempDir()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	config := ragflow.Config{DataDir: data, Docs: []string{docs}, Clock: func() time.Time { return now }}
	a := open(t, config)
	reply := ask(t, a, "work", "How do I water a basil plant?")

	up, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Good: true, Question: irrigation, Note: "clear"})
	if err != nil {
		t.Fatal(err)
	}
	if up.Rating != feedback.RatingUp || up.RunID != reply.RunID || !up.Time.Equal(now) || up.Note != "clear" {
		t.Errorf("rated %+v", up)
	}
	written, err := os.ReadFile(up.Document)
	c := reply.Citations[0]
	want := fmt.Sprintf("---\n\n%s\n\nFrom %s:%d\n", strings.TrimSpace(c.Quote), c.Source, c.StartLine)
	if err != nil || !strings.Contains(string(written), want) || strings.Contains(string(written), "[Source") {
		t.Errorf("promoted document %q: %v", written, err)
	}
	if got := foundIn(t, a); len(got) == 0 || got[0] != filepath.Base(up.Document) {
		t.Errorf("the promoted answer is not found first: %q", got)
	}

	down, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Turn: 1})
	if err != nil || down.Rating != feedback.RatingDown || down.Document != "" {
		t.Fatalf("rated %+v, %v", down, err)
	}
	if _, err := os.Stat(up.Document); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the withdrawn answer is still there: %v", err)
	}
	if got := foundIn(t, a); len(got) > 0 && got[0] == filepath.Base(up.Document) {
		t.Errorf("the withdrawn answer is still found: %q", got)
	}
	list, err := feedback.ReadFeedback(data)
	if err != nil || len(list.Feedback) != 2 || list.Feedback[0].Rating != feedback.RatingDown || list.Feedback[1].Question != irrigation {
		t.Errorf("feedback %+v, %v", list, err)
	}
}

// TestPromotedAnswersFollowTheirDocuments checks that a promoted answer is found over the same
// documents only, and is deleted once they say something else.
func TestPromotedAnswersFollowTheirDocuments(t *testing.T) {
	data, docs, other := t.TempDir(), library(t), t.TempDir()
	write(t, filepath.Join(other, "sky.md"), "The sky is blue.\n")
	over := func(folder string) *ragflow.Assistant {
		return open(t, ragflow.Config{DataDir: data, Docs: []string{folder}})
	}
	a := over(docs)
	reply := ask(t, a, "work", "How do I water a basil plant?")
	up, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Good: true, Question: irrigation})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(up.Document)
	if got := foundIn(t, over(docs)); len(got) == 0 || got[0] != name {
		t.Errorf("over its documents: %q", got)
	}
	if got := foundIn(t, over(other)); slices.Contains(got, name) {
		t.Errorf("over others: %q", got)
	}
	write(t, filepath.Join(docs, reply.Citations[0].Source), "Nothing about it any more.\n")
	if got := foundIn(t, over(docs)); slices.Contains(got, name) {
		t.Errorf("after a change: %q", got)
	}
	if _, err := os.Stat(up.Document); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// foundIn returns the sources of the hits for the question that the answers are promoted under.
func foundIn(t *testing.T, a *ragflow.Assistant) []string {
	t.Helper()
	found, err := a.Search(t.Context(), irrigation, ragflow.SearchOptions{Request: search.Request{K: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range found.Hits {
		out = append(out, h.Source)
	}
	return out
}

func TestRateFaults(t *testing.T) {
	docs, data := library(t), t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}})
	ask(t, a, "work", "How do I water a basil plant?")
	ask(t, a, "none", "Who won the cycling race of 1903?")
	for name, c := range map[string]struct {
		rating ragflow.Rating
		want   error
	}{
		"no such thread":  {ragflow.Rating{Thread: "nobody", Good: true}, ragflow.ErrNotFound},
		"no such turn":    {ragflow.Rating{Thread: "work", Turn: 9}, ragflow.ErrNotFound},
		"declined answer": {ragflow.Rating{Thread: "none", Good: true}, ragflow.ErrNoAnswer},
	} {
		if _, err := a.Rate(t.Context(), c.rating); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Note: strings.Repeat("x", 2001)}); err == nil {
		t.Error("a note of 2001 characters is taken")
	}
	if err := os.WriteFile(filepath.Join(data, "feedback.jsonl"), []byte("{}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := feedback.ReadFeedback(data); err == nil || !strings.Contains(err.Error(), "feedback.jsonl:2:") {
		t.Errorf("a broken line: %v", err)
	}
}
