package graphtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

func commitClauses() []clause {
	return []clause{
		{"each commit becomes the head, and ids grow from 1", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			var last graph.CommitID
			for range 20 {
				id := w.commit(batch())
				if id <= last {
					t.Errorf("id %d after %d", id, last)
				}
				last = id
				wantEqual(t, "head", headOf(t, s).ID, id)
			}
		}},
		{"head gives back every field but the deltas", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			first := w.commit(batch(delta("n", 0)))
			want := graph.Commit{
				Run: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Step: 7, Source: graph.SourceClose, Status: graph.Failed,
				Time: moment(), Fingerprint: "f1", Frontier: []string{"b", "a"}, Error: `node "b": no luck`,
			}
			b := graph.Batch{Commit: want}
			b.Deltas = []graph.Delta{delta("b", 0)}
			want.ID, want.Parent, want.Thread = w.commit(b), first, "t"
			wantEqual(t, "head", headOf(t, s), want)
		}},
		{"a commit without anything but a run", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			id := w.commit(graph.Batch{Commit: graph.Commit{Run: "r", Time: moment()}})
			wantEqual(t, "head", headOf(t, s), graph.Commit{ID: id, Thread: "t", Run: "r", Time: moment()})
		}},
		{"id and thread are the store's to fill in", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := batch()
			b.ID, b.Thread = 4711, "elsewhere"
			id := w.commit(b)
			c := headOf(t, s)
			wantEqual(t, "id and thread", []any{c.ID, c.Thread}, []any{id, "t"})
			_, err := s.Head(t.Context(), "elsewhere")
			wantError(t, "Head", err, graph.ErrNotFound)
		}},
		{"every source and status", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for _, source := range []graph.Source{graph.SourceInput, graph.SourceLoop, graph.SourceClose, graph.SourceUpdate, graph.SourceFork, "new kind"} {
				for _, status := range []graph.Status{
					graph.Pending, graph.Running, graph.Interrupted, graph.Completed, graph.Failed, graph.Cancelled, graph.Limited, graph.Superseded,
				} {
					b := batch()
					b.Source, b.Status = source, status
					w.commit(b)
					c := headOf(t, s)
					wantEqual(t, "source and status", []any{c.Source, c.Status}, []any{source, status})
				}
			}
		}},
		{"a run that is not a UUID", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for _, run := range []string{"", "r", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b8109dad11d180b400c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430cg", "été"} {
				b := batch()
				b.Run = run
				w.commit(b)
				wantEqual(t, "run", headOf(t, s).Run, run)
			}
		}},
		{"a wrong parent is a conflict", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			early := batch()
			early.Parent = 1
			_, err := s.Commit(t.Context(), w.lease, early)
			wantError(t, "Commit to an empty thread", err, graph.ErrConflict)
			first := w.commit(batch(delta("a", 0)))
			second := w.commit(batch(delta("b", 0)))
			for _, parent := range []graph.CommitID{0, first, second + 1, -1} {
				b := withSnapshot(batch(delta("lost", 0)), `{}`)
				b.Parent = parent
				_, err := s.Commit(t.Context(), w.lease, b)
				wantError(t, fmt.Sprintf("Commit on %d", parent), err, graph.ErrConflict)
			}
			wantEqual(t, "head", headOf(t, s).ID, second)
			_, deltas := load(t, s, "t", second)
			wantEqual(t, "deltas", nodes(deltas), []string{"a", "b"})
		}},
		{"a lost lease goes before a conflict", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch())
			release(t, s, w.lease)
			_, err := s.Commit(t.Context(), w.lease, batch())
			wantError(t, "Commit", err, graph.ErrSuperseded)
		}},
		{"errors name the thread", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "the thread")
			b := batch()
			b.Parent = 5
			_, conflict := s.Commit(t.Context(), w.lease, b)
			release(t, s, w.lease)
			_, lost := s.Commit(t.Context(), w.lease, batch())
			_, unknown := s.Head(t.Context(), "the thread")
			for _, err := range []error{conflict, lost, unknown} {
				if err == nil || !strings.Contains(err.Error(), "the thread") {
					t.Errorf("error %v does not name the thread", err)
				}
			}
		}},
		{"a broken delta saves nothing of the commit", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			first := w.commit(batch(delta("a", 0)))
			w.pend(result("p", 0))
			bad := delta("b", 1)
			bad.Body = []byte(`{"cut":`)
			b := withSnapshot(batch(delta("lost", 0), bad), `{}`)
			b.Parent = first
			if _, err := s.Commit(t.Context(), w.lease, b); err == nil {
				t.Error("Commit succeeded")
			}
			wantEqual(t, "head", headOf(t, s).ID, first)
			snapshot, deltas := load(t, s, "t", first)
			wantEqual(t, "deltas", nodes(deltas), []string{"a"})
			wantEqual(t, "snapshot", snapshot, graph.Snapshot{})
			wantEqual(t, "pending", len(pendingOf(t, s, "t")), 1)
			w.commit(batch(delta("c", 0)))
		}},
		{"an ended context saves nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := s.Commit(ctx, w.lease, batch(delta("n", 0)))
			wantError(t, "Commit", err, context.Canceled)
			wantError(t, "Pend", s.Pend(ctx, w.lease, result("n", 0)), context.Canceled)
			_, err = s.Head(ctx, "t")
			wantError(t, "Head", err, context.Canceled)
			_, err = s.Acquire(ctx, "u", graph.AcquireOptions{Owner: "a", TTL: long})
			wantError(t, "Acquire", err, context.Canceled)
			_, err = s.Head(t.Context(), "t")
			wantError(t, "Head afterwards", err, graph.ErrNotFound)
			w.commit(batch())
		}},
		{"the caller may change what it gave", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := withSnapshot(batch(delta("n", 0)), `{"s":1}`)
			b.Frontier = []string{"x"}
			b.Deltas[0].Notes = graph.Notes{Warnings: []string{"w"}, Details: []graph.Detail{{Key: "k", Value: "v"}}}
			w.commit(b)
			next := batch(delta("m", 0))
			w.commit(next)
			b.Frontier[0], b.Deltas[0].Body[2], b.Snapshot[2], next.Deltas[0].Body[2] = "y", 'X', 'X', 'X'
			b.Deltas[0].Notes.Warnings[0], b.Deltas[0].Notes.Details[0].Key = "changed", "changed"
			commits := walk(t, s, "t", 0)
			wantEqual(t, "frontier", commits[1].Frontier, []string{"x"})
			wantEqual(t, "body", string(commits[1].Deltas[0].Body), `{"by":"n"}`)
			wantEqual(t, "warnings", commits[1].Deltas[0].Notes.Warnings, []string{"w"})
			wantEqual(t, "details", commits[1].Deltas[0].Notes.Details, []graph.Detail{{Key: "k", Value: "v"}})
			snapshot, deltas := load(t, s, "t", 0)
			wantEqual(t, "snapshot", string(snapshot.Body), `{"s":1}`)
			wantEqual(t, "tail", string(deltas[0].Body), `{"by":"m"}`)
		}},
		{"the caller may change what it got", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := batch(delta("n", 0))
			b.Frontier = []string{"x"}
			b.Deltas[0].Notes.Warnings = []string{"w"}
			w.commit(b)
			want := walk(t, s, "t", 0)
			got := walk(t, s, "t", 0)
			got[0].Frontier[0], got[0].Deltas[0].Body[0], got[0].Deltas[0].Notes.Warnings[0] = "y", 'X', "changed"
			headOf(t, s).Frontier[0] = "z"
			wantEqual(t, "commits", walk(t, s, "t", 0), want)
		}},
		{"times are kept to the microsecond, in UTC", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			zone := time.FixedZone("elsewhere", 3*3600)
			for _, when := range []time.Time{
				moment().Add(789),
				moment().In(zone),
				time.Date(1969, 7, 20, 20, 17, 40, 999999999, time.UTC),
				time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
				time.Now(),
			} {
				b := batch()
				b.Time = when
				w.commit(b)
				wantEqual(t, "time", headOf(t, s).Time, when.UTC().Truncate(time.Microsecond))
			}
		}},
		{"a commit without a time gets one", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			b := batch()
			b.Time = time.Time{}
			w.commit(b)
			if got := headOf(t, s).Time; time.Since(got).Abs() > time.Hour {
				t.Errorf("time = %v, want about now", got)
			}
		}},
		{"head of an unknown thread is not found", func(t *testing.T, s graph.Store) {
			_, err := s.Head(t.Context(), "nowhere")
			wantError(t, "Head", err, graph.ErrNotFound)
		}},
	}
}
