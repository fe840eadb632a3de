package eval_test

import (
	"context"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/beir"
	"example.com/ragflow/search"
)

// noVectors makes no vectors while a test asks nothing, so that its figures are the same on a slow machine.
var noVectors = search.Dense{Leg: search.LegLexical}

// judgedSet is a set of queries with judgements.
type judgedSet struct {
	name    string
	queries []beir.Query
}

// figures holds the metrics of a set, by name: a value for each query, in order.
type figures map[string][]float64

func (f figures) mean(metric string) float64 { return eval.Mean(f[metric]) }

// over returns the mean difference in nDCG to other figures of the same queries, and its 95 % interval.
func (f figures) over(other figures) (difference float64, interval eval.Interval) {
	differences := make([]float64, len(f[eval.MetricNDCG]))
	for i, v := range f[eval.MetricNDCG] {
		differences[i] = v - other[eval.MetricNDCG][i]
	}
	return eval.Mean(differences), eval.Bootstrap(differences)
}

// retriever is the search to measure.
type retriever interface {
	Search(ctx context.Context, query string, o ragflow.SearchOptions) (*ragflow.SearchReply, error)
}

// measure searches for every query and measures the first 100 documents: passages of one document count as
// one, at the best rank.
func (s judgedSet) measure(t *testing.T, from retriever) figures {
	t.Helper()
	all := make([]map[string]float64, len(s.queries))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range s.queries {
		group.Go(func() error {
			ranking, err := rankDocuments(ctx, from, q.Text)
			all[i] = eval.RankingMetrics(ranking, q.Gains)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	out := figures{}
	for _, metrics := range all {
		for name, value := range metrics {
			out[name] = append(out[name], value)
		}
	}
	return out
}

// rankDocuments searches until it has 100 documents or all.
func rankDocuments(ctx context.Context, from retriever, query string) ([]string, error) {
	const depth = 100
	for k := 2 * depth; ; k *= 4 {
		reply, err := from.Search(ctx, query, ragflow.SearchOptions{Request: search.Request{K: k, Ranks: true}, Plain: true})
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		var documents []string
		for _, h := range reply.Hits {
			if !seen[h.Source] && len(documents) < depth {
				seen[h.Source] = true
				documents = append(documents, h.Source)
			}
		}
		if len(documents) == depth || len(reply.Hits) < k {
			return documents, nil
		}
	}
}
