package eval_test

import (
	"fmt"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// indexed returns a searcher over paragraphs: each is a document of one chunk with the paragraph's id and the
// title of the document.
func indexed(tb testing.TB, paragraphs []paragraph, titled bool) *index.Searcher {
	tb.Helper()
	db, err := index.Open(tb.Context(), "", index.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	entries := make([]search.Entry, len(paragraphs))
	for i, p := range paragraphs {
		source := p.ID
		if !titled { // the id holds the title, and the name of a file counts as one
			source = fmt.Sprintf("p%06d", i)
		}
		entries[i].File.Source = source
		entries[i].Chunks = []state.Chunk{{ID: p.ID, Source: source, Text: p.Text, End: len(p.Text)}}
		if titled {
			entries[i].File.Title = p.Title
		}
	}
	if err := db.Put(tb.Context(), "paragraphs", entries); err != nil {
		tb.Fatal(err)
	}
	s, err := db.Searcher(tb.Context(), "paragraphs")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
