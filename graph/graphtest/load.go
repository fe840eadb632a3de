package graphtest

import (
	"fmt"
	"slices"
	"testing"

	"example.com/ragflow/graph"
)

func loadClauses() []clause {
	return []clause{
		{"without a snapshot all deltas, oldest first", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch(delta("a", 0)))
			w.commit(batch(delta("b", 0), delta("c", 1)))
			w.commit(batch())
			id := w.commit(batch(delta("d", 0)))
			snapshot, deltas := load(t, s, "t", id)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{})
			wantEqual(t, "deltas", nodes(deltas), []string{"a", "b", "c", "d"})
			wantEqual(t, "delta", deltas[2], graph.Delta{Node: "c", Rank: 1, Body: []byte(`{"by":"c"}`)})
		}},
		{"the newest snapshot and the deltas after it", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(withSnapshot(batch(delta("a", 0)), `{"s":1}`))
			w.commit(batch(delta("b", 0)))
			at := w.commit(withSnapshot(batch(delta("c", 0)), `{"s":3}`))
			w.commit(batch(delta("d", 0)))
			id := w.commit(batch(delta("e", 0)))
			snapshot, deltas := load(t, s, "t", id)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{At: at, Body: []byte(`{"s":3}`)})
			wantEqual(t, "deltas", nodes(deltas), []string{"d", "e"})
		}},
		{"a snapshot at the commit itself leaves no deltas", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch(delta("a", 0)))
			at := w.commit(withSnapshot(batch(delta("b", 0)), `[1]`))
			snapshot, deltas := load(t, s, "t", at)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{At: at, Body: []byte(`[1]`)})
			wantEqual(t, "deltas", len(deltas), 0)
		}},
		{"a later snapshot is not used for an earlier commit", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			first := w.commit(withSnapshot(batch(delta("a", 0)), `{"s":1}`))
			second := w.commit(batch(delta("b", 0)))
			w.commit(withSnapshot(batch(delta("c", 0)), `{"s":3}`))
			snapshot, deltas := load(t, s, "t", second)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{At: first, Body: []byte(`{"s":1}`)})
			wantEqual(t, "deltas", nodes(deltas), []string{"b"})
		}},
		{"an empty snapshot is none", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			id := w.commit(withSnapshot(batch(delta("a", 0)), ""))
			snapshot, deltas := load(t, s, "t", id)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{})
			wantEqual(t, "deltas", nodes(deltas), []string{"a"})
		}},
		{"deltas of a commit come by rank, whatever order they were given in", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			id := w.commit(batch(delta("d", 30), delta("b", 2), delta("c", 10), delta("a", -1)))
			_, deltas := load(t, s, "t", id)
			wantEqual(t, "deltas", nodes(deltas), []string{"a", "b", "c", "d"})
		}},
		{"deltas of one rank keep the order they were given in", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			var want []string
			var deltas []graph.Delta
			for i := range 20 {
				want = append(want, fmt.Sprint("n", i))
				deltas = append(deltas, delta(fmt.Sprint("n", i), 5))
			}
			id := w.commit(batch(deltas...))
			_, got := load(t, s, "t", id)
			wantEqual(t, "deltas", nodes(got), want)
		}},
		{"path and node are kept, and failed attempts beside what succeeded", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			d := delta("n", 3)
			d.Path = "outer/inner:2"
			input := graph.Delta{Body: []byte(`{"in":1}`)}
			failed := graph.Delta{Node: "a", Rank: 1, Error: "no luck", Notes: graph.Notes{Duration: 5}}
			id := w.commit(batch(d, input, failed, delta("a", 1)))
			_, deltas := load(t, s, "t", id)
			wantEqual(t, "deltas", deltas, []graph.Delta{input, failed, delta("a", 1), d})
		}},
		{"an unknown thread is not found", func(t *testing.T, s graph.Store) {
			for _, at := range []graph.CommitID{0, 1} {
				_, _, err := s.Load(t.Context(), "nowhere", at)
				wantError(t, "Load", err, graph.ErrNotFound)
			}
		}},
		{"a thread without commits is not found", func(t *testing.T, s graph.Store) {
			hold(t, s, "t")
			_, _, err := s.Load(t.Context(), "t", 0)
			wantError(t, "Load", err, graph.ErrNotFound)
		}},
		{"an unknown commit is not found", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			id := w.commit(batch())
			for _, at := range []graph.CommitID{id + 1, -1} {
				_, _, err := s.Load(t.Context(), "t", at)
				wantError(t, "Load", err, graph.ErrNotFound)
			}
		}},
		{"a commit of another thread is not found", func(t *testing.T, s graph.Store) {
			w, other := hold(t, s, "t"), hold(t, s, "u")
			w.commit(batch())
			id := other.commit(batch())
			_, _, err := s.Load(t.Context(), "t", id)
			wantError(t, "Load", err, graph.ErrNotFound)
		}},
		{"threads do not mix", func(t *testing.T, s graph.Store) {
			a, b := hold(t, s, "a"), hold(t, s, "b")
			for range 3 {
				a.commit(batch(delta("a", 0)))
				b.commit(withSnapshot(batch(delta("b", 0)), `{"b":1}`))
			}
			snapshot, deltas := load(t, s, "a", 0)
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{})
			wantEqual(t, "deltas", nodes(deltas), []string{"a", "a", "a"})
		}},
		{"a long tail", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			var want []string
			for i := range 600 {
				want = append(want, fmt.Sprint("n", i%7))
				w.commit(batch(delta(want[i], i%7)))
			}
			_, deltas := load(t, s, "t", 0)
			wantEqual(t, "deltas", nodes(deltas), want)
			commits := walk(t, s, "t", 0)
			slices.Reverse(want)
			var got []string
			for _, c := range commits {
				got = append(got, nodes(c.Deltas)...)
			}
			wantEqual(t, "walked", got, want)
		}},
	}
}
