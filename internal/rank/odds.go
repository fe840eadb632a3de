package rank

import "math"

// misleading is the probability that a list is entirely wrong, so that all candidates are
// equally likely. It limits the influence of one list.
const misleading = 0.1

// Odds combines the probabilities of the same candidates in several lists: chances[l][i] is
// that of candidate i in list l, and weights[l] the weight of the list. Lists are assumed to
// err independently, so probabilities are multiplied, each to the power of its weight. A list
// of equal ones changes nothing. Those of a list need not add up to 1; the result does, unless
// there are no candidates.
func Odds(chances [][]float64, weights []float64) []float64 {
	if len(chances) == 0 {
		return nil
	}
	out := make([]float64, len(chances[0]))
	for l, list := range chances {
		all := 0.0
		for _, p := range list {
			all += p
		}
		even := 1 / float64(len(list))
		for i, p := range list {
			own := even
			if all > 0 {
				own = p / all
			}
			out[i] += float64(weights[l] * math.Log((1-misleading)*own+misleading*even))
		}
	}
	return Softmax(out, 1)
}

// Softmax turns scores into probabilities with the sum 1: a score that is greater by
// temperature is e times as likely.
func Softmax(scores []float64, temperature float64) []float64 {
	out := make([]float64, len(scores))
	top, all := math.Inf(-1), 0.0
	for _, s := range scores {
		top = max(top, s)
	}
	for i, s := range scores {
		out[i] = math.Exp((s - top) / temperature)
		all += out[i]
	}
	for i := range out {
		out[i] /= all
	}
	return out
}
