package eval_test

import (
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/search/index"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

var fitList = flag.Bool("fitlist", false, "learn the coefficients of the order of lists and print them")

// listDecay is the penalty of squared coefficients of features brought to a
// deviation of 1; the figures on the sets learnt from are flat around it.
const listDecay = 0.02

// TestFitList learns what offline holds as its learnedMatches: see
// scripts/fit-list. It changes nothing; logit, which learns, has its own test.
func TestFitList(t *testing.T) {
	if !*fitList {
		t.Skip("learns for minutes: run with -fitlist")
	}
	scifact, english, vietnamese := floorSets()[0], floorSets()[1], floorSets()[2]
	scifact.name, scifact.qrels = "SciFact train", "beir/scifact/qrels/train.tsv"
	english.name, vietnamese.name = "XQuAD en, half 0 of the articles", "XQuAD vi, half 0 of the articles"
	english.keep, vietnamese.keep = ofArticles(0), ofArticles(0)
	var examples []example
	for _, s := range []floorSet{scifact, english, vietnamese} {
		of := s.examples(t)
		fmt.Printf("%s: %d queries of which a relevant passage is among the first %d, and another\n", s.name, len(of), compared)
		for _, e := range of {
			e.weight = 1 / float64(len(of))
			examples = append(examples, e)
		}
	}
	names := offline.MatchNames()
	spread := deviations(examples, len(names))
	for _, e := range examples {
		for _, f := range e.features {
			for k := range f {
				f[k] /= spread[k]
			}
		}
	}
	for k, w := range logit(examples, len(names), listDecay) {
		fmt.Printf("%s: %.2f\n", names[k], w/spread[k])
	}
}

// compared is how many passages of a list are put in order.
const compared = 20

// examples are the queries of a set with the first passages that the search finds.
func (s floorSet) examples(t *testing.T) []example {
	t.Helper()
	config := ragflow.Config{DataDir: t.TempDir()}
	corpus := eval.Corpus{Path: publicFile(t, s.corpus)}
	indexRecords(t, config, corpus.Records())
	db, err := index.Open(t.Context(), filepath.Join(config.DataDir, "index.db"), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	searcher, err := db.Searcher(t.Context(), recordsName)
	if err != nil {
		t.Fatal(err)
	}
	ranker := offline.NewListReranker(searcher)
	var out []example
	for _, judged := range s.judged(t).Queries {
		q := state.Query{Text: judged.Text, Weight: 1, Attempt: 1}
		hits, err := searcher.Search(t.Context(), q, compared)
		if err != nil {
			t.Fatal(err)
		}
		ids, scores := make([]string, len(hits)), map[string]float64{}
		for i, h := range hits {
			ids[i], scores[h.Chunk] = h.Chunk, h.Score
		}
		chunks, err := searcher.Chunks(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		var e example
		candidates := make([]state.Source, len(chunks))
		for i, c := range chunks {
			candidates[i] = state.Source{Chunk: c, Score: scores[c.ID]}
			e.right = append(e.right, judged.Gains[c.Source] > 0)
		}
		if slices.Contains(e.right, true) && slices.Contains(e.right, false) {
			e.features = ranker.Measure(q, candidates)
			out = append(out, e)
		}
	}
	return out
}

// deviations are the standard deviations of features over all choices.
func deviations(examples []example, n int) []float64 {
	sum, squares, all := make([]float64, n), make([]float64, n), 0.0
	for _, e := range examples {
		for _, f := range e.features {
			all++
			for k, v := range f {
				sum[k] += v
				squares[k] += v * v
			}
		}
	}
	for k := range sum {
		mean := sum[k] / all
		sum[k] = max(1e-9, math.Sqrt(max(0, squares[k]/all-mean*mean)))
	}
	return sum
}
