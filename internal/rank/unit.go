package rank

import "math"

// Unit scales the scores of a reranker to 0–1 and keeps their order. Scores within 0 and 1 do
// not change; others are logits, and become probabilities by the logistic function 1/(1+e^−x).
// NaN counts as 0.
func Unit(scores []float64) []float64 {
	logits := false
	for _, s := range scores {
		logits = logits || s < 0 || s > 1
	}
	out := make([]float64, len(scores))
	for i, s := range scores {
		switch {
		case math.IsNaN(s):
		case logits:
			out[i] = 1 / (1 + math.Exp(-s))
		default:
			out[i] = s
		}
	}
	return out
}
