package index

import (
	"math"
	"slices"
	"testing"
)

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
					held += made.room()
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

// TestGreatestOf: the greatest of each strip is the same whatever the processor can do,
// and each score is in one strip.
func TestGreatestOf(t *testing.T) {
	m := newMade(6, 10, 1, 1, false)
	for _, groups := range []int{0, 1, 7, 162} {
		scores := make([]float64, groups*stripWidth)
		for i := range scores {
			if m.r.IntN(3) > 0 {
				scores[i] = m.r.ExpFloat64()
			}
		}
		got, want := make([]float64, groups*strips), make([]float64, groups*strips)
		gotMost, wantMost := greatestOf(scores, got), greatestPlain(scores, want)
		if !slices.Equal(got, want) || gotMost != wantMost || groups > 0 && wantMost != slices.Max(scores) {
			t.Errorf("of %d groups of strips the greatest are %v and %v, want %v and %v", groups, got, gotMost, want, wantMost)
		}
		seen := map[*float64]bool{}
		for n := range want {
			for strip, i := stripOf(scores, n), 0; i < len(strip); i += strips {
				seen[&strip[i]] = true
				if strip[i] > want[n] {
					t.Errorf("strip %d of %d groups has %v above its greatest %v", n, groups, strip[i], want[n])
				}
			}
		}
		if len(seen) != len(scores) {
			t.Errorf("%d scores of %d are in strips", len(seen), len(scores))
		}
	}
}
