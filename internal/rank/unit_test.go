package rank_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/internal/rank"
)

// Results lie within 0 and 1 for negative logits, too.
func TestUnit(t *testing.T) {
	for _, tt := range []struct {
		name       string
		give, want []float64
	}{
		{"none", nil, []float64{}},
		{"probabilities stay", []float64{0, 0.3, 1}, []float64{0, 0.3, 1}},
		{"logits", []float64{-11, 0, 4}, []float64{1.670142184809518e-05, 0.5, 0.9820137900379085}},
		{"all negative", []float64{-2, -1}, []float64{0.11920292202211755, 0.2689414213699951}},
		{"extreme", []float64{math.Inf(-1), -1e308, 1e308, math.NaN()}, []float64{0, 0, 1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rank.Unit(tt.give), cmpopts.EquateApprox(0, 1e-15)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
