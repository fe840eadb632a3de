package rank

import "math"

// astray is the chance that a list is no guide at all, and any candidate as likely
// as another: however sure one list is, another can still be heard. Anything from
// 0.02 to 0.2 does as well.
const astray = 0.1

// Odds joins what several lists say of the same candidates: chances[l][i] is how
// likely candidate i is the one asked for, as list l alone has it, and weights[l] how
// much that list counts. Lists are taken to be mistaken independently of each other,
// so their chances multiply, each to the power of its weight; a list that tells no
// candidate from another changes nothing. The chances of a list need not add up to 1.
// The result does, unless there are no candidates.
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
			out[i] += float64(weights[l] * math.Log((1-astray)*own+astray*even))
		}
	}
	return Softmax(out, 1)
}

// Softmax makes chances of scores, which together have 1: a score that is greater by
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
