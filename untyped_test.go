package ragflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/state"
)

// A server that knows the assistant as any other graph asks it questions, and its runs are known.
func TestGraph(t *testing.T) {
	t.Parallel()
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	g := a.Graph()
	history := `{"Text":"And how often?","History":[{"id":"","role":"human","content":"How do I water a basil plant?"},{"id":"","role":"ai","content":"From below."}]}`
	var kinds []string
	for e, err := range g.Stream(t.Context(), untyped.Request{Thread: "t", Run: "r", Input: json.RawMessage(history), Metadata: map[string]string{"by": "test"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Live {
			kinds = append(kinds, string(e.Kind))
		}
		if e.Kind == graph.RunStarted {
			if runs := a.Runs().List(t.Context()); len(runs) != 1 || runs[0].Run != "r" {
				t.Errorf("runs under way: %v", runs)
			}
		}
	}
	if got := strings.Join(kinds, " "); !strings.HasPrefix(got, "run_started step_done") || !strings.HasSuffix(got, "run_ended") {
		t.Error(got)
	}
	body, _, err := g.State(t.Context(), "t")
	var s state.State
	if err := errors.Join(err, json.Unmarshal(body, &s)); err != nil || len(s.Messages) != 4 {
		t.Errorf("%v: %s", err, body)
	}
	if reply, err := a.Reply(t.Context(), "r"); err != nil || reply.Question != "And how often?" {
		t.Errorf("%v, %v", reply, err)
	}
	for _, err := range g.Stream(t.Context(), untyped.Request{Thread: "left", Input: json.RawMessage(`{"Text":"How do I water a basil plant?"}`)}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if _, head, err := g.State(t.Context(), "left"); err != nil || head.Status != graph.Cancelled || len(a.Runs().List(t.Context())) != 0 {
		t.Errorf("left: %s, %v", head.Status, err)
	}
	for input, want := range map[string]string{`{"Txt":"x"}`: "unknown field", history: "has begun", `{}`: ragflow.ErrEmptyQuery.Error()} {
		for _, err := range g.Stream(t.Context(), untyped.Request{Thread: "t", Input: json.RawMessage(input)}) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", input, err)
			}
		}
	}
}
