package index_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// bag is an embedder for tests: each word adds to one dimension. It counts the
// texts it was given.
type bag struct {
	dimension int
	mu        sync.Mutex
	seen      map[string]int
	calls     int
	before    func(texts []string) error // may fail a call
}

func newBag(dimension int) *bag { return &bag{dimension: dimension, seen: map[string]int{}} }

func (b *bag) vector(text string) []float32 {
	v := make([]float32, b.dimension)
	v[0] = 0.01 // so that no text is without direction
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		h := fnv.New32a()
		h.Write([]byte(w))
		v[int(h.Sum32())%b.dimension]++
	}
	return v
}

func (b *bag) embed(ctx context.Context, texts []string) ([][]float32, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.calls++
	if b.before != nil {
		if err := b.before(texts); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		b.seen[t]++
		out[i] = b.vector(t)
	}
	return out, nil
}

// texts is how many texts were embedded, those twice twice.
func (b *bag) texts() int {
	n := 0
	for _, k := range b.seen {
		n += k
	}
	return n
}

func embed(tb testing.TB, db *index.DB, e search.VectorSpec, b *bag, roots ...string) *search.EmbedReport {
	tb.Helper()
	r, err := db.Embed(tb.Context(), e, roots, search.EmbedOptions{Embed: b.embed, Batch: 3})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func vectors(tb testing.TB, db *index.DB, e search.VectorSpec, roots ...string) search.Vectors {
	tb.Helper()
	v, err := searcher(tb, db, roots...).Vectors(tb.Context(), e)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// nearest returns the id of the chunk that is nearest to a text.
func nearest(tb testing.TB, v search.Vectors, b *bag, query string) string {
	tb.Helper()
	hits, err := v.Search(tb.Context(), b.vector(query), 1, search.MinCosine)
	if err != nil {
		tb.Fatal(err)
	}
	if len(hits) != 1 {
		tb.Fatalf("%q: %d hits, want 1", query, len(hits))
	}
	return hits[0].Chunk
}

// The same text is embedded once, across runs, files,
// collections, moves and deletions.
func TestEmbedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	b := newBag(32)
	model := search.VectorSpec{Model: "bag"}
	put(t, db, "/a", file("x.md", "T", "alpha", "beta", "gamma", "delta"), file("y.md", "T", "alpha", "epsilon"))
	r := embed(t, db, model, b, "/a")
	want := search.EmbedReport{Embedder: search.VectorSpec{Model: "bag", Dimension: 32, Tokens: search.DefaultPassageTokens}, Chunks: 6, Embedded: 5}
	if diff := cmp.Diff(want, *r); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		name string
		do   func()
		new  int
	}{
		{"again", func() {}, 0},
		{"a file moved", func() {
			put(t, db, "/a", file("z.md", "T", "alpha", "beta", "gamma", "delta"))
			if err := db.Delete(t.Context(), "/a", "x.md"); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"one chunk changed", func() { put(t, db, "/a", file("z.md", "T", "alpha", "BETA", "gamma", "delta")) }, 1},
		{"deleted and back", func() {
			if err := db.Delete(t.Context(), "/a", "z.md"); err != nil {
				t.Fatal(err)
			}
			put(t, db, "/a", file("z.md", "T", "alpha", "beta", "gamma", "delta"))
		}, 0},
		{"another title", func() { put(t, db, "/a", file("y.md", "Other", "alpha", "epsilon")) }, 2},
	} {
		step.do()
		if got := embed(t, db, model, b, "/a").Embedded; got != step.new {
			t.Errorf("%s: %d texts embedded, want %d", step.name, got, step.new)
		}
		if v := vectors(t, db, model, "/a"); v.Missing() != 0 || v.Len() != 6 {
			t.Errorf("%s: %d vectors and %d missing, want 6 and 0", step.name, v.Len(), v.Missing())
		}
	}
	put(t, db, "/b", file("x.md", "T", "alpha", "beta"))
	if got := embed(t, db, model, b, "/a", "/b").Embedded; got != 0 {
		t.Errorf("the same texts in another collection: %d embedded, want 0", got)
	}
	if b.texts() != 8 {
		t.Errorf("%d texts were embedded, want 8", b.texts())
	}
	for text, n := range b.seen {
		if n != 1 {
			t.Errorf("%q was embedded %d times", text, n)
		}
	}
}

func TestPassage(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    state.Chunk
		want string
	}{
		{"text alone", state.Chunk{Text: "t"}, "t"},
		{"title", state.Chunk{Title: "A", Text: "t"}, "A\nt"},
		{"title and headings", state.Chunk{Title: "A", Headings: []string{"B", "C"}, Text: "t"}, "A › B › C\nt"},
		{"title is the first heading", state.Chunk{Title: "A", Headings: []string{"A", "C"}, Text: "t"}, "A › C\nt"},
	} {
		if got := search.Passage(tt.c); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestModelName(t *testing.T) {
	for in, want := range map[string]string{
		"text-embedding-3-small":            "text-embedding-3-small",
		"openai/text-embedding-3-small":     "text-embedding-3-small",
		"nomic-embed-text:latest":           "nomic-embed-text",
		"BAAI/bge-m3":                       "baai/bge-m3",
		"acme/legal/bge-m3":                 "acme/legal/bge-m3",
		`C:\models\bge-small-en-v1.5.gguf`:  "bge-small-en-v1.5",
		" /home/ann/e5-small-v2-q8_0.gguf ": "e5-small-v2-q8_0",
	} {
		if got := search.ModelName(in); got != want {
			t.Errorf("ModelName(%q) = %q, want %q", in, got, want)
		}
	}
}

// The texts sent have the prefix and the length of the embedder.
func TestEmbedForm(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/a", file("x.md", "", strings.Repeat("word ", 100)+"end"))
	b := newBag(8)
	embed(t, db, search.VectorSpec{Model: "bag", Prefix: "passage: ", Tokens: 10}, b, "/a")
	want := map[string]int{"passage: " + strings.TrimSpace(strings.Repeat("word ", 10)): 1}
	if diff := cmp.Diff(want, b.seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Vectors of different models are never mixed.
func TestSwitchEmbedder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	put(t, db, "/a", file("x.md", "", "alpha one", "beta two", "gamma three"))
	put(t, db, "/b", file("y.md", "", "delta four"))
	old, fresh := newBag(16), newBag(24)
	first, second := search.VectorSpec{Model: "First"}, search.VectorSpec{Model: "second"}
	embed(t, db, first, old, "/a")
	embed(t, db, second, fresh, "/b")
	if got := vectors(t, db, second, "/b").Len(); got != 1 {
		t.Errorf("/b has %d vectors, want 1: collections may have different embedders", got)
	}

	for name, e := range map[string]search.VectorSpec{
		"model":     second,
		"dimension": {Model: "first", Dimension: 17},
		"prefix":    {Model: "first", Prefix: "passage: "},
		"tokens":    {Model: "first", Tokens: 77},
	} {
		_, err := db.Embed(t.Context(), e, []string{"/a"}, search.EmbedOptions{Embed: fresh.embed})
		s := searcher(t, db, "/a")
		_, searchErr := s.Vectors(t.Context(), e)
		for _, err := range []error{err, searchErr, s.CheckEmbedder(t.Context(), e)} {
			typed, ok := errors.AsType[*search.EmbedderError](err)
			if !ok || !errors.Is(err, search.ErrEmbedderChanged) {
				t.Fatalf("%s: error %v, want an EmbedderError", name, err)
			}
			if typed.Stored.Model != "first" || typed.Stored.Dimension != 16 || typed.Root != "/a" {
				t.Errorf("%s: stored is %+v of %q", name, typed.Stored, typed.Root)
			}
			for _, part := range []string{"first (16 dimensions)", typed.Given.String(), "ragflow index --rebuild"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %q does not name %q", name, err, part)
				}
			}
		}
		if got := find(t, s, "alpha"); len(got) != 1 {
			t.Errorf("%s: the lexical search found %v meanwhile", name, got)
		}
	}
	if got := fresh.texts(); got != 1 {
		t.Errorf("%d texts were embedded by a model that was refused", got-1)
	}

	// The switch fails on the way: the old vectors stay, the new ones are kept.
	stays := vectors(t, db, first, "/a")
	calls := 0
	fresh.before = func([]string) error {
		if calls++; calls > 2 {
			return errors.New("no more")
		}
		return nil
	}
	one := search.EmbedOptions{Embed: fresh.embed, Batch: 1, Workers: 1, Switch: true}
	if _, err := db.Embed(t.Context(), second, []string{"/a"}, one); err == nil || errors.Is(err, search.ErrEmbedderChanged) {
		t.Fatalf("error %v, want that of the model", err)
	}
	if got := vectors(t, db, first, "/a"); got.Missing() != 0 {
		t.Error("a switch that failed lost old vectors")
	}
	fresh.before = nil
	r, err := db.Embed(t.Context(), second, []string{"/a"}, one)
	if err != nil || r.Embedded != 1 {
		t.Errorf("going on embedded %+v, %v; want 1 text", r, err)
	}
	if got := nearest(t, vectors(t, db, second, "/a", "/b"), fresh, "beta two"); got != "x.md#1" {
		t.Errorf("after the switch the nearest is %v", got)
	}
	if got := nearest(t, stays, old, "beta two"); got != "x.md#1" {
		t.Errorf("a search that began before the switch finds %v", got)
	}
	if _, err := searcher(t, db, "/a").Vectors(t.Context(), first); !errors.Is(err, search.ErrEmbedderChanged) {
		t.Errorf("the old embedder: %v, want ErrEmbedderChanged", err)
	}

	// Switching back costs nothing until the old vectors are pruned.
	if r, err := db.Embed(t.Context(), first, []string{"/a"}, search.EmbedOptions{Embed: old.embed, Switch: true}); err != nil || r.Embedded != 0 {
		t.Errorf("switching back embedded %+v, %v", r, err)
	}
	if n, err := db.PruneVectors(t.Context()); n != 3 || err != nil {
		t.Errorf("pruned %d, %v; want the 3 of the second model that only /a needed", n, err)
	}
	if vectors(t, db, first, "/a").Missing()+vectors(t, db, second, "/b").Missing() != 0 {
		t.Error("pruning took vectors that are needed")
	}
}

// embedChild makes the test binary embed a collection, a text a call, until it
// is killed. It never gets to the end: embedMost calls are answered, however late
// the kill comes.
const (
	embedChild = "RAGFLOW_TEST_EMBED"
	embedMost  = 100
)

func TestMain(m *testing.M) {
	if path := os.Getenv(embedChild); path != "" {
		os.Exit(embedUntilKilled(path))
	}
	if path := os.Getenv(memoryChild); path != "" {
		if err := searchInMemory(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if args := os.Getenv(changeChild); args != "" {
		fmt.Fprintln(os.Stderr, changeUntilKilled(args))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Embedding runs beside indexing and searching.
func TestEmbedBesideWriters(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	put(t, db, "/a", file("x.md", "", "a", "b", "c", "d", "e", "f", "g", "h"))
	model := search.VectorSpec{Model: "bag", Dimension: 16}
	var failed atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			b := newBag(16)
			for n := range 10 {
				if i == 0 {
					put(t, db, "/a", file("x.md", "", "a", fmt.Sprintf("b%c", 'a'+n), "c", "d"))
				}
				if _, err := db.Embed(t.Context(), model, []string{"/a"}, search.EmbedOptions{Embed: b.embed, Batch: 1}); err != nil {
					t.Error(err)
					failed.Add(1)
				}
				v := vectors(t, db, model, "/a")
				if _, err := v.Search(t.Context(), b.vector("a"), 3, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	embed(t, db, model, newBag(16), "/a")
	if v := vectors(t, db, model, "/a"); v.Len() != 4 || v.Missing() != 0 {
		t.Errorf("%d vectors, %d missing; want 4 and 0", v.Len(), v.Missing())
	}
}
