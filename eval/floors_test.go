package eval_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/text"
)

// floorSet is a set in the form of BEIR with the least that the search must
// reach on it.
type floorSet struct {
	name, corpus, queries, qrels string
	change                       func(query string) string // before it is searched for; nil: nothing
	floor                        float64                   // of nDCG@10
	peer                         float64                   // nDCG@10 of bm25s, which must be passed by overPeer; 0: not compared
	chosen                       string                    // what was chosen on the set
}

// overPeer is by how much plain BM25 must be passed on MTRAG.
const overPeer = 0.02

func floorSets() []floorSet {
	speaker := func(q string) string { return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(q), "|user|:")) }
	typed := func(q string) string { return text.Fold(strings.ToLower(q)) }
	xquad := func(name, lang string, change func(string) string, floor float64, chosen string) floorSet {
		return floorSet{name, "vi/xquad/corpus." + lang + ".jsonl.gz", "vi/xquad/queries." + lang + ".jsonl.gz", "vi/xquad/qrels.tsv", change, floor, 0, chosen}
	}
	mtrag := func(domain string, peer float64, chosen string) floorSet {
		folder := "mtrag/human/" + domain + "/"
		return floorSet{
			"MTRAG " + domain + " (pooled), human rewrites", "mtrag/corpus-pooled/" + domain + ".jsonl.gz", folder + "queries-rewrite.jsonl", folder + "qrels.tsv",
			speaker, peer + overPeer, peer, chosen,
		}
	}
	return []floorSet{
		{"SciFact test", "beir/scifact/corpus.jsonl.gz", "beir/scifact/queries.jsonl.gz", "beir/scifact/qrels/test.tsv", nil, 0.69, 0, "weights of title and document were looked at on it"},
		xquad("XQuAD en", "en", nil, 0.955, "nothing"),
		xquad("XQuAD vi", "vi", nil, 0.955, "the weight of pairs of syllables"),
		xquad("XQuAD vi, typed without diacritics", "vi", typed, 0.8, "as above"),
		{"ALQAC 2023, training questions", "vi/alqac2023/corpus.jsonl.gz", "vi/alqac2023/queries.jsonl", "vi/alqac2023/qrels-train.tsv", nil, 0.89, 0, "stop words were trimmed after it was seen"},
		mtrag("cloud", 0.2486, "constants of the rewriter, which is not asked here"),
		mtrag("clapnq", 0.3031, "nothing"),
	}
}

const floorsHead = `# nDCG@10, R@5, R@100 and MRR of the search by words with its one default configuration, as "ragflow eval retrieval" measures it.
# 95 % bootstrap intervals over queries; what was chosen on a set stands behind it. MTRAG passages are those pooled, not the official corpora.
# On MTRAG the floor is 0.02 above plain BM25 as bm25s 0.3.16 has it: k1 1.2, b 0.75, title and text as one, English stop words and Snowball stemmer.
# "Same analyzer" is plain BM25 (k1 1.2, b 0.75, one field of title and text) with ours, so that what fields and documents add is seen alone; paired, not below 0.

`

// TestRetrievalFloors holds what the search finds on every public set there is.
func TestRetrievalFloors(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 60,000 documents")
	}
	var out bytes.Buffer
	out.WriteString(floorsHead)
	for _, s := range floorSets() {
		ours := s.search(t, false)
		figures := func(r *eval.Result) string {
			var parts []string
			for _, m := range []string{eval.MetricNDCG, eval.MetricRecall5, eval.MetricRecall100, eval.MetricMRR} {
				x, _ := r.Summary.Metric(m)
				parts = append(parts, fmt.Sprintf("%s %.4f [%.4f, %.4f]", m, x.Mean, x.Low, x.High))
			}
			return strings.Join(parts, ", ")
		}
		fmt.Fprintf(&out, "%s: %d queries over %d documents; chosen on it: %s\n  %s\n", s.name, len(ours.Outcomes), ours.Retrieval.Documents, s.chosen, figures(ours))
		if m, _ := ours.Summary.Metric(eval.MetricNDCG); m.Mean < s.floor {
			t.Errorf("%s: nDCG@10 %.4f, want at least %.3f", s.name, m.Mean, s.floor)
		}
		fmt.Fprintf(&out, "  floor %.4f\n", s.floor)
		if s.peer == 0 {
			continue
		}
		plain := s.search(t, true)
		change, err := eval.Compare(plain, ours)
		if err != nil {
			t.Fatal(err)
		}
		m := change.Metrics[0]
		fmt.Fprintf(&out, "  bm25s: ndcg_10 %.4f\n  same analyzer: %s\n  ours over the same analyzer: %+.4f [%+.4f, %+.4f], p %.3f\n",
			s.peer, figures(plain), m.Difference, m.Low, m.High, m.P)
		if m.Difference < 0 {
			t.Errorf("%s: nDCG@10 is %+.4f over plain BM25 with the same analyzer, want no loss", s.name, m.Difference)
		}
	}
	golden.Assert(t, "testdata/retrieval.golden", out.Bytes())
}

// search indexes the set as the program does and searches for its queries;
// plainly by BM25 over one field.
func (s floorSet) search(t *testing.T, plain bool) *eval.Result {
	t.Helper()
	config := ragflow.Config{}
	if plain {
		config.Retrieval.Ranking = &ragflow.Ranking{K1: 1.2, B: 0.75}
	}
	a, err := ragflow.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	corpus := eval.Corpus{Path: publicFile(t, s.corpus)}
	report, err := a.IndexRecords(t.Context(), "corpus", 0, func(yield func(ragflow.Record, error) bool) {
		for r, err := range corpus.Records() {
			if plain {
				r.Title, r.Text = "", strings.TrimSpace(r.Title+"\n\n"+r.Text)
			}
			if !yield(r, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	queries := readPublic(t, s.queries, eval.ReadQueries)
	for i := range queries {
		if s.change != nil {
			queries[i].Text = s.change(queries[i].Text)
		}
	}
	judged, err := eval.NewJudged(s.name, queries, readPublic(t, s.qrels, eval.ReadQrels), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := eval.Retrieve(t.Context(), a, judged, eval.RetrievalOptions{Info: eval.RetrievalInfo{Documents: report.Files}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// publicFile is the path of a file of the public data, or skips.
func publicFile(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("RAGFLOW_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus: set RAGFLOW_DATA to the folder that holds %s", name)
	}
	return path
}

func readPublic[T any](t *testing.T, name string, read func(io.Reader) (T, error)) T {
	t.Helper()
	f, err := os.Open(publicFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, err := read(f)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
