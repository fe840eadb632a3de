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

// thyme is a page that says where it is published and what it is.
const thyme = `---
title: Thyme
url: https://herbs.test/thyme
document_type: guide
document_id: H-7
---

Thyme is harvested in June, just before it flowers.

It grows on dry and sunny ground.
`

func TestDocumentsSayWhereTheyArePublished(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"thyme.md":  thyme,
		"mint.html": `<html><head><title>Mint</title><link rel="canonical" href="https://herbs.test/mint"></head><body><p>Mint is cut in July, before it blooms.</p></body></html>`,
		"sage.md":   "---\nurl: /sage/\n---\n# Sage\n\nSage is pruned in April, after the last frost.\n",
	})})
	for question, want := range map[string]string{
		"When is thyme harvested?": "https://herbs.test/thyme",
		"When is mint cut?":        "https://herbs.test/mint",
		"When is sage pruned?":     "",
	} {
		r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Citations) == 0 || r.Citations[0].URL != want {
			t.Fatalf("%s: citations %+v, want %q", question, r.Citations, want)
		}
		if got := strings.Contains(r.AnswerMD, "`https://herbs.test/"); got != (want != "") || !strings.Contains(r.AnswerMD, "`"+want) && got {
			t.Errorf("%s: answer.md has not %q:\n%s", question, want, r.AnswerMD)
		}
		data, err := json.Marshal(r.Citations[0])
		if err != nil {
			t.Fatal(err)
		}
		own, _, _ := strings.Cut(string(data), `,"path":`) // metadata may have a url, too
		if got := strings.Contains(own, `"url":`); got != (want != "") {
			t.Errorf("%s: %s", question, data)
		}
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
