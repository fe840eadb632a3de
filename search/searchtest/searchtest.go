// Package searchtest checks that an index implements search.Backend correctly. Run it with one
// line in a test of the index:
//
//	searchtest.Test(t, func(t *testing.T) search.Backend { return open(t) })
package searchtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Open returns an empty index for one test, and closes it after the test.
type Open func(t *testing.T) search.Backend

// root is the collection of the tests.
const root = "/docs"

// Test runs all checks, each on an empty index.
func Test(t *testing.T, open Open) {
	for _, c := range []struct {
		name  string
		check func(*testing.T, search.Backend)
	}{
		{"put and read back", checkPut},
		{"a put replaces a file", checkReplace},
		{"delete", checkDelete},
		{"touch and fail", checkTouchAndFail},
		{"collections", checkCollections},
		{"an empty put is refused", checkBadEntries},
		{"a snapshot does not change", checkSnapshot},
		{"search by words", checkWords},
		{"parts of compounds", checkCompounds},
		{"filters apply before the cut", checkFilter},
		{"phrases", checkPhrases},
		{"names of files and folders", checkNames},
		{"chunks keep the order asked for", checkChunks},
		{"search by vectors", checkVectors},
		{"one embedder at a time", checkEmbedders},
		{"a cancelled context", checkCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// page returns a file whose chunks are the given texts.
func page(source string, metadata state.Metadata, texts ...string) search.Entry {
	e := search.Entry{File: search.File{
		Source: source, Size: int64(len(source)), ModTime: time.Unix(1, 0).UTC(), Hash: "hash of " + source, Title: source, Chunker: "test", Metadata: metadata,
	}}
	for i, text := range texts {
		e.Chunks = append(e.Chunks, state.Chunk{ID: fmt.Sprintf("%s#%d", source, i), Ordinal: i, Text: text, End: len(text), Hash: text})
	}
	return e
}

func put(t *testing.T, b search.Backend, entries ...search.Entry) {
	t.Helper()
	ok(t, b.Put(t.Context(), root, entries))
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func snapshot(t *testing.T, b search.Backend) search.Snapshot {
	t.Helper()
	s, err := b.Snapshot(t.Context(), root)
	ok(t, err)
	return s
}

// wantFound checks the chunks that a search by words finds, best first.
func wantFound(t *testing.T, s search.Snapshot, query string, k int, want ...string) {
	t.Helper()
	hits, err := s.SearchWords(t.Context(), state.Query{Text: query, Weight: 1}, k)
	ok(t, err)
	wantChunks(t, query, hits, want...)
}

func wantChunks(t *testing.T, what string, hits []state.Hit, want ...string) {
	t.Helper()
	var got []string
	for _, h := range hits {
		got = append(got, h.Chunk)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: found %q, want %q", what, got, want)
	}
}

func checkPut(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", state.Metadata{"category": "herbs"}, "basil needs water", "thyme needs sun"), page("b.md", nil, "mint"))
	ok(t, b.Publish(t.Context(), root))
	files, err := b.Files(t.Context(), root)
	ok(t, err)
	if f := files["a.md"]; len(files) != 2 || f.Chunks != 2 || f.Hash != "hash of a.md" || !f.ModTime.Equal(time.Unix(1, 0)) || f.Metadata["category"] != "herbs" {
		t.Errorf("files %+v", files)
	}
	s := snapshot(t, b)
	if s.Docs() != 3 || s.Files() != 2 || s.Passing() != 2 {
		t.Errorf("%d chunks, %d files, %d passing", s.Docs(), s.Files(), s.Passing())
	}
	none, err := b.Files(t.Context(), "/elsewhere")
	if err != nil || len(none) != 0 {
		t.Errorf("files of a collection that does not exist: %v, %v", none, err)
	}
}

func checkNames(t *testing.T, b search.Backend) {
	offer := page("offers/Nordwind-2026.pdf", nil, "Delivery within three weeks.")
	offer.File.Title = "Your enquiry"
	put(t, b, offer, page("b.md", nil, "Delivery of a driver."), page("c.md", nil, "Delivery by hand."))
	s := snapshot(t, b)
	wantFound(t, s, "nordwind", 5, "offers/Nordwind-2026.pdf#0")
	wantFound(t, s, "offer of Nordwind, delivery", 1, "offers/Nordwind-2026.pdf#0")
	wantFound(t, s, "offers", 5, "offers/Nordwind-2026.pdf#0")
}

func checkReplace(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "basil", "thyme"))
	put(t, b, page("a.md", nil, "sage"))
	s := snapshot(t, b)
	wantFound(t, s, "basil", 5)
	wantFound(t, s, "sage", 5, "a.md#0")
	if s.Docs() != 1 {
		t.Errorf("%d chunks, want 1", s.Docs())
	}
}

func checkDelete(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "basil"), page("b.md", nil, "basil too"))
	ok(t, b.Delete(t.Context(), root, "a.md", "no such file"))
	wantFound(t, snapshot(t, b), "basil", 5, "b.md#0")
}

