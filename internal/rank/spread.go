package rank

import "math"

// fewestScores is the number of scores that [Spread] needs.
const fewestScores = 8

// Spread estimates how much the scores of all passages differ, from the best ones alone:
// it is the standard deviation of the normal distribution in which, of all draws, those
// of the ranks len(scores)/4 and len(scores) are as far apart as here. The best quarter
// is not used, because what fits the query has no score by chance. scores are in order,
// best first. Differences in units of the spread can be compared between models. The
// result is 0 for fewer than 8 scores, for equal ones and for those that are not numbers.
func Spread(scores []float64, all int) float64 {
	n := len(scores)
	if n < fewestScores {
		return 0
	}
	all = max(all, n)
	quantile := func(rank int) float64 {
		return math.Sqrt2 * math.Erfinv(1-2*(float64(rank)+0.5)/float64(all))
	}
	from, to := n/4, n-1
	spread := (scores[from] - scores[to]) / (quantile(from) - quantile(to))
	if !(spread > 0) || math.IsInf(spread, 1) {
		return 0
	}
	return spread
}
