package ragflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// TestSettingsOfAQuestion: a question is answered with its own settings, and the next one
// with those of the assistant again.
func TestSettingsOfAQuestion(t *testing.T) {
	s := llmtest.NewServer(script(llmtest.Say("A volume keeps it. [Source 1]")))
	defer s.Close()
	a := modelled(t, s, nil)
	zero := 0.0
	own := &ragflow.Settings{
		System: "You are the help desk of ACME.\n\n{context}", Temperature: &zero, Tokens: 77, NoModelGrading: true, TopK: 1,
		Context: state.ContextOptions{MaxSources: 1},
	}
	r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: "t", Settings: own})
	if err != nil {
		t.Fatal(err)
	}
	calls := s.Calls()
	last := calls[len(calls)-1]
	if !strings.Contains(last.System, "ACME") || !strings.Contains(last.Body, `"temperature":0`) || !strings.Contains(last.Body, "77") {
		t.Errorf("the model was asked: %s", last.Body)
	}
	if r.Chunks.Context != 1 || r.Usage.Calls != 1 {
		t.Errorf("chunks %+v, %d calls; want one source and no model that grades", r.Chunks, r.Usage.Calls)
	}
	after := ask(t, a, "t", question)
	calls = s.Calls()
	if strings.Contains(calls[len(calls)-1].System, "ACME") || after.Usage.Calls < 2 {
		t.Errorf("the next question has those settings, too: %d calls", after.Usage.Calls)
	}
	off := ragflow.Settings{Offline: true}
	if r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Settings: &off}); err != nil || r.Model != "offline" || r.Usage.Calls != 0 {
		t.Errorf("offline: %+v, %v", r, err)
	}
	for name, wrong := range map[string]ragflow.Settings{
		"threshold": {Threshold: 2}, "model": {Model: "nobody"}, "temperature": {Temperature: new(float64(3))}, "tokens": {Tokens: -1},
		"system": {System: "no place for sources"}, "synthesis": {Synthesis: "magic"}, "context": {Context: state.ContextOptions{MaxSources: 99}},
	} {
		if _, err := a.Ask(t.Context(), ragflow.Question{Text: question, Settings: &wrong}); err == nil {
			t.Errorf("wrong %s is taken", name)
		}
	}
}

// TestResumeKeepsSettings: a run that was cancelled continues with the model of its question.
func TestResumeKeepsSettings(t *testing.T) {
	s := llmtest.NewServer(script(llmtest.Say("A volume keeps it. [Source 1]")))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	a := modelled(t, s, func(c *ragflow.Config) {
		c.Models.Named = map[string]llm.Chat{"other": renamed{c.Models.Chat}}
		c.Hook = atNode{nodes.GenerateID, cancel}
	})
	own := &ragflow.Settings{Model: "other", NoModelGrading: true}
	if _, err := a.Ask(ctx, ragflow.Question{Text: question, Thread: "t", Settings: own}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a run that was cancelled", err)
	}
	r, err := a.Ask(t.Context(), ragflow.Question{Thread: "t", Resume: true})
	if err != nil || r.Model != "other" {
		t.Errorf("resumed: %+v, %v", r, err)
	}
}

// renamed is a chat of another name.
type renamed struct{ llm.Chat }

func (renamed) Model() string { return "other" }

