package index_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestWhole reads all chunks of documents, the best first, but of none that changed, was not read to its end, may not
// be found or has too many.
func TestWhole(t *testing.T) {
	db := open(t, "", index.Options{})
	part := file("part.csv", "Part", "row one", "row two")
	part.File.Error = "more than 32 MB"
	put(t, db, "/a", file("b.csv", "B", "first row", "second row of pumps", "third"), file("c.csv", "C", "row of pumps pumps"),
		part, file("d.csv", "D", "old row"), file("long.csv", "Long", strings.Split(strings.Repeat("row,", 2001), ",")[:2001]...))
	put(t, db, "/b", file("b.csv", "B", "first row"), file("e.csv", "E", "nothing"))
	s := searcher(t, db, "/a", "/b")
	put(t, db, "/a", file("d.csv", "D", "new row"))
	narrow, err := s.Narrow(t.Context(), func(d *search.Document) bool { return d.Source == "c.csv" })
	if err != nil {
		t.Fatal(err)
	}
	read := func(s *index.Searcher, query string) (out []string) {
		documents, err := s.Whole(t.Context(), state.Query{Text: query, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, chunks := range documents {
			var texts []string
			for _, c := range chunks {
				texts = append(texts, c.Text)
			}
			out = append(out, chunks[0].Root+"/"+chunks[0].Source+": "+strings.Join(texts, "; "))
		}
		return out
	}
	all := read(s, "pumps row")
	want := []string{"/a/c.csv: row of pumps pumps", "/a/b.csv: first row; second row of pumps; third", "/b/b.csv: first row"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:1], read(narrow.(*index.Searcher), "pumps row")); diff != "" {
		t.Error(diff)
	}
}
