package index_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// file makes an entry whose chunks are the given texts. A text may begin with
// its heading path: "A > B: text".
func file(source, title string, texts ...string) search.Entry {
	e := search.Entry{File: search.File{Source: source, Title: title}}
	at := 0
	for i, s := range texts {
		var headings []string
		if path, rest, ok := strings.Cut(s, ": "); ok {
			headings, s = strings.Split(path, " > "), rest
		}
		e.Chunks = append(e.Chunks, state.Chunk{
			ID: fmt.Sprintf("%s#%d", source, i), Source: source, Title: title, Headings: headings,
			Text: s, Start: at, End: at + len(s), StartLine: i + 1, EndLine: i + 1, Ordinal: i,
		})
		at += len(s)
	}
	return e
}

func open(tb testing.TB, path string, o index.Options) *index.DB {
	tb.Helper()
	db, err := index.Open(tb.Context(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func put(tb testing.TB, db *index.DB, root string, entries ...search.Entry) {
	tb.Helper()
	if err := db.Put(tb.Context(), root, entries); err != nil {
		tb.Fatal(err)
	}
}

func searcher(tb testing.TB, db *index.DB, roots ...string) *index.Searcher {
	tb.Helper()
	s, err := db.Searcher(tb.Context(), roots...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// search returns the ids of the hits.
func find(tb testing.TB, s *index.Searcher, query string) []string {
	tb.Helper()
	hits, err := s.Search(tb.Context(), state.Query{Text: query}, 10)
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.Chunk)
	}
	return ids
}

func check[T any](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFilesRoundTrip(t *testing.T) {
	db := open(t, "", index.Options{})
	want := search.File{
		Source: "a.md", Size: 12, ModTime: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC), Hash: "h",
		Title: "A", Chunker: "c1", Meta: map[string]string{"tags": "x, y", "document_type": "law", "document_id": "1/2024"}, URL: "https://docs.test/a", Chunks: 1,
		Metadata: state.Metadata{"tags": []any{"x", "y"}, "document_type": "law", "document_id": "1/2024"},
	}
	e := file("a.md", "A", "One > Two: words of a")
	e.File = want
	broken := search.Entry{File: search.File{Source: "b.md", ModTime: want.ModTime, Error: "no rights"}}
	put(t, db, "/docs", e, broken)
	got, err := db.Files(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "files", got, map[string]search.File{"a.md": want, "b.md": broken.File})

	later := want
	later.Size, later.ModTime = 13, want.ModTime.Add(time.Hour)
	if err := db.Touch(t.Context(), "/docs", later, search.File{Source: "unknown.md"}); err != nil {
		t.Fatal(err)
	}
	if got, err = db.Files(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	check(t, "files after Touch", got, map[string]search.File{"a.md": later, "b.md": broken.File})

	none, err := db.Files(t.Context(), "/other")
	if err != nil || len(none) != 0 {
		t.Errorf("files of an unknown root: %v, %v", none, err)
	}
	chunks, err := searcher(t, db, "/docs").Chunks(t.Context(), []string{"unknown", "a.md#0"})
	if err != nil {
		t.Fatal(err)
	}
	c := e.Chunks[0]
	c.Root, c.Hash, c.FileHash = "/docs", chunks[0].Hash, want.Hash
	c.URL, c.DocumentType, c.DocumentID, c.Metadata = want.URL, "law", "1/2024", want.Metadata
	if len(c.Hash) != 64 {
		t.Errorf("hash %q is no SHA-256", c.Hash)
	}
	check(t, "chunks", chunks, []state.Chunk{c})
}

func TestNotIndexed(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "A", "words"))
	if err := errors.Join(
		db.Touch(t.Context(), "/nowhere", search.File{Source: "a.md"}),
		db.Delete(t.Context(), "/nowhere", "a.md"),
	); err != nil {
		t.Error(err)
	}
	_, err := db.Searcher(t.Context(), "/docs", "/nowhere")
	if !errors.Is(err, search.ErrNotIndexed) || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("got %v, want ErrNotIndexed that names /nowhere", err)
	}
	if err := db.Publish(t.Context(), "/empty"); err != nil {
		t.Fatal(err)
	}
	if got := find(t, searcher(t, db, "/empty"), "words"); got != nil {
		t.Errorf("an empty collection found %v", got)
	}
	list, err := db.Collections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "collections", []string{list[0].Root, list[1].Root}, []string{"/docs", "/empty"})
}

