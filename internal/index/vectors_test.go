package index_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// fixed is an embedder that knows the vector of each text.
type fixed map[string][]float32

func (f fixed) embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if out[i] = f[t]; out[i] == nil {
			return nil, fmt.Errorf("unknown text %q", t)
		}
	}
	return out, nil
}

// randomIndex is an index of n chunks in several files and two roots, with
// random vectors, some of them equal to others.
func randomIndex(tb testing.TB, db *index.DB, n, dimension int) (fixed, []string) {
	tb.Helper()
	random := rand.New(rand.NewPCG(7, uint64(n)))
	known := fixed{}
	var order []string // chunk ids by root, source and place
	var recent []float32
	for _, root := range []string{"/a", "/b"} {
		var entries []search.Entry
		for f := 0; f*100 < n/2; f++ {
			var texts []string
			for range min(100, n/2-f*100) {
				text := fmt.Sprintf("chunk %d", len(known))
				if recent == nil || random.IntN(5) > 0 {
					recent = storable(randomVector(random, dimension))
				}
				known[text] = recent
				texts = append(texts, text)
			}
			e := file(fmt.Sprintf("%s-%06d.md", strings.Trim(root, "/"), f), "", texts...)
			for _, c := range e.Chunks {
				order = append(order, c.ID)
			}
			entries = append(entries, e)
		}
		for batch := range slices.Chunk(entries, 200) {
			put(tb, db, root, batch...)
		}
	}
	if _, err := db.Embed(tb.Context(), search.VectorSpec{Model: "fixed"}, []string{"/a", "/b"},
		search.EmbedOptions{Embed: known.embed, Batch: 1000}); err != nil {
		tb.Fatal(err)
	}
	return known, order
}

func randomVector(random *rand.Rand, dimension int) []float32 {
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(random.NormFloat64())
	}
	return v
}

// storable returns a vector that the index can store without loss: its components are whole numbers up to 127.
func storable(v []float32) []float32 {
	for i, f := range v {
		v[i] = float32(math.Round(min(1, max(-1, float64(f)/3)) * 127))
	}
	v[0] = 127
	return v
}

// slowNearest finds the nearest the slow, obvious way.
func slowNearest(known fixed, order []string, query []float32, k int, least float64) []state.Hit {
	cosine := func(a, b []float32) float64 {
		var ab, aa, bb float64
		for i := range a {
			ab += float64(a[i]) * float64(b[i])
			aa += float64(a[i]) * float64(a[i])
			bb += float64(b[i]) * float64(b[i])
		}
		return ab / math.Sqrt(aa*bb)
	}
	var all []state.Hit
	for i, id := range order {
		if s := cosine(query, known[fmt.Sprintf("chunk %d", i)]); s >= least {
			all = append(all, state.Hit{Chunk: id, Score: s})
		}
	}
	slices.SortStableFunc(all, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(k, len(all))]
}

func TestVectorsEqualTwin(t *testing.T) {
	const n, dimension = 6000, 67
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	known, order := randomIndex(t, db, n, dimension)
	v := vectors(t, db, search.VectorSpec{Model: "fixed"}, "/a", "/b")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		query := randomVector(random, dimension)
		if i%2 == 1 { // a vector of the index, so that scores are 1, and some equal
			query = known[fmt.Sprintf("chunk %d", random.IntN(n))]
		}
		k, least := 1+random.IntN(60), []float64{search.MinCosine, -1, 0.2}[i%3]
		got, err := v.Search(t.Context(), query, k, least)
		if err != nil {
			t.Fatal(err)
		}
		want := slowNearest(known, order, query, k, least)
		if len(got) != len(want) {
			t.Fatalf("query %d: %d hits, want %d", i, len(got), len(want))
		}
		for j := range got {
			if got[j].Chunk != want[j].Chunk || math.Abs(got[j].Score-want[j].Score) > 1e-6 {
				t.Fatalf("query %d, hit %d: %s %v, want %s %v", i, j, got[j].Chunk, got[j].Score, want[j].Chunk, want[j].Score)
			}
			leg := []state.Leg{{Name: search.LegDense, Rank: j + 1, Score: got[j].Score}}
			if diff := gocmp.Diff(leg, got[j].Legs); diff != "" {
				t.Fatalf("legs (-want +got):\n%s", diff)
			}
		}
	}
}

