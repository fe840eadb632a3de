package ragflow_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// TestReplyOfTheRun: what Ask returns equals the reply read from the log afterwards, and
// shares nothing with the state of the thread.
func TestReplyOfTheRun(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	for i, q := range append(questions[:2:2], "and in winter?", "Who won the match?") {
		said, err := a.Ask(t.Context(), ragflow.Question{Text: q, Thread: "t", Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		last, err := a.Threads().StateAt(t.Context(), "t", 0) // cached, as the run left it
		if err != nil {
			t.Fatal(err)
		}
		logged, err := a.Reply(t.Context(), said.RunID)
		if err != nil {
			t.Fatal(err)
		}
		said.Prompt, logged.Prompt = nil, nil // each has another boundary around what is data
		if diff := cmp.Diff(logged, said); diff != "" {
			t.Errorf("question %d (-logged +said):\n%s", i, diff)
		}
		for j := range said.Queries {
			for k := range said.Queries[j].Boosts {
				said.Queries[j].Boosts[k].Text = "overwritten"
			}
		}
		for j := range said.Retrieved {
			said.Retrieved[j].Legs[0].Name = "overwritten"
		}
		if diff := cmp.Diff(logged.Queries, last.Turn.Queries); diff != "" {
			t.Errorf("question %d, queries of the state after the reply was written to (-before +after):\n%s", i, diff)
		}
		if diff := cmp.Diff(logged.Retrieved[0].Legs, last.Turn.Hits[0].Legs); diff != "" {
			t.Errorf("question %d, legs of the state after the reply was written to (-before +after):\n%s", i, diff)
		}
	}
}

// TestReplyOfNothing checks that a reply without any result is whole (X19): lists
// are empty, not absent, and it says when it was asked.
func TestReplyOfNothing(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.FixedZone("", 3600))
	a := open(t, ragflow.Config{Docs: []string{t.TempDir()}, Clock: func() time.Time { return noon }})
	r := ask(t, a, "", "How do I dry oregano?")
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "null") || r.Context != "" || r.Chunks.ContextTokens != 0 {
		t.Errorf("context %q, JSON %s", r.Context, data)
	}
	if !strings.Contains(string(data), `"begun":"2026-01-02T11:00:00Z"`) {
		t.Errorf("begun %v", r.Begun)
	}
}

func TestContextOptions(t *testing.T) {
	o := state.ContextOptions{MaxSources: 1, MaxTokens: 100, Separator: "\n***\n", Scores: true, Metadata: true, Sentences: 1}
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{"thyme.md": thyme}), Settings: ragflow.Settings{Context: o}})
	r := ask(t, a, "", "When is thyme harvested?")
	label, rest, _ := strings.Cut(r.Context, "\n")
	if !strings.HasPrefix(label, "[Source 1] (relevance: ") {
		t.Errorf("label %q", label)
	}
	want := "Document type: guide\nDocument ID: H-7\nThyme is harvested in June, just before it flowers."
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if r.Chunks.ContextTokens != text.Count(r.Context) || r.Chunks.Context != 1 {
		t.Errorf("chunks %+v", r.Chunks)
	}
	for _, o := range []state.ContextOptions{{MaxSources: 7}, {MaxTokens: 1}, {Sentences: -1}} {
		if _, err := ragflow.Open(t.Context(), ragflow.Config{Settings: ragflow.Settings{Context: o}}); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
