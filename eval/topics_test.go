package eval_test

import (
	"bytes"
	"fmt"
	"testing"

	"example.com/ragflow/eval"
	"example.com/ragflow/index"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/offline"
	"example.com/ragflow/state"
)

// without is what an index would be without one of its chunks.
type without struct {
	*index.Searcher
	terms map[string]bool // of the chunk that was taken out
}

func (w without) Docs() int { return w.Searcher.Docs() - 1 }

func (w without) DocFreq(term string) int {
	n := w.Searcher.DocFreq(term)
	if w.terms[term] {
		n--
	}
	return n
}

// topic is a question with what was found for it.
type topic struct {
	answered bool // the paragraph that answers it is in the corpus
	stats    offline.Stats
	query    state.Query
	best     []state.Chunk
}

// topics asks each question of one half of a parallel set twice: of the corpus,
// and of the corpus without the paragraph that answers it.
func topics(tb testing.TB, lang string, of int) []topic {
	tb.Helper()
	paragraphs, questions := xquad(tb, lang)
	s := indexed(tb, paragraphs, false)
	terms := map[string]map[string]bool{}
	for _, p := range paragraphs {
		terms[p.ID] = map[string]bool{}
		for _, t := range s.Analyzer().Analyze(p.Text) {
			terms[p.ID][t.Term] = true
		}
	}
	const k = 10
	var out []topic
	for _, q := range questions {
		if half(articleOf(q.Paragraph)) != of {
			continue
		}
		query := state.Query{Text: q.Text, Weight: 1}
		hits, err := s.Search(tb.Context(), query, k+1)
		if err != nil {
			tb.Fatal(err)
		}
		for _, answered := range []bool{true, false} {
			var ids []string
			for _, h := range hits {
				if len(ids) < k && (answered || h.Chunk != q.Paragraph) {
					ids = append(ids, h.Chunk)
				}
			}
			best, err := s.Chunks(tb.Context(), ids)
			if err != nil {
				tb.Fatal(err)
			}
			t := topic{answered, s, query, best}
			if !answered {
				t.stats = without{s, terms[q.Paragraph]}
			}
			out = append(out, t)
		}
	}
	return out
}

// TestTopics holds how well grades tell questions whose answer is in the
// documents from those whose answer was taken out of them.
func TestTopics(t *testing.T) {
	if testing.Short() {
		t.Skip("grades 2,400 questions")
	}
	var out bytes.Buffer
	out.WriteString("# XQuAD, each question with the paragraph that answers it in the corpus and without.\n" +
		"# Coefficients were learnt on half 0 of the articles, English and Vietnamese; this is half 1 alone, at the cut 0.50.\n" +
		"# Intervals of 95% by bootstrap over questions.\n")
	for _, tt := range []struct {
		lang                   string
		area, accuracy, worstE float64
	}{{"en", 0.93, 0.86, 0.05}, {"vi", 0.92, 0.83, 0.05}} {
		var cases []eval.Graded
		var right []float64 // by case: 1 where the cut puts it on the right side
		for _, c := range topics(t, tt.lang, 1) {
			g, err := offline.NewGrader(c.stats).Grade(t.Context(), []state.Query{c.query}, c.best)
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, eval.Graded{Score: g.Score, True: c.answered})
			r := 0.0
			if (g.Score >= offline.DefaultThreshold) == c.answered {
				r = 1
			}
			right = append(right, r)
		}
		area, _ := eval.AUROC(cases)
		accuracy, _ := eval.BalancedAccuracy(cases, offline.DefaultThreshold)
		bins := eval.Reliability(cases, eval.CalibrationBins)
		ci := eval.Bootstrap(right)
		wide, even := eval.CalibrationError(bins), eval.CalibrationError(eval.AdaptiveReliability(cases, eval.CalibrationBins))
		fmt.Fprintf(&out, "\n%s: %d cases, AUROC %.3f (floor %.2f), balanced accuracy %.3f [%.3f, %.3f] (floor %.2f), calibration error %.3f, with bins of equal size %.3f (below %.2f)\n",
			tt.lang, len(cases), area, tt.area, accuracy, ci.Low, ci.High, tt.accuracy, wide, even, tt.worstE)
		for _, b := range bins {
			fmt.Fprintf(&out, "%.1f–%.1f: %4d cases, mean grade %.3f, true %.3f\n", b.Low, b.High, b.N, b.Score, b.Share)
		}
		if area < tt.area || accuracy < tt.accuracy || wide >= tt.worstE {
			t.Errorf("%s: AUROC %.3f, balanced accuracy %.3f, calibration error %.3f; want at least %.2f, %.2f and below %.2f",
				tt.lang, area, accuracy, wide, tt.area, tt.accuracy, tt.worstE)
		}
	}
	golden.Assert(t, "testdata/topics.golden", out.Bytes())
}
