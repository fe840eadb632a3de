package langgraph_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/langgraph"
)

// assistant answers from one document.
func assistant(t *testing.T) *ragflow.Assistant {
	t.Helper()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte("# Leave\n\nEvery employee has 26 days of paid leave a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// ids are those of the messages of values.
func ids(values any) (out []string) {
	list, _ := at(values, "messages").([]any)
	for _, m := range list {
		out = append(out, fmt.Sprint(at(m, "id")))
	}
	return out
}

// TestSummarised: clients see all messages of a thread, also those that a summary replaced in the state.
func TestSummarised(t *testing.T) {
	t.Parallel()
	a := assistant(t)
	f := serve(t, map[string]untyped.Runner{"ragflow": langgraph.Flow(a)})
	id := f.thread()
	path := "/threads/" + id
	ask := func(n int) string {
		return fmt.Sprintf(`{"assistant_id":"ragflow","input":{"messages":[{"type":"human","id":"q%d","content":"How many days of leave?"}]},`+
			`"context":{"settings":{"summary_tokens":1}},"stream_mode":"values"}`, n)
	}
	var want []string
	for n := 1; n <= 3; n++ {
		want = append(want, fmt.Sprintf("q%d", n), fmt.Sprintf("answer-q%d", n))
		if d := cmp.Diff(want, ids(f.do(200, "POST", path+"/runs/wait", ask(n)))); d != "" {
			t.Errorf("after %d turns: %s", n, d)
		}
	}
	s, err := a.Threads().StateAt(t.Context(), id, 0)
	if err != nil || len(s.Messages) >= len(want) || s.Summary == "" {
		t.Fatalf("nothing was summarised: %d messages, %v", len(s.Messages), err)
	}
	for what, values := range map[string]any{
		"state": at(f.do(200, "GET", path+"/state", ""), "values"),
		"join":  f.do(200, "GET", path+"/runs/"+at(f.do(200, "GET", path+"/runs", ""), 0, "run_id").(string)+"/join", ""),
	} {
		if d := cmp.Diff(want, ids(values)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	h := f.do(200, "POST", path+"/history", `{"limit":100}`).([]any)
	if d := cmp.Diff(want, ids(at(h[0], "values"))); d != "" {
		t.Errorf("newest checkpoint: %s", d)
	}
	for _, list := range []any{f.do(200, "POST", "/threads/search", `{}`), h[1:]} { // would have all messages many times
		for _, row := range list.([]any) {
			if n := len(ids(at(row, "values"))); n > 4 {
				t.Errorf("%d messages in %v", n, row)
			}
		}
	}
	list, _ := f.stream(t.Context(), nil, "POST", path+"/runs/stream", ask(4))
	for _, e := range list {
		if e.event == "values" && !strings.Contains(e.data, `"id":"q1"`) {
			t.Errorf("an event lacks the first message: %s", e.data)
		}
	}
	// A message that is live can be replaced by the id that clients know; one that was summarised cannot.
	f.do(422, "POST", path+"/state", `{"values":{"messages":[{"type":"ai","id":"answer-q1","content":"27 days"}]}}`)
	f.do(422, "POST", path+"/state", `{"values":{"messages":[{"type":"remove","id":"q1"}]}}`)
	f.do(200, "POST", path+"/state", `{"values":{"messages":[{"type":"ai","id":"answer-q4","content":"27 days"}]}}`)
	state := f.do(200, "GET", path+"/state", "")
	if seen := ids(at(state, "values")); len(seen) != 8 || at(state, "values", "messages", 7, "content") != "27 days" {
		t.Errorf("%v", state)
	}
}
