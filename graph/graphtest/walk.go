package graphtest

import (
	"context"
	"testing"

	"example.com/ragflow/graph"
)

func walkClauses() []clause {
	ids := func(commits []graph.Commit) []graph.CommitID {
		var out []graph.CommitID
		for _, c := range commits {
			out = append(out, c.ID)
		}
		return out
	}
	return []clause{
		{"newest first, with deltas by rank", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			a := w.commit(batch(delta("a", 0)))
			b := w.commit(batch(delta("c", 2), delta("b", 1)))
			c := w.commit(batch())
			commits := walk(t, s, "t", 0)
			wantEqual(t, "ids", ids(commits), []graph.CommitID{c, b, a})
			wantEqual(t, "deltas", nodes(commits[1].Deltas), []string{"b", "c"})
			if commits[0].Deltas != nil {
				t.Errorf("deltas = %s, want none", show(commits[0].Deltas))
			}
		}},
		{"from any commit", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			a := w.commit(batch())
			b := w.commit(batch())
			w.commit(batch())
			wantEqual(t, "ids", ids(walk(t, s, "t", b)), []graph.CommitID{b, a})
			wantEqual(t, "ids", ids(walk(t, s, "t", a)), []graph.CommitID{a})
		}},
		{"each commit is what head gave", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			var want []graph.Commit
			for range 3 {
				b := batch(delta("n", 0))
				b.Frontier, b.Fingerprint = []string{"x", "y"}, "f"
				w.commit(b)
				c := headOf(t, s)
				c.Deltas = []graph.Delta{delta("n", 0)}
				want = append([]graph.Commit{c}, want...)
			}
			wantEqual(t, "commits", walk(t, s, "t", 0), want)
		}},
		{"breaking ends it", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for range 5 {
				w.commit(batch())
			}
			n := 0
			for _, err := range s.Walk(t.Context(), "t", 0) {
				if n++; n == 2 || err != nil {
					break
				}
			}
			wantEqual(t, "commits", n, 2)
		}},
		{"can be walked twice", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch())
			seq := s.Walk(t.Context(), "t", 0)
			for range 2 {
				n := 0
				for _, err := range seq {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				wantEqual(t, "commits", n, 1)
			}
		}},
		{"the caller may use the store meanwhile", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for range 40 {
				w.commit(batch(delta("n", 0)))
			}
			n := 0
			for c, err := range s.Walk(t.Context(), "t", 0) {
				if err != nil {
					t.Fatal(err)
				}
				w.commit(batch()) // newer than where the walk began: not seen
				load(t, s, "t", c.ID)
				n++
			}
			wantEqual(t, "commits", n, 40)
		}},
		{"an unknown thread or commit is one error", func(t *testing.T, s graph.Store) {
			w, other := hold(t, s, "t"), hold(t, s, "u")
			_, err := collect(s.Walk(t.Context(), "t", 0))
			wantError(t, "thread without a commit", err, graph.ErrNotFound)
			w.commit(batch())
			foreign := other.commit(batch())
			for name, seq := range map[string]func(func(graph.Commit, error) bool){
				"unknown thread":           s.Walk(t.Context(), "nowhere", 0),
				"unknown commit":           s.Walk(t.Context(), "t", foreign+10),
				"commit of another thread": s.Walk(t.Context(), "t", foreign),
			} {
				n, err := collect(seq)
				wantError(t, name, err, graph.ErrNotFound)
				wantEqual(t, name+": yields", n, 1)
			}
		}},
		{"an ended context is one error", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch())
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			n, err := collect(s.Walk(ctx, "t", 0))
			wantError(t, "Walk", err, context.Canceled)
			wantEqual(t, "yields", n, 1)
		}},
	}
}

// collect returns how often a walk yielded, and its last error.
func collect(seq func(func(graph.Commit, error) bool)) (n int, err error) {
	for _, e := range seq {
		n++
		err = e
	}
	return n, err
}
