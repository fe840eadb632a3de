package eval_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/beir"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/search"
	"example.com/ragflow/search/pgvector"
	"example.com/ragflow/search/weaviate"
)

// maxLoss is how much lower a mean on a server may be than that of the embedded index. Larger differences are
// documented: one of 35 questions can change it by .03.
const maxLoss = 0.02

// TestIntegrationServers measures lexical search on each running server beside the embedded index.
// docs/scaling.md has the figures, and the reasons for differences.
func TestIntegrationServers(t *testing.T) {
	place := fmt.Sprintf("Quality%d", time.Now().UnixNano())
	servers := map[string]func(ctx context.Context, set string) (search.Backend, error){}
	if address := os.Getenv("RAGFLOW_TEST_WEAVIATE"); address != "" {
		host, query, _ := strings.Cut(address, "?")
		servers["Weaviate"] = func(ctx context.Context, set string) (search.Backend, error) {
			return weaviate.Open(ctx, host+"/"+place+set+"?"+query, weaviate.Options{})
		}
	}
	if address := os.Getenv("RAGFLOW_TEST_PGVECTOR"); address != "" {
		servers["pgvector"] = func(ctx context.Context, set string) (search.Backend, error) {
			return pgvector.Open(ctx, address+"&search_path="+strings.ToLower(place+set), "")
		}
	}
	if len(servers) == 0 {
		t.Skip("no server of an index: run scripts/servers/weaviate start or scripts/servers/pgvector start, and set the variable it writes")
	}
	sciFact := floorSets()[0]
	some := sciFact.judged(t)
	some.queries = some.queries[:100]
	for _, set := range []hybridSet{
		{name: "Docker", judged: dockerDev(t), corpus: golden.Public(t, "docker-docs"), folder: true},
		{name: "SciFact", judged: some, corpus: sciFact.corpus},
	} {
		t.Run(set.name, func(t *testing.T) {
			config := ragflow.Config{Docs: set.docs(), DataDir: t.TempDir()}
			embedded := set.words(t, config)
			t.Log(set.name, "embedded:", embedded.words())
			for name, open := range servers {
				config.Index = func(ctx context.Context, _ string) (search.Backend, error) {
					return open(ctx, set.name)
				}
				config.DataDir = t.TempDir()
				served := set.words(t, config)
				gain, in := served.over(embedded)
				t.Logf("%s %s: %s; nDCG@10 %+.4f [%+.4f, %+.4f]", set.name, name, served.words(), gain, in.Low, in.High)
				for _, m := range []string{eval.MetricNDCG, eval.MetricRecall5, eval.MetricRecall10} {
					if d := served.mean(m) - embedded.mean(m); math.Round(1e4*d) < -1e4*maxLoss {
						t.Errorf("%s on %s: %s is %+.4f beside the embedded index, want at least %+.2f", set.name, name, m, d, -maxLoss)
					}
				}
			}
		})
	}
}

// dockerDev asks all questions of docker-eval that have a page with the answer.
func dockerDev(t *testing.T) judgedSet {
	t.Helper()
	out := judgedSet{name: "Docker"}
	for _, item := range read(t, "dev.jsonl") {
		q := beir.Query{ID: item.ID, Text: item.Question, Gains: map[string]int{}}
		for _, page := range item.Relevant {
			q.Gains[page] = 1
		}
		if len(item.Relevant) > 0 {
			out.queries = append(out.queries, q)
		}
	}
	return out
}

// few returns only as many passages as a person reads.
type few struct{ *ragflow.Assistant }

func (f few) Search(ctx context.Context, query string, o ragflow.SearchOptions) (*ragflow.SearchReply, error) {
	o.K = 40
	return f.Assistant.Search(ctx, query, o)
}

// words indexes the set and searches for its queries.
func (s hybridSet) words(t *testing.T, config ragflow.Config) figures {
	t.Helper()
	began := time.Now()
	a, n := s.openIndexed(t, config)
	defer a.Close()
	t.Logf("%d documents indexed in %s", n, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	out := s.judged.measure(t, few{a})
	t.Logf("%d searches in %s", len(s.judged.queries), time.Since(began).Round(time.Millisecond))
	return out
}

func (f figures) words() string {
	first, among := 0, 0
	for i, rank := range f[eval.MetricMRR] {
		if rank == 1 {
			first++
		}
		if f[eval.MetricRecall5][i] > 0 {
			among++
		}
	}
	return fmt.Sprintf("nDCG@10 %.4f, recall@10 %.4f, first %d and among the first 5 %d of %d",
		f.mean(eval.MetricNDCG), f.mean(eval.MetricRecall10), first, among, len(f[eval.MetricMRR]))
}
