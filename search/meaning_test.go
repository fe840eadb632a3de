package search_test

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// meaning is an embedder: words that mean the same share a dimension, all others have one by
// their hash.
type meaning struct {
	mu    sync.Mutex
	asked []string // questions that were embedded
	fail  error
}

func (*meaning) Model() string { return "meaning" }

func (m *meaning) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, texts...)
	return llm.Embeddings{Vectors: [][]float32{meaningOf(texts[0])}}, m.fail
}

func meaningOf(text string) []float32 {
	v := make([]float32, 256)
	v[0] = 0.01
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if english, ok := map[string]string{"bazylię": "basil", "podlewać": "water"}[w]; ok {
			w = english
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(w))
		v[int(h.Sum32())%len(v)]++
	}
	return v
}

// garden is an index of a few pages about herbs, with vectors.
func garden(t *testing.T) *index.DB {
	t.Helper()
	db := open(t)
	put(t, db, "/garden",
		file("basil.md", "Basil", "Water: Water basil daily in summer.", "Light: Basil wants a sunny window.", "Harvest: Cut basil above a pair of leaves."),
		file("thyme.md", "Thyme", "Water: Thyme wants little water, in summer too.", "Light: Thyme grows in full sun."),
		file("drying.md", "Drying herbs", "Dry herbs in the shade.", "Dried oregano keeps for a year in a dark jar."),
		file("pots.md", "Pots", "A pot needs a hole, so that water can drain.", "Clay pots dry in summer."),
	)
	embed(t, db, "/garden")
	return db
}

func embed(t *testing.T, db search.Backend, root string) {
	t.Helper()
	embedAs(t, db, root, "meaning", meaningOf)
}

// embedAs gives every passage the vector of its text.
func embedAs(t *testing.T, db search.Backend, root, model string, vector func(text string) []float32) {
	t.Helper()
	if _, err := db.Embed(t.Context(), search.VectorSpec{Model: model}, []string{root}, search.EmbedOptions{
		Embed: func(_ context.Context, texts []string) (out [][]float32, err error) {
			for _, text := range texts {
				out = append(out, vector(text))
			}
			return out, nil
		},
	}); err != nil {
		t.Fatal(err)
	}
}

