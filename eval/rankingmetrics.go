package eval

import (
	"math"
	"slices"

	"example.com/ragflow/search"
)

// Names of the metrics of retrieval, besides MetricNDCG and MetricMRR.
const (
	MetricRecall5   = "recall_5"
	MetricRecall10  = "recall_10"
	MetricRecall100 = "recall_100"
	MetricMAP       = "map"
)

// RetrievalMetrics lists the metrics of a retrieval run in the order of reports:
// those of the search as it is configured, then those of its legs.
//
// They are those of trec_eval: ndcg_cut_10, recall_5, recall_10, recall_100,
// recip_rank and map, as means over all queries that have a relevant document;
// what a run says nothing of counts 0 (trec_eval -c).
func RetrievalMetrics() []Metric {
	whole := []Metric{
		{Name: MetricNDCG, About: "order of the first 10 documents, against the best order"},
		{Name: MetricRecall5, About: "share of the relevant documents among the first 5"},
		{Name: MetricRecall10, About: "share of the relevant documents among the first 10"},
		{Name: MetricRecall100, About: "share of the relevant documents among the first 100"},
		{Name: MetricMRR, About: "mean of 1/rank of the first relevant document"},
		{Name: MetricMAP, About: "mean of the precision at each relevant document"},
	}
	all := slices.Clone(whole)
	for _, leg := range []struct{ name, about string }{
		{search.LegLexical, "the same, by the search by words alone"},
		{search.LegDense, "the same, by the search by meaning alone"},
	} {
		for _, m := range whole {
			all = append(all, Metric{Name: legMetric(m.Name, leg.name), About: leg.about})
		}
	}
	return all
}

// discount is the weight of a gain at a place, from 0.
func discount(place int) float64 { return 1 / math.Log2(float64(place+2)) }

// RankingMetrics are the metrics of one ranking of distinct documents, best
// first, by name: each between 0 and 1, and 0 where nothing is relevant. gains
// are the relevant documents with how much they are, 1 and more.
//
//	ndcg_10    DCG of the first 10 over that of the best order; DCG = Σ gain/log2(rank+1)
//	           (Järvelin and Kekäläinen 2002, with linear gains as in trec_eval)
//	recall_k   relevant documents among the first k, of all relevant ones
//	mrr        1/rank of the first relevant document
//	map        Σ over relevant documents found of the precision at their rank, of all relevant ones
func RankingMetrics(ranking []string, gains map[string]int) map[string]float64 {
	var dcg, ideal, precision, reciprocal float64
	found := 0
	within := map[int]int{}
	for i, document := range ranking {
		gain := gains[document]
		if gain <= 0 {
			continue
		}
		found++
		precision += float64(found) / float64(i+1)
		if found == 1 {
			reciprocal = 1 / float64(i+1)
		}
		if i < 10 {
			dcg += float64(gain) * discount(i)
		}
		for _, k := range []int{5, 10, 100} {
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
		MetricRecall100: float64(within[100]) / all,
		MetricMRR:       reciprocal,
		MetricMAP:       precision / all,
	}
}