// TestHistoryOfTheClient: a client that keeps the conversation itself asks a follow-up.
func TestHistoryOfTheClient(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	r, err := a.Ask(t.Context(), ragflow.Question{Text: "And how often?", History: []state.Message{
		{Role: state.Human, Content: "How do I water a basil plant?"}, {Role: state.AI, Content: "Water it from below."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Queries, func(q state.Query) bool { return strings.Contains(fmt.Sprint(q), "basil") }) {
		t.Errorf("the follow-up is not understood: %+v", r.Queries)
	}
	thread, err := a.Threads().Thread(t.Context(), r.ThreadID)
	if err != nil || roles(thread.Messages) != "human ai human ai" {
		t.Errorf("the thread has %q, %v", roles(thread.Messages), err)
	}
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: "x", Thread: r.ThreadID, History: []state.Message{{Role: state.Human}}}); err == nil {
		t.Error("a history is taken for a thread that has begun")
	}
}

// TestOwners: nobody reads, continues, rates or follows the thread of somebody else.
func TestOwners(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	anna, bert := ragflow.OwnedBy(t.Context(), "anna"), ragflow.OwnedBy(t.Context(), "bert")
	r, err := a.Ask(anna, ragflow.Question{Text: questions[0], Thread: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Runs().Start(bert, ragflow.Question{Text: questions[0], Thread: "t"}); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("start: %v", err)
	}
	if _, err := a.Ask(bert, ragflow.Question{Thread: "t", Resume: true}); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("resume: %v", err)
	}
	_, read := a.Threads().Thread(bert, "t")
	_, again := a.Ask(bert, ragflow.Question{Text: questions[0], Thread: "t"})
	_, reply := a.Reply(bert, r.RunID)
	_, rated := a.Rate(bert, ragflow.Rating{Thread: "t", Good: true})
	followed := drain(a.Runs().Events(bert, r.RunID, ""))
	for name, err := range map[string]error{"read": read, "ask": again, "reply": reply, "rate": rated, "follow": followed, "cancel": a.Runs().Cancel(bert, "t")} {
		if !errors.Is(err, ragflow.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Ask(anna, ragflow.Question{Text: questions[1], Thread: "t"}); err != nil {
		t.Error(err)
	}
	if _, err := a.Threads().Thread(t.Context(), "t"); err != nil {
		t.Errorf("without an owner: %v", err)
	}
}

// TestSeveralCollections answers from two collections as from one, with the citations of both.
func TestSeveralCollections(t *testing.T) {
	a := open(t, ragflow.Config{DataDir: t.TempDir()})
	for name, text := range map[string]string{
		"garden": "# Basil\n\nWater basil every morning in summer.\n", "house": "# Heater\n\nBleed the heater every autumn.\n",
	} {
		library, err := a.Collections().Make(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := library.PutText(t.Context(), name+".md", name, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	both := []string{"garden", "house"}
	for text, source := range map[string]string{"When do I water basil?": "garden.md", "When do I bleed the heater?": "house.md"} {
		r, err := a.Ask(t.Context(), ragflow.Question{Text: text, Collections: both, Thread: "t"})
		if err != nil || len(r.Citations) == 0 || r.Citations[0].Source != source || r.Chunks.Total != 2 {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
		found, err := a.Search(t.Context(), text, ragflow.SearchOptions{Collections: both})
		if err != nil || len(found.Hits) == 0 || found.Hits[0].Source != source {
			t.Errorf("search %s: %+v, %v", text, found, err)
		}
	}
	s, err := a.Threads().StateAt(t.Context(), "t", 0)
	if err != nil || s.Scope.Collection != "garden" || !slices.Equal(s.Scope.More, []string{"house"}) {
		t.Errorf("the thread keeps %+v, %v", s.Scope, err)
	}
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: "x", Collections: []string{"cellar"}}); !errors.Is(err, ingest.ErrNoCollection) {
		t.Errorf("an unknown collection: %v", err)
	}
	if _, err := a.Collections().Make(t.Context(), "empty"); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Ask(t.Context(), ragflow.Question{Text: "When do I water basil?", Collections: []string{"empty", "garden"}}); err != nil || len(r.Citations) == 0 {
		t.Errorf("with an empty collection: %+v, %v", r, err)
	}
	if err := a.Collections().Delete("empty"); err != nil {
		t.Fatal(err)
	}
	if err := a.Collections().Delete("house"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: "x", Collections: both}); !errors.Is(err, ingest.ErrNoCollection) {
		t.Errorf("a deleted collection: %v", err)
	}
	if names, err := a.Collections().List(); err != nil || !slices.Equal(names, []string{"garden"}) {
		t.Errorf("there are %v, %v", names, err)
	}
}
