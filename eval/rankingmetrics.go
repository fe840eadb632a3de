package eval

import (
	"math"
	"slices"
)

// Names of the metrics of [RankingMetrics], in addition to MetricNDCG and MetricMRR.
const (
	MetricRecall5   = "recall_5"
	MetricRecall10  = "recall_10"
	MetricRecall100 = "recall_100"
)

// discount returns the weight of a gain at a position, from 0.
func discount(place int) float64 { return 1 / math.Log2(float64(place+2)) }

// RankingMetrics returns the metrics of a ranking of distinct documents, best first, by name, as in
// trec_eval: each between 0 and 1, and 0 if nothing is relevant. gains are the relevant documents with their
// gain, 1 or more.
//
//	ndcg_10    DCG of the first 10 over that of the best order; DCG = Σ gain/log2(rank+1)
//	           (Järvelin and Kekäläinen 2002, with linear gains as in trec_eval)
//	recall_k   relevant documents among the first k, of all relevant ones
//	mrr        1/rank of the first relevant document
func RankingMetrics(ranking []string, gains map[string]int) map[string]float64 {
	var dcg, ideal, reciprocal float64
	within := map[int]int{}
	for i, document := range ranking {
		gain := gains[document]
		if gain <= 0 {
			continue
		}
		if reciprocal == 0 {
			reciprocal = 1 / float64(i+1)
		}
		if i < 10 {
			dcg += float64(gain) * discount(i)
		}
		for _, k := range []int{5, 10, 20, 100} {
			if i < k {
				within[k]++
			}
		}
	}
	best := []int{}
	for _, gain := range gains {
		if gain > 0 {
			best = append(best, gain)
		}
	}
	slices.Sort(best)
	slices.Reverse(best)
	for i, gain := range best[:min(10, len(best))] {
		ideal += float64(gain) * discount(i)
	}
	all := math.Max(1, float64(len(best)))
	return map[string]float64{
		MetricNDCG:      dcg / math.Max(ideal, math.SmallestNonzeroFloat64),
		MetricRecall5:   float64(within[5]) / all,
		MetricRecall10:  float64(within[10]) / all,
		"recall_20":     float64(within[20]) / all,
		MetricRecall100: float64(within[100]) / all,
		MetricMRR:       reciprocal,
	}
}
