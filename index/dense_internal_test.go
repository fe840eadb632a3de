package index

import (
	"math"
	"slices"
	"testing"
	"time"
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
	// Some are of the query's words; the race detector makes pools forget.
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
	if testing.Short() { // as the race detector runs it, which makes pools forget
		return
	}
	const once, each = 20, 6 // of the cache and of what a part's terms have in common, and of a term
	if most := again + once + each*float64(terms); first > most {
		t.Errorf("a first search for %d terms makes %v allocations, a second %v: more than %v", terms, first, again, most)
	}
	t.Logf("%d terms: %v allocations at first, %v again", terms, first, again)
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
	if testing.Short() { // as the race detector runs it, which slows the two by different factors
		return
	}
	const faster = 20 // 120 and more were measured
	if ratio := float64(byMaps) / float64(took); ratio < faster {
		t.Errorf("a search takes %v, one by maps %v: only %.1f times as long, not %d", took, byMaps, ratio, faster)
	} else {
		t.Logf("%.0f times as fast", ratio)
	}
}

// TestTermCacheIsBounded: what is kept of terms stays within its room, whatever
// is asked.
func TestTermCacheIsBounded(t *testing.T) {
	const most = 5000
	m := newMade(3, 600, 40, 3, true)
	s := searcherOf(t, DefaultRanking(), m.segment(t, 1000), m.segment(t, 300))
	s.terms = newTermCache(len(s.parts), most)
	emptied := false
	for n := range 200 {
		before := len(s.terms.kept)
		if _, err := s.Search(t.Context(), m.query(1+n%9), 10); err != nil {
			t.Fatal(err)
		}
		emptied = emptied || len(s.terms.kept) < before
		held := 0
		for _, term := range s.terms.kept {
			held += termImpacts + partImpacts*len(term.parts)
			for i := range term.parts {
				if made := term.parts[i].impacts.Load(); made != nil {
					held += len(made.chunks) + len(made.several)
				}
			}
		}
		if held > most {
			t.Fatalf("after %d queries %d impacts are kept, more than %d", n+1, held, most)
		}
	}
	if !emptied {
		t.Error("the room was never full: the test asks for too little")
	}
}

// TestFloorOf: at least k scores are not below the floor, and where they differ
// not many more.
func TestFloorOf(t *testing.T) {
	m := newMade(4, 10, 1, 1, false)
	for _, row := range []struct {
		name  string
		score func(i int) float64
		most  int // scores that reach the floor of the best 100 of 1000
	}{
		{"of all sizes", func(int) float64 { return 20 * m.r.Float64() }, 110},
		{"equal", func(int) float64 { return 7 }, 1000},
		{"tiny", func(i int) float64 { return float64(i) * math.SmallestNonzeroFloat64 }, 1000},
		{"huge", func(i int) float64 { return float64(i) / 1000 * math.MaxFloat64 }, 110},
		{"one far ahead", func(i int) float64 { return math.Pow(1.01, float64(i)) }, 110},
		{"few above none", func(i int) float64 { return float64(i % 20 / 19) }, 50},
		{"none", func(int) float64 { return 0 }, 0},
		{"infinite", func(i int) float64 { return float64(i) * math.Inf(1) }, 1000},
	} {
		scores, greatest := make([]float64, 1000), 0.0
		for i := range scores {
			if scores[i] = row.score(i + 1); scores[i] > greatest {
				greatest = scores[i]
			}
		}
		floor, above, reach := floorOf(scores, 100, greatest), 0, 0
		for _, v := range scores {
			if v > 0 {
				above++
			}
			if math.Float64bits(v) >= floor {
				reach++
			}
		}
		if reach < min(100, above) || reach > row.most {
			t.Errorf("%s: %d of %d scores above 0 reach the floor, want %d to %d", row.name, reach, above, min(100, above), row.most)
		}
	}
}
