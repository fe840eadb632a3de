package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHope offers texts in any order, as a search does: what cannot reach the floor is
// passed over. The k best are found, also where the first texts are not as the rest, and
// where they are, seldom by going through all twice.
func TestHope(t *testing.T) {
	const texts, k = 20_000, 20
	better := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunk, b.chunk))
	}
	search := func(scores []float64) (best []candidate, rounds int) {
		found := newTop(k, better)
		for rounds = 1; ; rounds++ {
			for i, v := range scores {
				if v >= found.floor() {
					found.offer(candidate{chunk: i, score: v})
				}
				if i%100 == 99 {
					found.hope(float64(i+1) / texts)
				}
			}
			if found.held() {
				return found.ranked(), rounds
			}
		}
	}
	orders := map[string]func(scores []float64){
		"any order":   func([]float64) {},
		"best first":  func(s []float64) { slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(b, a) }) },
		"worst first": slices.Sort[[]float64],
		"a few":       func(s []float64) { clear(s[10:]) },
		"all alike":   func(s []float64) { clear(s) },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			r, again := rand.New(rand.NewPCG(1, 2)), 0
			const searches = 50
			for range searches {
				scores := make([]float64, texts)
				for i := range scores {
					scores[i] = float64(r.IntN(5000)) * r.Float64()
				}
				order(scores)
				want := make([]candidate, texts)
				for i, v := range scores {
					want[i] = candidate{chunk: i, score: v}
				}
				slices.SortFunc(want, better)
				got, rounds := search(scores)
				if !slices.Equal(got, want[:k]) {
					t.Fatalf("after %d rounds: got %v, want %v", rounds, got, want[:k])
				}
				again += rounds - 1
			}
			if name == "any order" && again > searches/10 || name == "best first" && again < searches || again > searches {
				t.Errorf("%d of %d searches went through all again", again, searches)
			}
		})
	}
}
