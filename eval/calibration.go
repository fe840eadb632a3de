package eval

import (
	"cmp"
	"math"
	"slices"
)

// Graded is a grade beside the truth.
type Graded struct {
	Score float64 // 0 to 1; the higher, the surer that the documents hold the answer
	True  bool    // whether they do
}

// AUROC is the area under the receiver operating characteristic: how often a
// true case has a higher score than a false one, a tie counting one half
// (the statistic of Mann and Whitney over the number of pairs). 0.5 is chance,
// 1 a perfect order. ok is false where one of the two kinds is missing.
func AUROC(graded []Graded) (area float64, ok bool) {
	sorted := slices.Clone(graded)
	slices.SortFunc(sorted, func(a, b Graded) int { return cmp.Compare(a.Score, b.Score) })
	var positives, negatives, wins float64
	for i := 0; i < len(sorted); {
		var pos, neg float64
		score := sorted[i].Score
		for ; i < len(sorted) && sorted[i].Score == score; i++ {
			if sorted[i].True {
				pos++
			} else {
				neg++
			}
		}
		wins += pos * (negatives + neg/2)
		positives += pos
		negatives += neg
	}
	if positives == 0 || negatives == 0 {
		return 0, false
	}
	return wins / (positives * negatives), true
}

// BalancedAccuracy is the mean of the share of true cases whose score is at
// least cut and the share of false cases whose score is below it. ok is false
// where one of the two kinds is missing.
func BalancedAccuracy(graded []Graded, cut float64) (accuracy float64, ok bool) {
	var n, right [2]float64
	for _, g := range graded {
		kind := 0
		if g.True {
			kind = 1
		}
		n[kind]++
		if g.True == (g.Score >= cut) {
			right[kind]++
		}
	}
	if n[0] == 0 || n[1] == 0 {
		return 0, false
	}
	return (right[0]/n[0] + right[1]/n[1]) / 2, true
}

// Bin is one point of a reliability diagram: the cases whose scores lie near
// each other, what the scores promise and what came true.
type Bin struct {
	Low   float64 `json:"low"`   // of the scores
	High  float64 `json:"high"`  // of the scores; it belongs to the next bin, but for the last one
	N     int     `json:"n"`     // cases
	Score float64 `json:"score"` // mean score; 0 where N is 0
	Share float64 `json:"share"` // of true cases; 0 where N is 0
}

// CalibrationBins is the customary number of bins.
const CalibrationBins = 10

// Reliability returns n bins of equal width from 0 to 1. Scores outside count
// with the nearest end, those that are no numbers are left out.
func Reliability(graded []Graded, n int) []Bin {
	bins := make([]Bin, max(0, n))
	if n < 1 {
		return bins
	}
	for i := range bins {
		bins[i].Low, bins[i].High = float64(i)/float64(n), float64(i+1)/float64(n)
	}
	for _, g := range graded {
		if math.IsNaN(g.Score) {
			continue
		}
		score := min(max(g.Score, 0), 1)
		bins[min(int(score*float64(n)), n-1)].add(score, g.True)
	}
	for i := range bins {
		bins[i].close()
	}
	return bins
}

func (b *Bin) add(score float64, isTrue bool) {
	b.N++
	b.Score += score
	if isTrue {
		b.Share++
	}
}

// close turns sums into means.
func (b *Bin) close() {
	if b.N > 0 {
		b.Score /= float64(b.N)
		b.Share /= float64(b.N)
	}
}

// CalibrationError is the expected calibration error over the bins of a
// reliability diagram: the mean distance between the score and the share of
// true cases, each bin weighed by its cases (Naeini et al. 2015). 0 means that
// of all cases graded 0.70, seven in ten are true; 0 too without any case.
func CalibrationError(bins []Bin) float64 {
	var sum, n float64
	for _, b := range bins {
		sum += float64(b.N) * math.Abs(b.Score-b.Share)
		n += float64(b.N)
	}
	if n == 0 {
		return 0
	}
	return sum / n
}