// The same bytes whatever the number of processors, and with the vectors read
// from their file as with those put together.
func TestVectorsDeterministic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	randomIndex(t, db, 6000, 384)
	query := randomVector(rand.New(rand.NewPCG(3, 4)), 384)
	find := func(db *index.DB) []state.Hit {
		hits, err := vectors(t, db, search.VectorSpec{Model: "fixed"}, "/a", "/b").Search(t.Context(), query, 50, -1)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	want := find(db)
	if len(want) != 50 {
		t.Fatalf("%d hits", len(want))
	}
	for _, procs := range []int{1, 3, 8} {
		before := runtime.GOMAXPROCS(procs)
		got := find(open(t, path, index.Options{}))
		runtime.GOMAXPROCS(before)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("with %d processors (-want +got):\n%s", procs, diff)
		}
	}
}

// Similarity is the cosine, and the least is inclusive.
func TestVectorsScores(t *testing.T) {
	db := open(t, "", index.Options{})
	known := fixed{"same": {2, 0, 0}, "half": {1, 1, 0}, "none": {0, 0, 5}, "opposite": {-3, 0, 0}}
	put(t, db, "/a", file("x.md", "", "same", "half", "none", "opposite"))
	model := search.VectorSpec{Model: "fixed"}
	if _, err := db.Embed(t.Context(), model, []string{"/a"}, search.EmbedOptions{Embed: known.embed}); err != nil {
		t.Fatal(err)
	}
	v := vectors(t, db, model, "/a")
	for least, want := range map[float64][]float64{-1: {1, math.Sqrt2 / 2, 0, -1}, 0: {1, math.Sqrt2 / 2, 0}, 0.1: {1, math.Sqrt2 / 2}, 1: {1}} {
		hits, err := v.Search(t.Context(), []float32{7, 0, 0}, 10, least)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, h := range hits {
			got = append(got, math.Round(h.Score*1e6)/1e6)
		}
		for i := range want {
			want[i] = math.Round(want[i]*1e6) / 1e6
		}
		if !gocmp.Equal(got, want) {
			t.Errorf("of at least %v: %v, want %v", least, got, want)
		}
	}
	_, err := v.Search(t.Context(), []float32{1, 0}, 1, 0)
	if typed, ok := errors.AsType[*search.DimensionError](err); !ok || typed.Got != 2 || typed.Want != 3 {
		t.Errorf("a query of another dimension: %v", err)
	}
	if _, err := v.Search(t.Context(), []float32{0, 0, 0}, 1, 0); err == nil {
		t.Error("a query without direction was searched for")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Search(ctx, []float32{1, 0, 0}, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search: %v", err)
	}
}

// A snapshot answers from its moment, and vectors that came since are seen by
// the next.
func TestVectorsSnapshot(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	b := newBag(64)
	model := search.VectorSpec{Model: "bag"}
	put(t, db, "/a", file("x.md", "", "alpha", "beta"), file("y.md", "", "gamma"))
	embed(t, db, model, b, "/a")
	old := searcher(t, db, "/a") // its vectors are read only below
	put(t, db, "/a", file("w.md", "", "delta", "omega"), file("x.md", "", "alpha", "zeta"))
	got, err := old.Vectors(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	if id := nearest(t, got, b, "gamma"); id != "y.md#0" {
		t.Errorf("the old snapshot finds %v", id)
	}
	if v := vectors(t, db, model, "/a"); v.Len() != 2 || v.Missing() != 3 {
		t.Errorf("before embedding %d vectors and %d missing, want 2 and 3", v.Len(), v.Missing())
	}
	embed(t, db, model, b, "/a")
	v := vectors(t, db, model, "/a")
	for text, id := range map[string]string{"alpha": "x.md#0", "zeta": "x.md#1", "gamma": "y.md#0", "delta": "w.md#0"} {
		if got := nearest(t, v, b, text); got != id {
			t.Errorf("%s: %v, want %s", text, got, id)
		}
	}
}

func BenchmarkVectors(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%dx384", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "index.db")
			db := open(b, path, index.Options{})
			randomIndex(b, db, n, 384)
			query := randomVector(rand.New(rand.NewPCG(3, 4)), 384)
			v := vectors(b, db, search.VectorSpec{Model: "fixed"}, "/a", "/b")
			b.Run("search", func(b *testing.B) {
				for b.Loop() {
					if _, err := v.Search(b.Context(), query, 100, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("load", func(b *testing.B) {
				for b.Loop() {
					fresh, err := index.Open(b.Context(), path, index.Options{})
					if err != nil {
						b.Fatal(err)
					}
					vectors(b, fresh, search.VectorSpec{Model: "fixed"}, "/a", "/b")
					if err := fresh.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
