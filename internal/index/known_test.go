package index_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
)

// Known gives the vectors that were made, rounded as they are stored, and none for others.
func TestKnown(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "Pets", "a cat and a dog", "a dog"))
	e, b := search.VectorSpec{Model: "bag"}, newBag(8)
	embed(t, db, e, b, "/docs")
	put(t, db, "/docs", file("b.md", "", "a bird"))
	s := searcher(t, db, "/docs")
	chunks, err := s.Chunks(t.Context(), []string{"b.md#0", "a.md#1"})
	if err != nil || len(chunks) != 2 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	unit, err := (&search.VectorSpec{}).Unit(b.vector(search.Passage(chunks[1])))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Known(t.Context(), e, chunks)
	if diff := cmp.Diff([][]float32{nil, index.Rounded(unit)}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Known(t.Context(), search.VectorSpec{Model: "other"}, chunks); err != nil || got[0] != nil || got[1] != nil {
		t.Errorf("of another embedder: %v, %v", got, err)
	}
}
