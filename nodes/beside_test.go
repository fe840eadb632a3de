package nodes_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// book is a shelf that knows the order of its chunks: of each document by ordinal.
type book struct{ shelf }

func (b book) Beside(id string, away int) (string, bool) {
	at := b.chunks[id]
	for _, c := range b.chunks {
		if c.Source == at.Source && c.Ordinal == at.Ordinal+away {
			return c.ID, true
		}
	}
	return "", false
}

// TestPostRetrievalCompletes takes in what the search did not find of a list that runs over
// the end of a good source, in the place of the worst where there is no room.
func TestPostRetrievalCompletes(t *testing.T) {
	st, s := candidates(
		"a.md|Do this:\n\n1. Fetch the package.", "b.md|networks join containers", "c.md|images are built from files", "d.md|logs are written to disk",
		"e.md|secrets stay in memory", "f.md|swarms have managers and workers", "a.md|2. Carry it home.\n3. Rest.", "b.md|1. Another list begins.", "a.md|Prose behind it all.",
	)
	for id, ordinal := range map[string]int{"6": 1, "7": 1, "8": 2} {
		c := s.chunks[id]
		c.Ordinal = ordinal
		s.chunks[id] = c
	}
	full := slices.Clone(st.Turn.Hits[:6])
	for _, tt := range []struct {
		name string
		hits []state.Hit
		want []string
	}{
		{"there is room", full[:3], []string{"0", "1", "2", "6"}},
		{"in the place of the worst", full, []string{"0", "1", "2", "3", "4", "6"}},
		{"found already", append(slices.Clone(full[:2]), state.Hit{Chunk: "6", Score: .1}), []string{"0", "1", "6"}},
		{"steps before", []state.Hit{{Chunk: "6", Score: 1}, full[1]}, []string{"6", "1", "0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st.Turn.Hits = tt.hits
			after, n := notes(t, nodes.PostRetrieval(book{s}, keepOrder{}, nodes.ContextOptions{}), st)
			if diff := cmp.Diff(tt.want, sourcesOf(after)); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			if got, want := detail(n, "sources"), strconv.Itoa(len(tt.want)); got != want {
				t.Errorf("%s sources are noted, want %s", got, want)
			}
		})
	}
}
