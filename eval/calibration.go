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

// Bin is one point of a reliability diagram: the cases whose scores lie near each
// other, with their mean score and the share of them that is true.
type Bin struct {
	Low   float64 // of the scores
	High  float64 // of the scores; it belongs to the next bin, except in the last one
	N     int     // cases
	Score float64 // mean; 0 where N is 0
	Share float64 // of true cases; 0 where N is 0
}

// CalibrationBins is the customary number of bins.
const CalibrationBins = 10

// Reliability returns n bins of equal width from 0 to 1; n is at least 1. Scores
// outside count with the nearest end.
func Reliability(graded []Graded, n int) []Bin {
	bins := make([]Bin, n)
	for i := range bins {
		bins[i].Low, bins[i].High = float64(i)/float64(n), float64(i+1)/float64(n)
	}
	for _, g := range graded {
		score := min(max(g.Score, 0), 1)
		b := &bins[min(int(score*float64(n)), n-1)]
		b.N++
		b.Score += score
		b.Share += yes(g.True)
	}
	for i := range bins { // sums become means
		n := float64(max(1, bins[i].N))
		bins[i].Score /= n
		bins[i].Share /= n
	}
	return bins
}

// CalibrationError is the expected calibration error over the bins of a reliability
// diagram: the mean distance between score and share of true cases, each bin weighted
// by its cases (Naeini et al. 2015). It is 0 without any case.
func CalibrationError(bins []Bin) float64 {
	var sum, n float64
	for _, b := range bins {
		sum += float64(b.N) * math.Abs(b.Score-b.Share)
		n += float64(b.N)
	}
	return sum / max(1, n)
}

// CertaintySummary tells what the certainty of answers, their grade, is worth. An AUROC
// is left out where one of the two kinds is missing.
type CertaintySummary struct {
	RightAUROC       *float64 `json:"auroc_right,omitempty"` // right answers against wrong ones, see [AUROC]
	AUROC            *float64 `json:"auroc,omitempty"`       // answerable questions against others
	CalibrationError float64  `json:"calibration_error"`     // of answerable questions, see [CalibrationError]
}

// certainty sums up the grades of the questions that did not fail, nil where they tell
// nothing apart.
func (r *Result) certainty() *CertaintySummary {
	var answerable, right []Graded
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Error == "" {
			answerable = append(answerable, Graded{o.Grade.Score, o.answerable()})
		}
		if !o.Abstained && o.Verdict != "" {
			right = append(right, Graded{o.Grade.Score, o.Verdict == VerdictRight})
		}
	}
	s := &CertaintySummary{CalibrationError: CalibrationError(Reliability(answerable, CalibrationBins))}
	if area, ok := AUROC(answerable); ok {
		s.AUROC = &area
	}
	if area, ok := AUROC(right); ok {
		s.RightAUROC = &area
	}
	if s.AUROC == nil && s.RightAUROC == nil {
		return nil
	}
	return s
}