func checkTouchAndFail(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "basil"))
	touched := page("a.md", nil).File
	touched.Size, touched.ModTime = 99, time.Unix(2, 0).UTC()
	ok(t, b.Touch(t.Context(), root, touched))
	failed := search.File{Source: "a.md", Error: "permission denied"}
	ok(t, b.Fail(t.Context(), root, failed, search.File{Source: "new.md", Error: "permission denied"}))
	files, err := b.Files(t.Context(), root)
	ok(t, err)
	if len(files) != 2 || files["a.md"].Error != "permission denied" || files["new.md"].Error == "" {
		t.Errorf("files %+v", files)
	}
	all, err := b.Collections(t.Context())
	if err != nil || len(all) != 1 || all[0].Files != 2 || all[0].Indexed != 1 {
		t.Errorf("collections %+v, %v", all, err)
	}
	wantFound(t, snapshot(t, b), "basil", 5, "a.md#0") // its chunks stay
}

func checkCollections(t *testing.T, b search.Backend) {
	_, err := b.Snapshot(t.Context(), root)
	if !errors.Is(err, search.ErrNotIndexed) {
		t.Errorf("a collection that does not exist: %v", err)
	}
	put(t, b, page("a.md", nil, "basil"))
	ok(t, b.Put(t.Context(), "/other", []search.Entry{page("a.md", nil, "basil elsewhere", "mint")}))
	list, err := b.Collections(t.Context())
	ok(t, err)
	if len(list) != 2 || list[0].Root != root || list[0].Files != 1 || list[1].Root != "/other" || list[1].Chunks != 2 {
		t.Errorf("collections %+v", list)
	}
	both, err := b.Snapshot(t.Context(), root, "/other")
	ok(t, err)
	if both.Docs() != 3 {
		t.Errorf("%d chunks in both, want 3", both.Docs())
	}
	ok(t, b.SetChunking(t.Context(), root, "a note"))
	if note, err := b.Chunking(t.Context(), root); note != "a note" || err != nil {
		t.Errorf("note %q, %v", note, err)
	}
	if note, err := b.Chunking(t.Context(), "/other"); note != "" || err != nil {
		t.Errorf("note of another collection %q, %v", note, err)
	}
}

func checkBadEntries(t *testing.T, b search.Backend) {
	good, bad := page("a.md", nil, "basil"), page("", nil, "thyme")
	if err := b.Put(t.Context(), root, []search.Entry{good, bad}); err == nil {
		t.Error("a file without a source is accepted")
	}
	if files, err := b.Files(t.Context(), root); err != nil || len(files) != 0 {
		t.Errorf("a part of the batch was stored: %v, %v", files, err)
	}
}

func checkSnapshot(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "basil"))
	before := snapshot(t, b)
	put(t, b, page("b.md", nil, "basil and basil"))
	ok(t, b.Publish(t.Context(), root))
	wantFound(t, before, "basil", 5, "a.md#0")
	if n := snapshot(t, b).Docs(); n != 2 {
		t.Errorf("a new snapshot has %d chunks, want 2", n)
	}
}

func checkWords(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "water the basil in the morning", "cut the thyme"), page("b.md", nil, "basil basil basil"), page("c.md", nil, "nothing of it"))
	s := snapshot(t, b)
	wantFound(t, s, "watering thyme", 1, "a.md#1")
	wantFound(t, s, "zebra", 5)
	wantFound(t, s, "basil", 1, "b.md#0")
	if s.DocFreq("basil") != 2 || !(s.IDF("basil") > 0) {
		t.Errorf("basil is in %d chunks, IDF %v", s.DocFreq("basil"), s.IDF("basil"))
	}
	hits, err := s.SearchWords(t.Context(), state.Query{Text: "basil", Weight: 1}, 5)
	ok(t, err)
	for i, h := range hits {
		if len(h.Legs) != 1 || h.Legs[0].Name != search.LegLexical || h.Legs[0].Rank != i+1 || i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("hit %d: %+v", i, h)
		}
	}
}

// checkCompounds: words of languages that write compounds as one word find each other by their parts.
func checkCompounds(t *testing.T, b search.Backend) {
	put(t, b, page("urlaub.md", nil, "Der Urlaubsantrag wird eine Woche vorher beim Vorgesetzten gestellt, und zwar schriftlich."),
		page("reise.md", nil, "Die Abrechnung einer Reise ist beim Empfang abzugeben, wenn die Belege nicht fehlen."),
		page("leave.md", nil, "The request for leave goes to the manager a week ahead, and not to the front desk."))
	s := snapshot(t, b)
	wantFound(t, s, "Antrag", 5, "urlaub.md#0")
	wantFound(t, s, "Reisekostenabrechnung", 5, "reise.md#0")
	wantFound(t, s, "management", 5, "leave.md#0")
	wantFound(t, s, "Vorsitz", 5)
}

