package eval

import (
	"cmp"
	"math"
	"slices"
)

// Graded is a grade with the true outcome.
type Graded struct {
	Score float64 // 0 to 1; a higher score means a more likely answer in the documents
	True  bool    // the documents contain the answer
}

// AUROC is the area under the receiver operating characteristic: how often a true case has a higher score
// than a false one, with ties counting one half (Mann and Whitney's statistic divided by the number of
// pairs). 0.5 is chance, 1 a perfect order. ok is false if there are no cases of one kind.
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

// CalibrationError is the expected calibration error: the mean distance between score and share of true cases
// in ten bins of equal width, each weighted by its cases (Naeini et al. 2015). It is 0 without cases.
func CalibrationError(graded []Graded) float64 {
	var excess [10]float64 // sum of the scores of a bin minus its true cases
	for _, g := range graded {
		score := min(max(g.Score, 0), 1)
		excess[min(int(score*float64(len(excess))), len(excess)-1)] += score - yes(g.True)
	}
	sum := 0.0
	for _, e := range excess {
		sum += math.Abs(e)
	}
	return sum / float64(max(1, len(graded)))
}

// certainty returns the AUROC of the grades of right and wrong answers; nil if there are none of one kind.
func (r *Result) certainty() *float64 {
	var right []Graded
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; !o.Reply.Abstained && o.Verdict != "" {
			right = append(right, Graded{o.Reply.Grade.Score, o.Verdict == VerdictRight})
		}
	}
	if area, ok := AUROC(right); ok {
		return &area
	}
	return nil
}
