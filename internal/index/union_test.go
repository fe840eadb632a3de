package index_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// united returns the union of collections "/a" and "/b", each in a database of its own.
func united(t *testing.T, a, b *index.DB) *index.Searcher {
	t.Helper()
	s, ok := search.Union(searcher(t, a, "/a"), searcher(t, b, "/b")).(*index.Searcher)
	if !ok {
		t.Fatal("embedded indexes are not searched as one")
	}
	return s
}

// TestUnionIsOneIndex: two databases answer exactly as one database with both collections, to
// the last bit: ids, scores, order of equal scores, statistics, chunks. A database with all
// files in one collection gives the same scores; only equal ones may change places.
func TestUnionIsOneIndex(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := open(t, filepath.Join(t.TempDir(), "a.db"), index.Options{}), open(t, "", index.Options{})
		both, whole := open(t, "", index.Options{}), open(t, "", index.Options{})
		for i := range 60 {
			e := randomFile(r, fmt.Sprintf("%03d.md", i))
			put(t, whole, "/", e)
			if r.IntN(3) == 0 {
				put(t, a, "/a", e)
				put(t, both, "/a", e)
			} else {
				put(t, b, "/b", e)
				put(t, both, "/b", e)
			}
			if i%20 == 0 {
				put(t, a, "/elsewhere", e) // in the same database, but not searched
			}
		}
		s := united(t, a, b)
		sameAnswers(t, r, s, searcher(t, both, "/a", "/b"))
		sameScores(t, r, s, searcher(t, whole, "/"))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func sameScores(t *testing.T, r *rand.Rand, got, want *index.Searcher) {
	t.Helper()
	for range 20 {
		q := randomQuery(r)
		a, err := got.Search(t.Context(), q, 1000)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Search(t.Context(), q, 1000)
		if err != nil {
			t.Fatal(err)
		}
		scores := map[string]float64{}
		for _, h := range b {
			scores[h.Chunk] = h.Score
		}
		for i, h := range a {
			if len(a) != len(b) || h.Score != b[i].Score || h.Score != scores[h.Chunk] {
				t.Fatalf("%+v: hit %d is %s with %v, want %v", q, i, h.Chunk, h.Score, scores[h.Chunk])
			}
		}
	}
}

// TestUnionIDs: chunks with the same id in two databases get different ids, and each id returns
// its chunk, from the union and from its own index.
func TestUnionIDs(t *testing.T) {
	t.Parallel()
	a, b := open(t, "", index.Options{}), open(t, "", index.Options{})
	put(t, a, "/a", file("same.md", "", "mint"), file("only-a.md", "", "mint tea"))
	put(t, b, "/b", file("same.md", "", "mint"), file("only-b.md", "", "mint sauce"))
	s := united(t, a, b)
	marked := "same.md#0@" + search.RootMark("/b")
	check(t, "found", find(t, s, "mint"), []string{"same.md#0", marked, "only-a.md#0", "only-b.md#0"})
	chunks, err := s.Chunks(t.Context(), []string{marked, "same.md#0", "only-b.md#0"})
	if err != nil || len(chunks) != 3 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	for i, root := range []string{"/b", "/a", "/b"} {
		check(t, "root of "+chunks[i].ID, chunks[i].Root, root)
	}
	alone, err := searcher(t, b, "/b").Chunks(t.Context(), []string{marked})
	if err != nil || len(alone) != 1 {
		t.Errorf("the index of its own: %d chunks, %v", len(alone), err)
	}
	twice := search.Union(s, searcher(t, b, "/b"))
	check(t, "a collection that comes twice", twice.Docs(), s.Docs())
	reversed, ok := search.Union(searcher(t, b, "/b"), searcher(t, a, "/a")).(*index.Searcher)
	if !ok {
		t.Fatal("not united")
	}
	check(t, "in another order", find(t, reversed, "mint"), find(t, s, "mint"))
	check(t, "one alone", search.Union(s) == search.Snapshot(s), true)
}

// TestUnionOfOneFolder: a folder that two databases hold is found twice, and both hits can be read.
func TestUnionOfOneFolder(t *testing.T) {
	t.Parallel()
	a, b := open(t, "", index.Options{}), open(t, "", index.Options{})
	put(t, a, "/docs", file("same.md", "", "mint"))
	put(t, b, "/docs", file("same.md", "", "mint"))
	s := search.Union(searcher(t, a, "/docs"), searcher(t, b, "/docs"))
	hits, err := s.SearchWords(t.Context(), state.Query{Text: "mint"}, 5)
	if err != nil || len(hits) != 2 || hits[0].Score != hits[1].Score || hits[0].Chunk == hits[1].Chunk {
		t.Fatalf("hits %+v, %v", hits, err)
	}
	chunks, err := s.Chunks(t.Context(), []string{hits[0].Chunk, hits[1].Chunk})
	if err != nil || len(chunks) != 2 {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
}

// TestUnionVectors: vectors of two databases answer as those of one; another embedder in one of
// them is an error that names its collection.
func TestUnionVectors(t *testing.T) {
	t.Parallel()
	spec := search.VectorSpec{Model: "fixed"}
	both, a, b := open(t, "", index.Options{}), open(t, "", index.Options{}), open(t, "", index.Options{})
	known, _ := randomIndex(t, both, 600, 9)
	for root, db := range map[string]*index.DB{"/a": a, "/b": b} {
		copyRoot(t, both, db, root)
		if _, err := db.Embed(t.Context(), spec, []string{root}, search.EmbedOptions{Embed: known.embed}); err != nil {
			t.Fatal(err)
		}
	}
	want := vectors(t, both, spec, "/a", "/b")
	got, err := united(t, a, b).Vectors(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "vectors", [2]int{got.Len(), got.Missing()}, [2]int{600, 0})
	r := rand.New(rand.NewPCG(4, 5))
	for range 20 {
		q := randomVector(r, 9)
		x, err := want.Search(t.Context(), q, 20, search.MinCosine)
		if err != nil {
			t.Fatal(err)
		}
		y, err := got.Search(t.Context(), q, 20, search.MinCosine)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "nearest", y, x)
	}
	other := search.VectorSpec{Model: "other"}
	if _, err := b.Embed(t.Context(), other, []string{"/b"}, search.EmbedOptions{Embed: known.embed, Switch: true}); err != nil {
		t.Fatal(err)
	}
	err = united(t, a, b).CheckEmbedder(t.Context(), spec)
	if e, ok := errors.AsType[*search.EmbedderError](err); !ok || e.Root != "/b" || e.Stored.Model != "other" {
		t.Errorf("another embedder: %v", err)
	}
}

// copyRoot puts the files of a collection into another database.
func copyRoot(t *testing.T, from, to *index.DB, root string) {
	t.Helper()
	s := searcher(t, from, root)
	files, err := from.Files(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for source, f := range files {
		ids := make([]string, f.Chunks)
		for i := range ids {
			ids[i] = fmt.Sprintf("%s#%d", source, i)
		}
		chunks, err := s.Chunks(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		put(t, to, root, search.Entry{File: f, Chunks: chunks})
	}
}

// TestUnionFilters: a filter works over two databases as over one.
func TestUnionFilters(t *testing.T) {
	t.Parallel()
	a, b := open(t, "", index.Options{}), open(t, "", index.Options{})
	herbs := file("herbs.md", "Herbs", "mint")
	herbs.File.Metadata = state.Metadata{"category": "kitchen"}
	put(t, a, "/a", herbs, file("mint.md", "", "mint"))
	put(t, b, "/b", file("basil.md", "", "mint"), file("herbs.md", "", "mint"))
	s := united(t, a, b)
	narrow := func(key, value string) *index.Searcher {
		var f state.Filter
		if err := f.Add(key + "=" + value); err != nil {
			t.Fatal(err)
		}
		return narrowed(t, s, f)
	}
	kitchen := narrow("category", "kitchen")
	check(t, "a key of one database", find(t, kitchen, "mint"), []string{"herbs.md#0"})
	check(t, "a key of both", narrow(state.KeySource, "herbs.md").Passing(), 2)
	check(t, "united after a filter", search.Union(kitchen, searcher(t, b, "/b")).Passing(), 1)
}

// TestUnionOfOtherRankings: databases whose scores cannot be compared are not ranked as one.
func TestUnionOfOtherRankings(t *testing.T) {
	t.Parallel()
	a, b := open(t, "", index.Options{}), open(t, "", index.Options{Ranking: &search.Ranking{K1: 1}})
	put(t, a, "/a", file("a.md", "", "mint"))
	put(t, b, "/b", file("b.md", "", "mint"))
	s := search.Union(searcher(t, a, "/a"), searcher(t, b, "/b"))
	if _, ok := s.(*index.Searcher); ok {
		t.Error("they are ranked as one")
	}
	check(t, "chunks", s.Docs(), 2)
}
