package graphtest

import (
	"context"
	"testing"

	"example.com/ragflow/graph"
)

// deleter is a store that deletes threads; it is no part of [graph.Store].
type deleter interface {
	Delete(ctx context.Context, threads ...string) error
}

// threadClauses are those of a graph.Lister and of a deleter.
func threadClauses() []clause {
	list := func(t *testing.T, s graph.Store) []graph.ThreadInfo {
		t.Helper()
		lister, ok := s.(graph.Lister)
		if !ok {
			t.Skip("the store does not list its threads")
		}
		infos, err := lister.Threads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return infos
	}
	return []clause{
		{"a deleted thread is gone whole, and no other", deleteThread},
		{"newest commit first, without threads that have none", func(t *testing.T, s graph.Store) {
			wantEqual(t, "an empty store", len(list(t, s)), 0)
			first, b := hold(t, s, "t"), hold(t, s, "b")
			hold(t, s, "held")
			id := first.commit(batch(delta("x", 0)))
			b.commit(batch(delta("x", 0)))
			input := batch(delta("y", 0))
			input.Source = graph.SourceInput
			first.commit(input)
			got := list(t, s)
			if len(got) != 2 || got[1].Thread != "b" {
				t.Fatalf("threads %s", show(got))
			}
			head := headOf(t, s)
			got[0].Created = moment() // is the store's
			wantEqual(t, "the newest", got[0], graph.ThreadInfo{
				Thread: "t", Created: moment(), Touched: head.Time, First: id, Head: head.ID, Status: head.Status,
				Inputs: 1, Bytes: int64(2 * len(delta("x", 0).Body)),
			})
		}},
	}
}

func deleteThread(t *testing.T, s graph.Store) {
	d, ok := s.(deleter)
	if !ok {
		t.Skip("the store deletes nothing")
	}
	for _, name := range []string{"t", "other"} {
		w := hold(t, s, name)
		child := delta("child", 1)
		child.Path = "sub/a#1"
		w.commit(batch(delta("root", 0), child))
		w.pend(result("n", 0))
		w.release()
	}
	if err := d.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Head(t.Context(), "t")
	wantError(t, "Head", err, graph.ErrNotFound)
	wantEqual(t, "pending", pendingOf(t, s, "t"), nil)
	wantEqual(t, "deltas of the other", nodes(walk(t, s, "other", 0)[0].Deltas), []string{"root", "child"})
	wantEqual(t, "pending of the other", len(pendingOf(t, s, "other")), 1)
	wantError(t, "Delete again", d.Delete(t.Context(), "t"), graph.ErrNotFound)
}
