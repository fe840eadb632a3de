package graphtest

import (
	"testing"

	"example.com/ragflow/graph"
)

// last is a batch that ends the lease.
func last() graph.Batch {
	b := batch(delta("last", 0))
	b.Release = true
	return b
}

// free checks that thread "t" has no live lease.
func free(t *testing.T, s graph.Store) {
	t.Helper()
	release(t, s, acquire(t, s, "t", graph.AcquireOptions{Owner: "next", TTL: long}))
}

// releaseClauses test commits that release their lease, and the head in a lease.
func releaseClauses() []clause {
	return []clause{
		{"a commit that releases frees the thread", func(t *testing.T, s graph.Store) {
			hold(t, s, "t").commit(last())
			free(t, s)
		}},
		{"after it the lease writes nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(last())
			_, err := s.Commit(t.Context(), w.lease, graph.Batch{Commit: graph.Commit{Parent: w.head, Run: "run"}})
			wantError(t, "Commit", err, graph.ErrSuperseded)
			wantError(t, "Renew", s.Renew(t.Context(), w.lease, long), graph.ErrSuperseded)
			release(t, s, w.lease) // and may be released again
			free(t, s)
		}},
		{"a commit without it keeps the lease", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch(delta("n", 0)))
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"one that is refused keeps the lease", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := last()
			b.Parent = 99
			_, err := s.Commit(t.Context(), w.lease, b)
			wantError(t, "Commit", err, graph.ErrConflict)
			w.commit(batch(delta("n", 0)))
		}},
		{"it drops pending results", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.pend(result("p", 0))
			w.commit(last())
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
		}},
		{"it keeps pending results where it says so", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.pend(result("p", 0))
			b := last()
			b.KeepPending = true
			w.commit(b)
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 1)
		}},
		{"a lease tells the head, or nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			wantEqual(t, "head of a new thread", w.lease.Head, 0)
			for range 2 {
				w.commit(batch(delta("n", 0)))
			}
			head := w.commit(last())
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long})
			if l.Head != 0 && l.Head != head {
				t.Errorf("the lease tells of commit %d, the head is %d", l.Head, head)
			}
		}},
		{"a run goes on under another lease", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			first := w.commit(last())
			w = hold(t, s, "t")
			w.head = first
			second := w.commit(batch(delta("n", 1)))
			wantEqual(t, "head", headOf(t, s).ID, second)
			wantEqual(t, "commits", len(walk(t, s, "t", 0)), 2)
		}},
	}
}
