package rank

import "math"

// minScores is the number of scores that [Spread] needs.
const minScores = 8

// Spread estimates the standard deviation of the scores of all passages from the best ones:
// that of the normal distribution in which, among all draws, those of the ranks len(scores)/4
// and len(scores) have the given distance. The best quarter is not used, because a passage that
// fits the query does not get its score by chance. scores are in order, best first. Differences
// in units of the spread can be compared between models. The result is 0 for fewer than 8
// scores, for equal ones and for those that are not numbers.
func Spread(scores []float64, all int) float64 {
	n := len(scores)
	if n < minScores {
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
