package graphtest

import (
	"testing"

	"example.com/ragflow/graph"
)

// reopened is a clause on what is left after closing and opening again.
type reopened struct {
	name          string
	before, after func(t *testing.T, s graph.Store)
}

func reopenClauses() []reopened {
	return []reopened{
		{
			"the log is as it was",
			func(t *testing.T, s graph.Store) {
				w := hold(t, s, "t")
				w.commit(withSnapshot(batch(delta("a", 0)), `{"s":1}`))
				w.commit(batch(delta("c", 1), delta("b", 0)))
			},
			func(t *testing.T, s graph.Store) {
				snapshot, deltas := load(t, s, "t", 0)
				wantEqual(t, "snapshot", string(snapshot.Body), `{"s":1}`)
				wantEqual(t, "deltas", nodes(deltas), []string{"b", "c"})
				wantEqual(t, "commits", len(walk(t, s, "t", 0)), 2)
				wantEqual(t, "run", headOf(t, s).Run, "run")
			},
		},
		{
			"pending results are as they were",
			func(t *testing.T, s graph.Store) { hold(t, s, "t").pend(result("n", 0)) },
			func(t *testing.T, s graph.Store) {
				wantEqual(t, "pending", pendingOf(t, s, "t"), []graph.TaskResult{result("n", 0)})
			},
		},
		{
			"a lease lives on",
			func(t *testing.T, s graph.Store) { hold(t, s, "t") },
			func(t *testing.T, s graph.Store) {
				_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long})
				wantError(t, "Acquire", err, graph.ErrBusy)
			},
		},
		{
			"a released thread goes on, with a higher token and higher ids",
			func(t *testing.T, s graph.Store) {
				w := hold(t, s, "t")
				w.commit(batch(delta("a", 0)))
				release(t, s, w.lease)
			},
			func(t *testing.T, s graph.Store) {
				w := hold(t, s, "t")
				wantEqual(t, "token", w.lease.Token, int64(2))
				before := headOf(t, s).ID
				w.head = before
				if after := w.commit(batch(delta("b", 0))); after <= before {
					t.Errorf("id %d after %d", after, before)
				}
				_, deltas := load(t, s, "t", 0)
				wantEqual(t, "deltas", nodes(deltas), []string{"a", "b"})
			},
		},
	}
}
