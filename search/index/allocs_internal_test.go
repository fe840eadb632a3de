//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package index

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/state"
)

// TestSearchAllocations: what a search allocates does not grow with the hits, whose
// memory is two blocks and the ids that the index has.
func TestSearchAllocations(t *testing.T) {
	m := newMade(1, 600, 40, 3, true)
	s := searcherOf(t, DefaultRanking(), m.segment(t, 6000))
	s.terms = newTermCache(len(s.parts), keptImpacts)
	q := m.query(8)
	search := func(k int) float64 {
		return testing.AllocsPerRun(50, func() {
			if hits, err := s.Search(t.Context(), q, k); err != nil || len(hits) != k {
				t.Fatal(len(hits), err)
			}
		})
	}
	// Some are of the query's words.
	const most = 24
	for _, k := range []int{1, 10, 100, 1000} {
		if got := search(k); got > most {
			t.Errorf("a search for %d hits makes %v allocations, more than %d", k, got, most)
		}
	}
}

// TestFirstSearchAllocations: a search for terms that nobody asked for before allocates
// little more than one for terms that are known: what is known of each, what it gives,
// and memory that many share.
func TestFirstSearchAllocations(t *testing.T) {
	m := newMade(1, 600, 40, 3, true)
	s := searcherOf(t, DefaultRanking(), m.segment(t, 6000))
	q := m.query(8)
	terms := 0
	first := testing.AllocsPerRun(20, func() {
		s.terms = newTermCache(len(s.parts), keptImpacts)
		if hits, err := s.Search(t.Context(), q, 100); err != nil || len(hits) != 100 {
			t.Fatal(len(hits), err)
		}
		terms = len(s.terms.kept)
	})
	again := testing.AllocsPerRun(20, func() {
		if hits, err := s.Search(t.Context(), q, 100); err != nil || len(hits) != 100 {
			t.Fatal(len(hits), err)
		}
	})
	const once, each = 20, 6 // of the cache and of what a part's terms have in common, and of a term
	if most := again + once + each*float64(terms); first > most {
		t.Errorf("a first search for %d terms makes %v allocations, a second %v: more than %v", terms, first, again, most)
	}
	t.Logf("%d terms: %v allocations at first, %v again", terms, first, again)
}

// TestChunksAllocations: reading passages that nobody read before is one statement, and
// takes some thirty allocations each, most of them the driver's, for the columns of a row.
func TestChunksAllocations(t *testing.T) {
	const (
		n    = 10
		most = 36 * n // 29 when it was written, 34 without cgo
	)
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Put(t.Context(), "/docs", large(rand.New(rand.NewPCG(1, 2)), "a", 4*n)); err != nil {
		t.Fatal(err)
	}
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.parts[0].id(3 * i)
	}
	var statements int64
	got := testing.AllocsPerRun(20, func() {
		s.chunks = memo.New[string, *state.Chunk](n) // forgets what was read
		before := db.sql.Counters().Statements
		if chunks, err := s.Chunks(t.Context(), ids); err != nil || len(chunks) != n {
			t.Fatal(len(chunks), err)
		}
		statements = db.sql.Counters().Statements - before
	})
	t.Logf("%v allocations, %d statements", got, statements)
	if got > most || statements != 1 {
		t.Errorf("%d passages take %v allocations and %d statements; want at most %d and 1", n, got, statements, most)
	}
}

// TestSearchBesideMaps: adding up kept impacts takes a small part of the time of a
// search by maps that reads all postings, which both must agree on.
func TestSearchBesideMaps(t *testing.T) {
	m := newMade(2, 600, 40, 3, true)
	s := searcherOf(t, DefaultRanking(), m.segment(t, 6000))
	s.terms = newTermCache(len(s.parts), keptImpacts)
	q := m.query(8)
	least := func(runs int, do func() []candidate) (found []candidate, took time.Duration) {
		took = math.MaxInt64
		for range runs {
			begun := time.Now()
			found = do()
			took = min(took, time.Since(begun))
		}
		return found, took
	}
	want, byMaps := least(5, func() []candidate { return exhaustive(s, q, 100) })
	got, took := least(50, func() []candidate { return pruned(t, s, q, 100) })
	if !slices.Equal(got, want) {
		t.Error("the two find different passages")
	}
	const faster = 20 // 120 and more were measured
	if ratio := float64(byMaps) / float64(took); ratio < faster {
		t.Errorf("a search takes %v, one by maps %v: only %.1f times as long, not %d", took, byMaps, ratio, faster)
	} else {
		t.Logf("%.0f times as fast", ratio)
	}
}

// TestProbeAllocations: a search in clusters works in memory that is there.
func TestProbeAllocations(t *testing.T) {
	const most = 3 // 1 when it was written
	v := clumps(4000, 96, 12, 0.5)
	if _, err := v.cluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(50, func() {
		if _, err := v.approximate(t.Context(), v.row(7), measure{}, 20, v.near.probe, 0, all); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations", got)
	if got > most {
		t.Errorf("one search allocates %v times; want at most %d", got, most)
	}
}
