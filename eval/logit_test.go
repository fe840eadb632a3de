package eval_test

import (
	"math"
	"testing"

	"example.com/ragflow/skills/offline"
)

// example is one question: the features of the sentences or passages to choose
// from, and which of them are right.
type example struct {
	features [][]float64
	right    []bool
	weight   float64 // beside the others
}

// examplesOf makes examples of the questions whose answer was found at all.
func examplesOf(all []answered, ranker *offline.Answerer, _ string) []example {
	var out []example
	for _, a := range all {
		var e example
		found := false
		e.weight = 1
		for _, r := range ranker.Rank(a.task) {
			right := holdsAnswer(a, r)
			found = found || right
			e.features = append(e.features, r.Evidence)
			e.right = append(e.right, right)
		}
		if found {
			out = append(out, e)
		}
	}
	return out
}

// How long and how carefully is learnt.
const (
	rounds      = 500
	weightDecay = 3e-3 // slope of the penalty of squared weights of features of deviation 1, of sentences; held-out figures are flat around it
	firstStep   = 0.1
)

// logit fits the weights of a conditional logit: the chance of a choice is
// proportional to exp(w·f), and the chance that a right one is chosen is made as
// great as can be, less decay/2 times the squared weights. Steps follow Adam
// (Kingma and Ba 2015).
func logit(examples []example, n int, decay float64) []float64 {
	w, mean, square := make([]float64, n), make([]float64, n), make([]float64, n)
	all := 0.0
	for _, e := range examples {
		all += e.weight
	}
	for round := 1; round <= rounds; round++ {
		slope := make([]float64, n)
		for _, e := range examples {
			e.slope(w, slope)
		}
		fading, fadingSquare := 1-math.Pow(0.9, float64(round)), 1-math.Pow(0.999, float64(round))
		for k := range w {
			g := slope[k]/all - decay*w[k]
			mean[k] = 0.9*mean[k] + 0.1*g
			square[k] = 0.999*square[k] + 0.001*g*g
			w[k] += firstStep * (mean[k] / fading) / (math.Sqrt(square[k]/fadingSquare) + 1e-8)
		}
	}
	return w
}

// slope adds to out how the logarithm of the chance of a right choice grows
// with each weight.
func (e example) slope(w, out []float64) {
	chance, top := make([]float64, len(e.features)), math.Inf(-1)
	for i, f := range e.features {
		for k, v := range f {
			chance[i] += w[k] * v
		}
		top = max(top, chance[i])
	}
	var all, right float64
	for i := range chance {
		chance[i] = math.Exp(chance[i] - top)
		all += chance[i]
		if e.right[i] {
			right += chance[i]
		}
	}
	for i, f := range e.features {
		share := -chance[i] / all
		if e.right[i] {
			share += chance[i] / right
		}
		for k, v := range f {
			out[k] += e.weight * share * v
		}
	}
}

// TestLogit checks that a feature that tells right from wrong gets weight, and
// one that tells nothing gets hardly any.
func TestLogit(t *testing.T) {
	var examples []example
	for i := range 40 {
		noise := float64(i / 10 % 2)
		examples = append(examples, example{[][]float64{{1, noise}, {0.2, 1 - noise}, {0.1, noise}}, []bool{i%10 != 0, i%10 == 0, false}, 1})
	}
	w := logit(examples, 2, 1e-4)
	if w[0] < 1 || math.Abs(w[1]) > 0.5 {
		t.Errorf("weights %.2f, want the first above 1 and the second near 0", w)
	}
}