// list lists what an engine finds; its listing must be in order.
func list(t *testing.T, e *search.Engine, query string, r search.Request) *search.Listing {
	t.Helper()
	l, err := e.List(t.Context(), search.ParseQuery(query), r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func chunks(l *search.Listing) (out []string) {
	for _, h := range l.Hits {
		out = append(out, h.Chunk.ID)
	}
	return out
}

// shares returns the share of each leg.
func shares(l *search.Listing) map[string]float64 {
	out := map[string]float64{}
	for _, h := range l.Hits {
		for _, leg := range h.Legs {
			out[leg.Name] = leg.Share
		}
	}
	return out
}

// TestEmbeddedQuestion: a question is embedded with its prefix, and a follow-up with its context.
func TestEmbeddedQuestion(t *testing.T) {
	t.Parallel()
	m := &meaning{}
	e := engineOf(t, snapshotOf(t, garden(t), "/garden"), search.Options{Embedder: m, Dense: search.Dense{QueryPrefix: "query: "}})
	for _, q := range []state.Query{
		{Text: "water basil", Weight: 1},
		{Text: "and in winter", Weight: 1, Topic: "How to water basil?", Boosts: []state.Boost{{Text: "irrigate", Weight: 0.3}}},
	} {
		if _, err := e.Search(t.Context(), q, 3); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"query: water basil", "query: How to water basil? and in winter"}; !slices.Equal(m.asked, want) {
		t.Errorf("embedded %q, want %q", m.asked, want)
	}
}

// TestFoundByMeaningAlone: a question that shares no word with the documents is found, and the leg that
// cannot see it leaves its weight to the other.
func TestFoundByMeaningAlone(t *testing.T) {
	t.Parallel()
	e := engineOf(t, snapshotOf(t, garden(t), "/garden"), search.Options{Embedder: &meaning{}})
	const question = "Jak pielęgnować bazylię?"
	if l := list(t, e, question, search.Request{Leg: search.LegLexical}); len(l.Hits) != 0 {
		t.Errorf("the words found %v", chunks(l))
	}
	l := list(t, e, question, search.Request{K: 5})
	if len(l.Hits) == 0 || !strings.HasPrefix(l.Hits[0].Chunk.ID, "basil.md#") || len(l.Warnings) != 0 {
		t.Fatalf("hits %+v, warnings %q", l.Hits, l.Warnings)
	}
	if leg := l.Hits[0].Legs[0]; leg.Name != "dense" || leg.Rank != 1 || leg.Share != 0 || leg.Score <= 0 || leg.Score > 1 || l.Hits[0].Score != 1 {
		t.Errorf("the first hit's score is %v of leg %+v", l.Hits[0].Score, leg)
	}
}

// TestNearestAreAdded: with a ListDepth the dense leg adds passages to those that words find, as many as its depth, and
// those that have no vector yet bring no warning.
func TestNearestAreAdded(t *testing.T) {
	t.Parallel()
	db := garden(t)
	put(t, db, "/garden", file("sage.md", "Sage", "Sage in summer needs sun."))
	e := engineOf(t, snapshotOf(t, db, "/garden"), search.Options{Embedder: &meaning{}, ListDepth: 40, Retrieval: search.Retrieval{
		Fusion: search.Fusion{Method: "reciprocal-rank-fusion"}, Weights: search.Weights{Lexical: 1, Dense: 0.3}, DenseDepth: 2,
	}})
	for _, tt := range []struct {
		question string
		k        int
		want     []string
	}{
		{"Jak podlewać bazylię?", 1, []string{"basil.md"}}, // "water basil" by meaning alone
		{"dry oregano in summer", 1, []string{"drying.md"}},
		{"sun for the sage", 3, []string{"sage.md"}}, // which has no vector
		{"bazylię", 3, nil},                          // a name, perhaps
	} {
		found, err := e.Search(t.Context(), state.Query{Text: tt.question, Weight: 1}, tt.k)
		if err != nil || len(found.Warnings) > 0 {
			t.Fatalf("%s: %q, %v", tt.question, found.Warnings, err)
		}
		var got []string
		for _, h := range found.Hits {
			source, _, _ := strings.Cut(h.Chunk, "#")
			got = append(got, source)
		}
		if len(got) > tt.k+2 || tt.want == nil && len(got) > 0 || len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) {
			t.Errorf("%s: found %q, want %q first", tt.question, got, tt.want)
		}
	}
}

// TestEmbedderFails: a search by all legs warns and searches by words; one by vectors alone does
// so too as a search for an answer, and is an error as a listing.
func TestEmbedderFails(t *testing.T) {
	t.Parallel()
	m := &meaning{fail: errors.New("out of order")}
	for _, leg := range []string{search.LegHybrid, search.LegDense} {
		e := engineOf(t, snapshotOf(t, garden(t), "/garden"), search.Options{Embedder: m, Dense: search.Dense{Leg: leg}})
		found, err := e.Search(t.Context(), state.Query{Text: "oregano", Weight: 1}, 3)
		if err != nil || len(found.Hits) != 1 || len(found.Warnings) != 1 ||
			found.Warnings[0] != "Dense search left out, searched by words only: the question cannot be embedded: out of order" {
			t.Errorf("%s: %+v, %v", leg, found, err)
		}
		if _, err := e.List(t.Context(), state.Query{Text: "oregano", Weight: 1}, search.Request{Leg: search.LegDense}); !errors.Is(err, search.ErrEmbedding) {
			t.Errorf("%s: a listing by vectors: %v", leg, err)
		}
	}
}

// TestNoVectors: without an embedder, or before anything was embedded, there is no dense search,
// and one that is incomplete says so.
func TestNoVectors(t *testing.T) {
	t.Parallel()
	db := open(t)
	put(t, db, "/docs", file("a.md", "", "mint"))
	dense := search.Request{Leg: search.LegDense}
	for _, o := range []search.Options{{}, {Embedder: &meaning{}}} {
		e := engineOf(t, snapshotOf(t, db, "/docs"), o)
		if _, err := e.List(t.Context(), state.Query{Text: "mint", Weight: 1}, dense); !errors.Is(err, search.ErrNoDense) {
			t.Errorf("error %v, want ErrNoDense", err)
		}
	}
	if _, err := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{}).List(t.Context(), state.Query{}, search.Request{Leg: "sparse"}); err == nil {
		t.Error("an unknown leg is searched")
	}
	embed(t, db, "/docs")
	put(t, db, "/docs", file("b.md", "", "mint tea"))
	l := list(t, engineOf(t, snapshotOf(t, db, "/docs"), search.Options{Embedder: &meaning{}}), "mint", search.Request{})
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "incomplete: 1 of 2 passages have no vector yet and are found by their words only") {
		t.Errorf("warnings %q", l.Warnings)
	}
	other := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{Embedder: lettersOf("other")})
	if _, err := other.List(t.Context(), state.Query{Text: "mint", Weight: 1}, dense); !errors.Is(err, search.ErrEmbedderChanged) {
		t.Errorf("another model: error %v, want ErrEmbedderChanged", err)
	}
	if l := list(t, other, "mint", search.Request{}); len(l.Hits) != 2 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "ragflow index --rebuild") {
		t.Errorf("another model: %d hits, warnings %q", len(l.Hits), l.Warnings)
	}
}
