package eval_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/eval"
)

// TestRankingMetrics compares with values computed by hand from the definitions of trec_eval; log2(3) =
// 1.5850, log2(4) = 2, log2(6) = 2.5850.
func TestRankingMetrics(t *testing.T) {
	eleven := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}
	for _, tt := range []struct {
		name    string
		ranking []string
		gains   map[string]int
		want    map[string]float64
	}{
		{"one relevant, first", []string{"a", "b"}, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 1, "recall_5": 1, "recall_10": 1, "recall_20": 1, "recall_100": 1, "mrr": 1,
		}},
		{"two of three relevant, second and third", []string{"x", "a", "b"}, map[string]int{"a": 1, "b": 1, "c": 1}, map[string]float64{
			"ndcg_10":  (1/math.Log2(3) + 1/math.Log2(4)) / (1 + 1/math.Log2(3) + 1/math.Log2(4)), // 0.5307
			"recall_5": 2.0 / 3, "recall_10": 2.0 / 3, "recall_20": 2.0 / 3, "recall_100": 2.0 / 3, "mrr": 0.5,
		}},
		{"graded, the better one later", []string{"a", "x", "b"}, map[string]int{"a": 1, "b": 3, "n": 0}, map[string]float64{
			"ndcg_10":  (1 + 3/2.0) / (3 + 1/math.Log2(3)), // 0.6885
			"recall_5": 1, "recall_10": 1, "recall_20": 1, "recall_100": 1, "mrr": 1,
		}},
		{"found at rank 11", eleven, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_20": 1, "recall_100": 1, "mrr": 1.0 / 11,
		}},
		{"nothing found", nil, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_20": 0, "recall_100": 0, "mrr": 0,
		}},
		{"nothing relevant", []string{"a"}, nil, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_20": 0, "recall_100": 0, "mrr": 0,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := eval.RankingMetrics(tt.ranking, tt.gains)
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
			if diff := cmp.Diff(tt.want, got, near); diff != "" {
				t.Errorf("RankingMetrics (-want +got):\n%s", diff)
			}
		})
	}
}

func ExampleRankingMetrics() {
	m := eval.RankingMetrics([]string{"setup.md", "volumes.md", "backup.md"}, map[string]int{"volumes.md": 1, "backup.md": 1})
	fmt.Printf("nDCG@10 %.3f, MRR %.2f\n", m["ndcg_10"], m["mrr"])
	// Output: nDCG@10 0.693, MRR 0.50
}