func checkFilter(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", state.Metadata{"category": "herbs"}, "basil"), page("b.md", state.Metadata{"category": "trees"}, "basil basil basil"))
	only := state.Filter{Must: []state.Condition{{Key: "category", Op: state.OpIs, Values: []string{"herbs"}}}}
	s, err := search.Narrow(t.Context(), snapshot(t, b), only)
	ok(t, err)
	wantFound(t, s, "basil", 1, "a.md#0")
	if s.Passing() != 1 {
		t.Errorf("%d documents pass, want 1", s.Passing())
	}
	_, err = search.Narrow(t.Context(), s, state.Filter{Must: []state.Condition{{Key: "colour", Op: state.OpIs, Values: []string{"x"}}}})
	if _, unknown := errors.AsType[*search.UnknownKeyError](err); !unknown {
		t.Errorf("an unknown key: %v", err)
	}
}

func checkPhrases(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "the red cup"), page("b.md", nil, "the cup is red"), page("c.md", nil, "a plate"))
	e, err := search.New(t.Context(), snapshot(t, b), search.Options{})
	ok(t, err)
	found, err := e.Search(t.Context(), search.ParseQuery(`"red cup"`), 5)
	ok(t, err)
	wantChunks(t, "phrase", found.Hits, "a.md#0")
}

func checkChunks(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "one", "two", "three"))
	chunks, err := snapshot(t, b).Chunks(t.Context(), []string{"a.md#2", "no such chunk", "a.md#0"})
	ok(t, err)
	if len(chunks) != 2 || chunks[0].Text != "three" || chunks[1].Text != "one" || chunks[1].Source != "a.md" || chunks[1].Root != root || chunks[1].Title != "a.md" {
		t.Errorf("chunks %+v", chunks)
	}
}

// direction embeds a text by the number of its letters a and b.
func direction(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{float32(strings.Count(text, "a")), float32(strings.Count(text, "b"))}
	}
	return out, nil
}

func checkVectors(t *testing.T, b search.Backend) {
	put(t, b, page("x", nil, "aaaa", "bbbb"), page("y", nil, "aabb"))
	spec := search.VectorSpec{Model: "letters"}
	report, err := b.Embed(t.Context(), spec, []string{root}, search.EmbedOptions{Embed: direction})
	ok(t, err)
	if report.Embedded != 3 || report.Embedder.Dimension != 2 {
		t.Errorf("report %+v", report)
	}
	if report, err = b.Embed(t.Context(), spec, []string{root}, search.EmbedOptions{Embed: direction}); err != nil || report.Embedded != 0 {
		t.Errorf("embedded again: %+v, %v", report, err)
	}
	put(t, b, page("z", nil, "ab"))
	s := snapshot(t, b)
	v, err := s.Vectors(t.Context(), spec)
	ok(t, err)
	if v.Len() != 3 || v.Missing() != 1 {
		t.Errorf("%d vectors, %d missing", v.Len(), v.Missing())
	}
	hits, err := v.Search(t.Context(), []float32{1, 0}, 2, 0)
	ok(t, err)
	wantChunks(t, "by vector", hits, "x#0", "y#0")
	if h := hits[0]; h.Score < 0.999 || h.Score > 1.001 || h.Legs[0].Name != search.LegDense {
		t.Errorf("the same direction: %+v", h)
	}
	narrowed, err := search.Narrow(t.Context(), s, state.Filter{Must: []state.Condition{{Key: state.KeySource, Op: state.OpIs, Values: []string{"y"}}}})
	ok(t, err)
	hits, err = v.Of(narrowed).Search(t.Context(), []float32{1, 0}, 2, 0)
	ok(t, err)
	wantChunks(t, "by vector, filtered", hits, "y#0")
}

func checkEmbedders(t *testing.T, b search.Backend) {
	put(t, b, page("x", nil, "aaaa"))
	first, second := search.VectorSpec{Model: "letters"}, search.VectorSpec{Model: "others"}
	_, err := b.Embed(t.Context(), first, []string{root}, search.EmbedOptions{Embed: direction})
	ok(t, err)
	if _, err = b.Embed(t.Context(), second, []string{root}, search.EmbedOptions{Embed: direction}); !errors.Is(err, search.ErrEmbedderChanged) {
		t.Errorf("another embedder: %v", err)
	}
	if err := snapshot(t, b).CheckEmbedder(t.Context(), second); !errors.Is(err, search.ErrEmbedderChanged) {
		t.Errorf("check: %v", err)
	}
	_, err = b.Embed(t.Context(), second, []string{root}, search.EmbedOptions{Embed: direction, Switch: true})
	ok(t, err)
	if spec, found, err := b.Embedder(t.Context(), root); err != nil || !found || spec.Model != "others" {
		t.Errorf("embedder %v, %v, %v", spec, found, err)
	}
	if n, err := b.PruneVectors(t.Context()); err != nil || n != 1 {
		t.Errorf("pruned %d, %v; want 1", n, err)
	}
}

func checkCancelled(t *testing.T, b search.Backend) {
	put(t, b, page("a.md", nil, "basil"))
	s := snapshot(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Put(ctx, root, []search.Entry{page("b.md", nil, "mint")}); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.SearchWords(ctx, state.Query{Text: "basil", Weight: 1}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v", err)
	}
}
