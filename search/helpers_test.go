package search_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// open returns an empty embedded index in memory.
func open(tb testing.TB) *index.DB {
	tb.Helper()
	db, err := index.Open(tb.Context(), "", index.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// file makes an entry whose chunks are the given texts. A text may begin with its heading path:
// "A > B: text". The id of a chunk is its source, "#" and its number.
func file(source, title string, texts ...string) search.Entry {
	e := search.Entry{File: search.File{Source: source, Title: title}}
	at := 0
	for i, s := range texts {
		var headings []string
		if path, rest, ok := strings.Cut(s, ": "); ok {
			headings, s = strings.Split(path, " > "), rest
		}
		e.Chunks = append(e.Chunks, state.Chunk{
			ID: fmt.Sprintf("%s#%d", source, i), Headings: headings, Text: s, Start: at, End: at + len(s), Ordinal: i, Hash: s,
		})
		at += len(s)
	}
	return e
}

func put(tb testing.TB, db search.Backend, root string, entries ...search.Entry) {
	tb.Helper()
	if err := db.Put(tb.Context(), root, entries); err != nil {
		tb.Fatal(err)
	}
}

func snapshotOf(tb testing.TB, db search.Backend, roots ...string) search.Snapshot {
	tb.Helper()
	s, err := db.Snapshot(tb.Context(), roots...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// engineOf returns an engine over collections.
func engineOf(tb testing.TB, s search.Snapshot, o search.Options) *search.Engine {
	tb.Helper()
	e, err := search.New(tb.Context(), s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// ids returns the chunks of hits; each hit must have its place as rank.
func ids(tb testing.TB, hits []state.Hit, err error) string {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for i, h := range hits {
		if h.Legs[0].Rank != i+1 {
			tb.Errorf("%s has rank %d at place %d", h.Chunk, h.Legs[0].Rank, i+1)
		}
		out = append(out, h.Chunk)
	}
	return strings.Join(out, " ")
}
