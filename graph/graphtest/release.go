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
		{"a commit that releases frees the thread, and the lease writes nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(last())
			_, err := s.Commit(t.Context(), w.lease, graph.Batch{Commit: graph.Commit{Parent: w.head, Run: "run"}})
			wantError(t, "Commit", err, graph.ErrSuperseded)
			wantError(t, "Renew", s.Renew(t.Context(), w.lease, long), graph.ErrSuperseded)
			release(t, s, w.lease) // and may be released again
			free(t, s)
		}},
		{"one that is refused keeps the lease", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := last()
			b.Parent = 99
			_, err := s.Commit(t.Context(), w.lease, b)
			wantError(t, "Commit", err, graph.ErrConflict)
			w.commit(batch(delta("n", 0)))
		}},
		{"it keeps pending results where it says so, and drops them elsewhere", func(t *testing.T, s graph.Store) {
			for i, keep := range []bool{false, true} {
				w := hold(t, s, "t")
				if i > 0 {
					w.head = headOf(t, s).ID
				}
				w.pend(result("p", 0))
				b := last()
				b.KeepPending = keep
				w.commit(b)
				wantEqual(t, "pending", len(pendingOf(t, s, "t")), i)
			}
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
