package eval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	ragflow "example.com/ragflow"
	"example.com/ragflow/eval"
)

// conversation is a case of testdata/followups.txtar.
type conversation struct {
	name      string
	questions []string
	fresh     bool // the last answer repeats no quote
	within    int
	page      string
}

func readConversations(t *testing.T, text string) []conversation {
	t.Helper()
	var out []conversation
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			continue
		case mark == "==":
			out = append(out, conversation{name: rest})
			continue
		case len(out) == 0:
			t.Fatalf("%q stands before the first conversation", line)
		}
		c := &out[len(out)-1]
		switch mark {
		case "?":
			c.questions = append(c.questions, rest)
		case "new":
			c.fresh = true
		default:
			n, err := strconv.Atoi(mark)
			if err != nil || rest == "" {
				t.Fatalf("%s: cannot read %q", c.name, line)
			}
			c.within, c.page = n, rest
		}
	}
	return out
}

// TestFollowUps runs conversations, turn by turn with the whole product, and checks the rank of the last
// turn's page. Not all turns are understood that refer to a list item, correct the previous turn or mention
// the user.
func TestFollowUps(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/followups.txtar")
	if err != nil {
		t.Fatal(err)
	}
	docs := t.TempDir()
	var talks []conversation
	for _, f := range archive.Files {
		if f.Name == "conversations" {
			talks = readConversations(t, string(f.Data))
			continue
		}
		path := filepath.Join(docs, filepath.FromSlash(strings.TrimPrefix(f.Name, "docs/")))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(talks) < 40 {
		t.Fatalf("%d conversations, want at least 40", len(talks))
	}
	assistant, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}, Dense: noVectors})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := assistant.Close(); err != nil {
			t.Error(err)
		}
	})
	understood := 0
	for _, talk := range talks {
		if fault := hold(t, assistant, talk); fault == "" {
			understood++
		} else {
			t.Logf("%s: %s", talk.name, fault)
		}
	}
	if want := len(talks) * 7 / 10; understood < want {
		t.Errorf("%d of %d conversations are understood, want %d", understood, len(talks), want)
	}
}

// hold runs a conversation and returns the faults of its last turn.
func hold(t *testing.T, assistant *ragflow.Assistant, talk conversation) (fault string) {
	t.Helper()
	var told []string
	for i, question := range talk.questions {
		reply, err := assistant.Ask(t.Context(), ragflow.Question{Text: question, Thread: talk.name})
		if err != nil {
			t.Fatal(err)
		}
		if i+1 < len(talk.questions) {
			for _, c := range reply.Citations {
				told = append(told, c.Quote)
			}
			continue
		}
		var pages []string
		for _, h := range reply.Retrieved {
			pages = append(pages, h.Source)
		}
		if rank := eval.PageRank(pages, []string{talk.page}); rank == 0 || rank > talk.within {
			fault = fmt.Sprintf("%s is page %d, want among the first %d", talk.page, rank, talk.within)
		}
		for _, c := range reply.Citations {
			if talk.fresh && slices.Contains(told, c.Quote) {
				fault = fmt.Sprintf("told again: %q", c.Quote)
			}
		}
	}
	return fault
}