func TestBadInput(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "A", "kept words"))
	noText, noID, order := file("b.md", "B", "x"), file("b.md", "B", "x"), file("b.md", "B", "x", "y")
	noText.Chunks[0].Text, noID.Chunks[0].ID, order.Chunks[1].Ordinal = "", "", 7
	taken := file("b.md", "B", "x")
	taken.Chunks[0].ID = "a.md#0"
	for name, bad := range map[string]search.Entry{
		"no source": file("", "", "x"), "no text": noText, "no id": noID, "order": order, "id of another file": taken,
	} {
		if err := db.Put(t.Context(), "/docs", []search.Entry{file("a.md", "A", "lost"), bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := db.Put(t.Context(), "", nil); err == nil {
		t.Error("a root without a path: no error")
	}
	check(t, "after failed puts", find(t, searcher(t, db, "/docs"), "kept"), []string{"a.md#0"})
	for _, r := range []search.Ranking{{K1: -1}, {B: 2}, {Title: -0.1}} {
		if _, err := index.Open(t.Context(), "", index.Options{Ranking: &r}); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

func TestDeletesPropagate(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "A", "volumes keep data", "more data"), file("b.md", "B", "data elsewhere"))
	if err := db.Delete(t.Context(), "/docs", "a.md", "unknown.md"); err != nil {
		t.Fatal(err)
	}
	s := searcher(t, db, "/docs")
	check(t, "hits", find(t, s, "data volumes"), []string{"b.md#0"})
	check(t, "df", s.DocFreq("volum"), 0)
	gone, err := s.Chunks(t.Context(), []string{"a.md#0"})
	if err != nil || gone != nil {
		t.Errorf("deleted chunks: %v, %v", gone, err)
	}
}

// TestSnapshot: a searcher answers from its moment, and shows no chunk that
// changed since, even one that it showed before.
func TestSnapshot(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	put(t, db, "/docs", file("a.md", "A", "old words", "same words"), file("b.md", "B", "b words"))
	before, some := searcher(t, db, "/docs"), searcher(t, db, "/docs")
	texts := func(s *index.Searcher) (out []string) {
		chunks, err := s.Chunks(t.Context(), []string{"a.md#0", "a.md#1", "b.md#0"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			out = append(out, c.Text)
		}
		return out
	}
	if chunks, err := some.Chunks(t.Context(), []string{"a.md#0"}); err != nil || len(chunks) != 1 {
		t.Fatal(chunks, err)
	}
	check(t, "texts at first", texts(before), []string{"old words", "same words", "b words"})
	check(t, "texts remembered", texts(before), []string{"old words", "same words", "b words"})
	put(t, db, "/docs", file("a.md", "A", "new words", "same words"))
	check(t, "hits before", len(find(t, before, "words")), 3)
	check(t, "old word before", find(t, before, "old"), []string{"a.md#0"})
	check(t, "texts before", texts(before), []string{"same words", "b words"})
	check(t, "texts before, of which one was remembered", texts(some), []string{"same words", "b words"})
	after := searcher(t, db, "/docs")
	check(t, "old word after", find(t, after, "old"), nil)
	check(t, "texts after", texts(after), []string{"new words", "same words", "b words"})
}

func TestUnchangedPutMovesNothing(t *testing.T) {
	db := open(t, "", index.Options{})
	generation := func() int64 {
		list, err := db.Collections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Generation
	}
	put(t, db, "/docs", file("a.md", "A", "words"))
	first := generation()
	put(t, db, "/docs", file("a.md", "A", "words"))
	check(t, "generation after the same again", generation(), first)
	put(t, db, "/docs", file("a.md", "Another title", "words"))
	check(t, "generation after another title", generation(), first+1)
}

// TestUnionOfRoots: two roots are one corpus, with common statistics, whatever
// the order in which they are named.
func TestUnionOfRoots(t *testing.T) {
	db := open(t, "", index.Options{})
	a, b := file("a.md", "A", "volumes keep data", "networks"), file("b.md", "B", "data data", "hosts")
	put(t, db, "/1", a)
	put(t, db, "/2", b)
	put(t, db, "/both", a, b)
	query := state.Query{Text: "data networks"}
	want, err := searcher(t, db, "/both").Search(t.Context(), query, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, roots := range [][]string{{"/1", "/2"}, {"/2", "/1", "/2"}} {
		s := searcher(t, db, roots...)
		got, err := s.Search(t.Context(), query, 10)
		if err != nil {
			t.Fatal(err)
		}
		check(t, strings.Join(roots, "+"), got, want)
		check(t, "documents", s.Docs(), 4)
		check(t, "df", s.DocFreq("data"), 2)
	}
}

// TestSameIDInTwoRoots: chunks of two roots that share an id are both found and
// both read.
func TestSameIDInTwoRoots(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/1", file("README.md", "R", "first words"))
	put(t, db, "/2", file("README.md", "R", "second words"))
	s := searcher(t, db, "/1", "/2")
	ids := find(t, s, "words")
	chunks, err := s.Chunks(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, c := range chunks {
		check(t, "id", c.ID, ids[i])
		got = append(got, c.Root+" "+c.Text)
	}
	check(t, "chunks", got, []string{"/1 first words", "/2 second words"})
}

func TestBoosts(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "", "alpha"), file("b.md", "", "beta"), file("c.md", "", "gamma"))
	s := searcher(t, db, "/docs")
	plain, err := s.Search(t.Context(), state.Query{Text: "alpha"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), state.Query{Text: "alpha", Boosts: []state.Boost{
		{Text: "alpha beta", Weight: 0.25}, {Text: "beta", Weight: 0.5}, {Text: "gamma", Weight: -1},
	}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	one := plain[0].Score
	want := []state.Hit{
		{Chunk: "a.md#0", Score: one, Legs: []state.Leg{{Name: "lexical", Rank: 1, Score: one}}},
		{Chunk: "b.md#0", Score: one / 2, Legs: []state.Leg{{Name: "lexical", Rank: 2, Score: one / 2}}},
	}
	check(t, "hits", got, want)
	for _, q := range []string{"", "the of", "??", "unknown", "\xff\xfe"} {
		if hits, err := s.Search(t.Context(), state.Query{Text: q}, 10); err != nil || hits != nil {
			t.Errorf("query %q: %v, %v", q, hits, err)
		}
	}
	if hits, err := s.Search(t.Context(), state.Query{Text: "alpha"}, -1); err != nil || hits != nil {
		t.Errorf("k = -1: %v, %v", hits, err)
	}
}

func TestCancelled(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "", "words"))
	s := searcher(t, db, "/docs")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, state.Query{Text: "words"}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v", err)
	}
	if err := db.Put(ctx, "/docs", []search.Entry{file("b.md", "", "x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	if _, err := db.Searcher(ctx, "/docs"); !errors.Is(err, context.Canceled) {
		t.Errorf("Searcher: %v", err)
	}
}

// TestLanguagesSideBySide: one index holds documents of two languages, each
// found by questions in its own, and Vietnamese by who types no diacritics, if
// behind what is spelled as asked.
func TestLanguagesSideBySide(t *testing.T) {
	db := open(t, "", index.Options{})
	var entries []search.Entry
	for id, text := range map[string]string{
		"en": "The library restarts its search engines at night.",
		"vi": "Thư viện khởi động lại công cụ tìm kiếm vào ban đêm.",
		"ti": "Tím kiểm là tên một loài hoa.",
	} {
		entries = append(entries, search.Entry{File: search.File{Source: id}, Chunks: []state.Chunk{{ID: id, Text: text}}})
	}
	put(t, db, "both", entries...)
	s := searcher(t, db, "both")
	for query, want := range map[string]string{
		"restarting search engine": "en",
		"công cụ tìm kiếm":         "vi",
		"tim kiem cong cu":         "vi",
		"Tìm kiếm":                 "vi",
		"tím kiểm":                 "ti",
	} {
		if got := find(t, s, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v, want %s first", query, got, want)
		}
	}
}
