package graphtest

import (
	"testing"
	"time"

	"example.com/ragflow/graph"
)

func pendingClauses() []clause {
	names := func(results []graph.TaskResult) []string {
		var out []string
		for _, r := range results {
			out = append(out, r.Delta.Node)
		}
		return out
	}
	return []clause{
		{"nothing is pending at first", func(t *testing.T, s graph.Store) {
			hold(t, s, "t")
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
			wantEqual(t, "pending of an unknown thread", len(pendingOf(t, s, "nowhere")), 0)
		}},
		{"every field comes back", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			want := []graph.TaskResult{
				{Run: "r", Step: 3, Attempt: 1, Delta: graph.Delta{
					Path: "sub", Node: "n", Rank: 2, Error: "no luck", Notes: graph.Notes{Start: moment().Add(7), Duration: 11, Warnings: []string{"w"}},
				}},
				{Run: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Step: 3, Attempt: 2, Delta: delta("n", 2)},
			}
			for _, r := range want {
				w.pend(r)
			}
			wantEqual(t, "pending", pendingOf(t, s, "t"), want)
		}},
		{"results come by rank", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for _, rank := range []int{5, 1, 30, 2} {
				w.pend(result(string(rune('a'+rank)), rank))
			}
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"b", "c", "f", string(rune('a' + 30))})
		}},
		{"saving the same attempt again keeps one", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.pend(result("n", 0))
			w.pend(result("n", 0))
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"n"})
		}},
		{"KeepPending keeps them, the next commit drops them", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.pend(result("n", 0))
			b := batch()
			b.KeepPending = true
			w.commit(b)
			w.pend(result("m", 1))
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"n", "m"})
			w.commit(batch())
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
		}},
		{"a dropped attempt can be saved anew", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.pend(result("n", 0))
			w.commit(batch())
			w.pend(result("n", 0))
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"n"})
		}},
		{"a refused commit drops nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch())
			w.pend(result("n", 0))
			_, err := s.Commit(t.Context(), w.lease, batch()) // parent 0
			wantError(t, "Commit", err, graph.ErrConflict)
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"n"})
		}},
		{"they are no commits", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			id := w.commit(batch(delta("a", 0)))
			w.pend(result("n", 0))
			wantEqual(t, "head", headOf(t, s).ID, id)
			_, deltas := load(t, s, "t", 0)
			wantEqual(t, "deltas", nodes(deltas), []string{"a"})
		}},
		{"they outlive their writer", func(t *testing.T, s graph.Store) {
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: short})
			if err := s.Pend(t.Context(), l, result("n", 0)); err != nil {
				t.Fatalf("Pend: %v", err)
			}
			acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: time.Minute})
			wantEqual(t, "pending", names(pendingOf(t, s, "t")), []string{"n"})
		}},
		{"other threads keep theirs", func(t *testing.T, s graph.Store) {
			a, b := hold(t, s, "a"), hold(t, s, "b")
			a.pend(result("n", 0))
			b.pend(result("m", 0))
			a.commit(batch())
			wantEqual(t, "pending", names(pendingOf(t, s, "a")), nil)
			wantEqual(t, "pending", names(pendingOf(t, s, "b")), []string{"m"})
		}},
		{"a broken body is refused", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			r := result("n", 0)
			r.Delta.Body = []byte("{")
			if err := s.Pend(t.Context(), w.lease, r); err == nil {
				t.Error("Pend succeeded")
			}
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
		}},
		{"a lease of an unknown thread is superseded", func(t *testing.T, s graph.Store) {
			l := graph.Lease{Thread: "nowhere", Owner: "a", Token: 1}
			wantError(t, "Pend", s.Pend(t.Context(), l, result("n", 0)), graph.ErrSuperseded)
		}},
	}
}
