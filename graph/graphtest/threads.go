package graphtest

import (
	"testing"

	"example.com/ragflow/graph"
)

// threadClauses are those of a graph.Lister.
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
