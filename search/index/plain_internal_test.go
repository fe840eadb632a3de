package index

import (
	"slices"
	"testing"
)

// TestSplit: what terms give is the same whether the processor looks at one posting at a
// time or at many, and so is where damaged postings end.
func TestSplit(t *testing.T) {
	able := widest
	t.Cleanup(func() { widest = able })
	if !able {
		t.Log("this processor looks at one at a time alone")
	}
	for chunks := 1; chunks <= 3; chunks++ {
		m := newMade(uint64(6+chunks), 200, 40, chunks, true)
		s := searcherOf(t, DefaultRanking(), m.segment(t, 3000))
		s.terms = newTermCache(len(s.parts), keptImpacts)
		for n := range 400 {
			term := s.newTerm(m.word())
			if e := &term.parts[0].entry; n%4 == 3 { // damaged
				e.postings = slices.Clone(e.postings)
				for range 1 + n%3 {
					if len(e.postings) > 0 {
						e.postings[m.r.IntN(len(e.postings))] ^= byte(1 << m.r.IntN(8))
					}
				}
			}
			var made [2]impactsMaker
			for way := range made {
				widest = able && way == 1
				made[way].make(s, 0, term)
			}
			one, many := &made[0].impacts, &made[1].impacts
			if !slices.Equal(one.plain, many.plain) || !slices.Equal(one.sums, many.sums) || !slices.Equal(one.of, many.of) || one.several != many.several {
				t.Fatalf("%q: many at once give %v, one at a time %v", term.name, many, one)
			}
		}
	}
}
