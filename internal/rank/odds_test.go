package rank_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/internal/rank"
)

// TestSpread finds the standard deviation of normal scores from the best of them, even if some are not there
// by chance.
func TestSpread(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name            string
		all, best       int
		deviation, mean float64
		relevant        int // scores far above all others
	}{
		{"of many", 20000, 80, 0.03, 0.8, 0},
		{"relevant ones among them", 20000, 80, 0.03, 0.8, 5},
		{"all there are", 300, 300, 12, -4, 0},
		{"a few of a thousand", 1000, 20, 1, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const draws = 40
			mean := 0.0
			for range draws {
				scores := make([]float64, tt.all)
				for i := range scores {
					scores[i] = tt.mean + tt.deviation*random.NormFloat64()
					if i < tt.relevant {
						scores[i] = tt.mean + tt.deviation*(7+float64(i))
					}
				}
				slices.Sort(scores)
				slices.Reverse(scores)
				mean += rank.Spread(scores[:tt.best], tt.all) / draws
			}
			if math.Abs(mean/tt.deviation-1) > 0.25 {
				t.Errorf("got %v in the mean, want about %v", mean, tt.deviation)
			}
		})
	}
	for _, tt := range []struct {
		name   string
		scores []float64
	}{
		{"none", nil},
		{"few", []float64{7, 6, 5, 4, 3, 2, 1}},
		{"equal", slices.Repeat([]float64{0.5}, 20)},
		{"no numbers", slices.Repeat([]float64{math.NaN()}, 20)},
		{"without end", append(slices.Repeat([]float64{math.Inf(1)}, 10), slices.Repeat([]float64{1}, 10)...)},
	} {
		if got := rank.Spread(tt.scores, 100); got != 0 {
			t.Errorf("%s: got %v, want 0", tt.name, got)
		}
	}
}

func TestOdds(t *testing.T) {
	sure, unsure, contrary := []float64{0.98, 0.01, 0.01}, []float64{0.4, 0.3, 0.3}, []float64{0.05, 0.9, 0.05}
	even := []float64{1, 1, 1}
	for _, tt := range []struct {
		name    string
		chances [][]float64
		weights []float64
		want    []int // candidates, the most likely first
	}{
		{"one list", [][]float64{contrary}, []float64{1}, []int{1, 0, 2}},
		{"the sure one decides", [][]float64{sure, contrary}, []float64{1, 0.3}, []int{0, 1, 2}},
		{"against an unsure one", [][]float64{unsure, contrary}, []float64{1, 1}, []int{1, 0, 2}},
		{"what tells nothing changes nothing", [][]float64{even, unsure}, []float64{5, 1}, []int{0, 1, 2}},
		{"without weight it has no say", [][]float64{contrary, unsure}, []float64{0, 1}, []int{0, 1, 2}},
		{"no chances at all are even ones", [][]float64{{0, 0, 0}, contrary}, []float64{1, 1}, []int{1, 0, 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := rank.Odds(tt.chances, tt.weights)
			sum := 0.0
			for _, p := range got {
				sum += p
			}
			order := []int{0, 1, 2}
			slices.SortStableFunc(order, func(a, b int) int {
				if math.Abs(got[a]-got[b]) < 1e-9 {
					return 0
				}
				return int(math.Copysign(1, got[b]-got[a]))
			})
			if diff := cmp.Diff(tt.want, order); diff != "" || math.Abs(sum-1) > 1e-12 {
				t.Errorf("chances %v, sum %v, order (-want +got):\n%s", got, sum, diff)
			}
		})
	}
	if got := rank.Odds(nil, nil); len(got) != 0 {
		t.Errorf("of no lists: %v", got)
	}
	if got := rank.Odds([][]float64{{}, {}}, []float64{1, 1}); len(got) != 0 {
		t.Errorf("of no candidates: %v", got)
	}
}

func TestSoftmax(t *testing.T) {
	for _, tt := range []struct {
		name        string
		scores      []float64
		temperature float64
		want        []float64
	}{
		{"none", nil, 1, []float64{}},
		{"a temperature apart", []float64{0.82, 0.81}, 0.01, []float64{math.E / (1 + math.E), 1 / (1 + math.E)}},
		{"great ones", []float64{1e6, 1e6 - 1e5}, 1, []float64{1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rank.Softmax(tt.scores, tt.temperature), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
