package rank

import "math"

// fewestScores is how many scores [Spread] wants: of fewer, where a quarter of them
// ends says nothing.
const fewestScores = 8

// Spread estimates from the best scores of a search alone how much the scores of all
// passages differ: the standard deviation of the normal distribution of which all
// draws have their ranks len(scores)/4 and len(scores) as far apart as these are. The
// best quarter has no say: what fits the query has no score by chance. scores are in
// order, best first. So scores of different measures and models become alike: a lead
// of one spread is as much in each. 0 where it cannot be told: of fewer than 8 scores,
// of equal ones, and of those that are no numbers.
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
