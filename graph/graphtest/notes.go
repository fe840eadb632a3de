package graphtest

import (
	"encoding/json"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// notesClauses check that all notes of a task are restored, for a commit and for a pending
// result.
func notesClauses() []clause {
	var out []clause
	for _, n := range []struct {
		what  string
		notes graph.Notes
	}{
		{"nothing", graph.Notes{}},
		{"a short time", graph.Notes{Start: moment().Add(-time.Hour + 1), Duration: 1}},
		{"the first year", graph.Notes{Start: time.Date(1, 1, 2, 3, 4, 5, 6, time.UTC), Duration: -5}},
		{"the last year", graph.Notes{Start: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), Duration: 1<<63 - 1}},
		{"texts", graph.Notes{
			Skipped: "nothing to do", Warnings: []string{"one", "two <b>", ""},
			Details: []graph.Detail{{Key: "k", Value: "v"}, {Key: "k", Value: longText("long")}, {}},
		}},
		{"calls", graph.Notes{Calls: []graph.Call{
			{Name: "model", Duration: time.Second, Counts: map[string]int64{"input_tokens": 1 << 60, "output_tokens": -1}, Error: "429"}, {Name: "other"},
		}}},
		{"failed attempts", graph.Notes{Failed: []graph.Attempt{{Error: "flaky", Duration: time.Second, Pause: time.Minute}, {Error: "again"}}}},
		{"a hit of a cache", graph.Notes{Cached: true}},
		{"a failure that was handled", graph.Notes{Caught: "card refused"}},
		{"what a node picked", graph.Notes{Goto: []string{"b", graph.End}}},
		{"the step of a subgraph", graph.Notes{Step: 7}},
		{"answers of people", graph.Notes{Answers: []graph.Answer{{At: "a[2]", Key: "k", Value: json.RawMessage(`{"ok":true}`)}}}},
		{"open questions", graph.Notes{Questions: []graph.Question{{
			At: "s/s#2/g#1", Key: "sure", Ask: json.RawMessage(`"đồng ý?"`), Schema: json.RawMessage(`{"type":"boolean"}`), Turn: 1, Problem: "not now",
		}}}},
		{"all of it", graph.Notes{
			Start: moment(), Duration: time.Second, Details: []graph.Detail{{Key: "k", Value: "v"}}, Warnings: []string{"w"}, Skipped: "s", Metadata: map[string]string{"k": "v"}, Early: time.Second, Wasted: []graph.Wasted{{Node: "n", Duration: time.Second}}, Seed: json.RawMessage(`{"n":1}`),
			Failed: []graph.Attempt{{Error: "e"}}, Cached: true, Caught: "c", Goto: []string{"g"}, Step: 1,
		}},
	} {
		out = append(out, clause{"notes keep " + n.what, func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			d := delta("a", 0)
			d.Notes = n.notes
			w.commit(batch(d))
			w.pend(graph.TaskResult{Run: "run", Step: 2, Attempt: 1, Delta: d})
			_, deltas := load(t, s, "t", w.head)
			wantEqual(t, "notes of the commit", deltas[0].Notes, n.notes)
			wantEqual(t, "notes of the pending result", pendingOf(t, s, "t")[0].Delta.Notes, n.notes)
		}})
	}
	return append(
		out,
		clause{"results of one node differ by attempt", func(t *testing.T, s graph.Store) {
			differ(t, s, func(r *graph.TaskResult) { r.Attempt = 2 })
		}},
		clause{"results of one node differ by path", func(t *testing.T, s graph.Store) {
			differ(t, s, func(r *graph.TaskResult) { r.Delta.Path = "s/s#2" })
		}},
		clause{"results of one path differ by node", func(t *testing.T, s graph.Store) {
			differ(t, s, func(r *graph.TaskResult) { r.Delta.Node = "__once__:pay" })
		}},
	)
}

// differ pends two results that differ in one field; both must be saved.
func differ(t *testing.T, s graph.Store, change func(*graph.TaskResult)) {
	w := hold(t, s, "t")
	first, second := result("a", 0), result("a", 0)
	change(&second)
	w.pend(first)
	w.pend(second)
	w.pend(second) // saved twice, it stands once
	wantEqual(t, "pending", pendingOf(t, s, "t"), []graph.TaskResult{first, second})
}
