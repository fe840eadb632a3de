package index

import (
	"context"
	"testing"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// smallSegment is a segment of two files and the terms they were made of.
func smallSegment(tb testing.TB) []byte {
	tb.Helper()
	a := text.For("en")
	b := newBuilder()
	for _, x := range []*fileIndex{
		analyze(a, "Volumes", []state.Chunk{
			{ID: "a0", Text: "volumes keep data", Headings: []string{"Keep data"}},
			{ID: "a1", Text: "containers come and go"},
		}),
		analyze(a, "Networks", []state.Chunk{{ID: "b0", Text: "networks connect containers, volumes do not"}}),
		analyze(a, "Empty", nil),
	} {
		if err := b.add(x); err != nil {
			tb.Fatal(err)
		}
	}
	data, err := b.finish(stamp{database: "db", collection: 1, since: -1, generation: 2, analysis: "en"})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// FuzzOpenSegment: bytes with a right checksum but any content are refused or
// searched without a panic and without an end.
func FuzzOpenSegment(f *testing.F) {
	whole := smallSegment(f)
	f.Add(whole)
	f.Add(whole[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < segmentHead {
			return
		}
		seal(data)
		seg, err := openSegment(data)
		if err != nil {
			return
		}
		s := Searcher{db: &DB{ranking: DefaultRanking(), analyzer: text.For("en")}, parts: []part{{root: "/", tier: &tier{segment: seg}}}, all: seg.totals, scorer: seg.made}
		hits, err := s.Search(context.Background(), state.Query{Text: "volumes containers keep networks data"}, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) > 5 {
			t.Errorf("%d hits", len(hits))
		}
	})
}

// FuzzBuilder: damaged terms of a file are an error, never a panic, and what is
// built of sound ones opens.
func FuzzBuilder(f *testing.F) {
	whole := analyze(text.For("en"), "Title words", []state.Chunk{{ID: "x", Text: "one two two", Headings: []string{"H"}}, {ID: "y", Text: "two three"}})
	f.Add(whole.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		b := newBuilder()
		file, err := decodeFileIndex(body)
		if err != nil {
			return
		}
		if err := b.add(file); err != nil {
			return
		}
		data, err := b.finish(stamp{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openSegment(data); err != nil {
			t.Errorf("a segment made of %x: %v", body, err)
		}
	})
}
