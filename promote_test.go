package ragflow_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
)

func promote(t *testing.T, a *ragflow.Assistant, p ragflow.Promoting) *ragflow.Promotion {
	t.Helper()
	out, err := a.Promote(t.Context(), p)
	if err != nil {
		t.Fatalf("promote %+v: %v", p, err)
	}
	return out
}

func similar(t *testing.T, a *ragflow.Assistant, question string) []ragflow.PromotedAnswer {
	t.Helper()
	reply, err := a.Similar(t.Context(), question, 0)
	if err != nil {
		t.Fatalf("similar to %q: %v", question, err)
	}
	return reply.Promoted
}

// TestPromote is R16: what was found good is kept, found by a similar question,
// and told as stale when what it cites has changed.
func TestPromote(t *testing.T) {
	docs, data := library(t), t.TempDir()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	config := ragflow.Config{DataDir: data, Docs: []string{docs}, Clock: func() time.Time { return now }}
	a := open(t, config)
	if got := similar(t, a, "anything"); len(got) != 0 {
		t.Fatalf("before anything is promoted: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(data, "promoted.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking made the file: %v", err)
	}
	reply := ask(t, a, "work", "How do I water a basil plant?")
	ask(t, a, "work", "and how much light does it need?")

	first := promote(t, a, ragflow.Promoting{Thread: "work", Turn: 1})
	if first.Replaced || first.Stale || first.Answer != reply.Answer || first.RunID != reply.RunID || !first.Promoted.Equal(now) {
		t.Errorf("promoted %+v", first)
	}
	if diff := cmp.Diff(reply.Citations[0].Hash, first.Citations[0].Hash); diff != "" || first.Citations[0].Hash == "" {
		t.Errorf("hash of the cited chunk (-want +got):\n%s", diff)
	}
	if again := promote(t, a, ragflow.Promoting{Thread: "work", Turn: 1}); !again.Replaced || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	now = now.Add(time.Minute)
	follow := promote(t, a, ragflow.Promoting{Thread: "work"})
	if follow.Question != "and how much light does it need?" || !strings.Contains(follow.Standalone, "basil") {
		t.Errorf("a follow-up is found by %q", follow.Standalone)
	}
	better := promote(t, a, ragflow.Promoting{Thread: "work", Turn: 2, Question: "How much light does basil need?"})
	if _, err := a.Demote(t.Context(), follow.ID); err != nil {
		t.Error(err)
	}

	for question, want := range map[string]string{
		"How should I water basil plants?":  first.ID,
		"how do I water a basil plant":      first.ID,
		"How much light would basil need?":  better.ID,
		"How do I not water a basil plant?": "",
		"Where do I water a basil plant?":   "",
		"How do I propagate mint?":          "",
	} {
		var ids []string
		for _, p := range similar(t, a, question) {
			ids = append(ids, p.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("similar to %q: %q, want %q", question, got, want)
		}
	}

	// It outlives its thread and the index; a later assistant sees that its source changed.
	if err := a.Delete(t.Context(), "work"); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(docs, filepath.FromSlash(first.Citations[0].Source))
	write(t, source, "# Basil\n\nAll is new here.\n")
	b := open(t, config)
	if _, err := b.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := similar(t, b, "How do I water a basil plant?")
	if len(got) != 1 || got[0].Similarity != 1 || !got[0].Stale || !got[0].Citations[0].Changed || got[0].Answer != reply.Answer {
		t.Errorf("after the document changed: %+v", got)
	}
	all, err := b.Promoted(t.Context())
	if err != nil || len(all.Promoted) != 2 || all.Promoted[0].ID != better.ID {
		t.Errorf("all, the newest first: %+v, %v", all, err)
	}
}

func TestPromoteRefuses(t *testing.T) {
	docs, data := library(t), t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}})
	ask(t, a, "work", "How do I water a basil plant?")
	if r := ask(t, a, "none", "Who won the world cup in 1966?"); !r.Abstained {
		t.Fatalf("answered %q", r.Answer)
	}
	keys, err := ragflow.ParseKeyring("2026:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	sealed := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}, ThreadKeys: keys})
	ask(t, sealed, "work", "How do I water a basil plant?")
	frozen := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}, ReadOnly: true})
	for _, tt := range []struct {
		name string
		a    *ragflow.Assistant
		p    ragflow.Promoting
		want error
	}{
		{"no such thread", a, ragflow.Promoting{Thread: "nobody"}, ragflow.ErrNotFound},
		{"no such turn", a, ragflow.Promoting{Thread: "work", Turn: 2}, ragflow.ErrNotFound},
		{"a turn below the first", a, ragflow.Promoting{Thread: "work", Turn: -1}, ragflow.ErrNotFound},
		{"no answer", a, ragflow.Promoting{Thread: "none"}, ragflow.ErrNoAnswer},
		{"encrypted", sealed, ragflow.Promoting{Thread: "work"}, ragflow.ErrSealed},
		{"read only", frozen, ragflow.Promoting{Thread: "work"}, ragflow.ErrReadOnly},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.a.Promote(t.Context(), tt.p); !errors.Is(err, tt.want) {
				t.Errorf("Promote: %v, want %v", err, tt.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(data, "promoted.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refusal made the file: %v", err)
	}
	for id, want := range map[string]error{"": ragflow.ErrNotPromoted, "abc": ragflow.ErrNotPromoted} {
		if _, err := a.Demote(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Demote(%q): %v, want %v", id, err, want)
		}
	}
	if _, err := a.Similar(t.Context(), " ", 0); !errors.Is(err, ragflow.ErrEmptyQuery) {
		t.Errorf("an empty question: %v", err)
	}
	if _, err := a.Similar(t.Context(), "a", 1.5); err == nil {
		t.Error("a threshold of 1.5 is taken")
	}
}
