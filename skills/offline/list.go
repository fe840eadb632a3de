package offline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The features of a passage among those that a search lists. Each is within 0
// and 1 but for matchRun, which is at most runGain·runWords. How long a passage
// is tells much within one corpus and the opposite in the next, by how it was
// cut; so it is not among them, nor is what goes with it: the share of its words
// that the question has.
const (
	matchScore    = iota // of the search, of the best one's
	matchRank            // 1/rank in the search
	matchWords           // BM25 by the words of the passage alone, of the best one's
	matchRare            // share of the question's weight that it holds, weights squared: rare words count most
	matchSoft            // the same, weights as they are, words that begin alike included
	matchSentence        // what its best sentence holds
	matchFirst           // what its first one holds
	matchPairs           // of neighbouring words of the question, those that are neighbours here
	matchTitle           // what the title of its document holds
	matchNumbers         // of the question's numbers and codes, those that it holds
	matchRun             // it repeats the question word for word
	matches
)

// fewestWords is how many words a query must have for its list to be put in order:
// the coefficients were learnt on questions, and who types one word or two may
// want the page of that name.
const fewestWords = 3

// testOdds is how much less likely, as a logarithm, code that tests is the passage asked
// for than other code that fits as well.
const testOdds = 1

// MatchNames are the names of what [ListReranker.Measure] measures, in its order.
func MatchNames() []string {
	return []string{"score", "rank", "words", "rare", "soft", "sentence", "first", "pairs", "title", "numbers", "run"}
}

// ListReranker puts the best of what a search lists in order by how likely each
// is the passage asked for: a conditional logit over few features, whose
// coefficients scripts/fit-list learns. Unlike [Reranker] it knows nothing of
// manuals and of what makes an answer; it is for lists that a person or a program
// reads. It is safe for concurrent use.
type ListReranker struct {
	maker
	lex lexicon
}

// NewListReranker returns a reranker for the index that stats describes.
func NewListReranker(stats Stats) *ListReranker { return &ListReranker{lex: newLexicon(stats)} }

// Rerank returns the candidates, given in the order of the search, in their new
// one. The score of each is the chance, above 0 up to 1, that it is the passage
// asked for, if one of them is; all together have 1. Equal ones keep their order.
// It never fails.
func (r *ListReranker) Rerank(_ context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out := slices.Clone(candidates)
	w, sum, top := learnedMatches(), 0.0, math.Inf(-1)
	q := strongest(queries)
	used := !asksForTests(q.Text)
	for i, v := range r.Measure(q, candidates) {
		out[i].Score = 0
		if used && tests(candidates[i].Chunk) {
			out[i].Score = -testOdds
		}
		for f, x := range v {
			out[i].Score += w[f] * x
		}
		top = max(top, out[i].Score)
	}
	for i := range out {
		out[i].Score = math.Exp(out[i].Score - top)
		sum += out[i].Score
	}
	for i := range out {
		out[i].Score /= sum
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// Measure is what the order is made of: of each candidate, one number for each of
// [MatchNames], for whoever learns their coefficients.
func (r *ListReranker) Measure(q state.Query, candidates []state.Source) [][]float64 {
	terms := r.lex.question(q)
	asked := plainWords(q.Text)
	if len(asked) < fewestWords || slices.ContainsFunc(terms, func(t weighed) bool { return text.IsFolded(t.term) }) {
		terms = nil // also where it was typed without diacritics: of syllables of many meanings only the search has the pairs
	}
	squares := slices.Clone(terms)
	for i := range squares {
		squares[i].weight *= squares[i].weight
	}
	in, figures := r.lex.inquire(q.Text, q), r.lex.figures(q.Text)
	passages := make([]passage, len(candidates))
	best, length := 0.0, 0.0
	parallel.Each(len(candidates), func(i int) { passages[i] = r.lex.passage(1, candidates[i]) })
	for i, c := range candidates {
		best = max(best, c.Score)
		length += float64(passages[i].words()) / float64(len(candidates))
	}
	out := make([][]float64, len(candidates))
	parallel.Each(len(candidates), func(i int) {
		c, p, v := candidates[i], &passages[i], make([]float64, matches)
		if best > 0 {
			v[matchScore] = c.Score / best
		}
		v[matchRank] = 1 / float64(i+1)
		out[i] = v
		if len(terms) == 0 {
			return // the search alone tells
		}
		whole := p.whole()
		v[matchWords] = p.bm25(terms, length)
		v[matchRare] = coverage(squares, whole.in)
		v[matchSoft] = soft(terms, whole)
		v[matchSentence] = bestUnit(terms, *p)
		if len(p.terms) > 0 {
			v[matchFirst] = coverage(terms, p.terms[0].in)
		}
		v[matchPairs], _ = in.close(p.tokens...)
		v[matchTitle] = coverage(terms, r.lex.bag(c.Title).in)
		v[matchNumbers] = shareOf(figures, whole.has)
		v[matchRun] = repeats(asked, p.plain)
	})
	most := 0.0
	for _, v := range out {
		most = max(most, v[matchWords])
	}
	for _, v := range out {
		v[matchWords] /= max(most, math.SmallestNonzeroFloat64)
	}
	return out
}

// figures are the terms of the words of s that hold a digit: numbers and codes.
func (l lexicon) figures(s string) []string {
	var out []string
	for _, t := range l.words(s) {
		if strings.ContainsFunc(s[t.Start:t.End], unicode.IsDigit) {
			out = append(out, t.Term)
		}
	}
	return out
}

// in makes a bag a measure for coverage.
func (b *bag) in(term string) float64 { return min(1, b.counts[term]) }

// words is how many words the units of a passage have.
func (p *passage) words() int {
	n := 0
	for _, tokens := range p.tokens {
		n += len(tokens)
	}
	return n
}

// bm25 is the score of the passage by its units, where passages have mean words.
func (p *passage) bm25(terms []weighed, mean float64) float64 {
	norm := saturation * (1 - lengthPart + lengthPart*float64(p.words())/max(mean, 1))
	sum := 0.0
	for _, t := range terms {
		n := 0.0
		if p.all.has(t.term) {
			n = p.count(t.term)
		}
		sum += t.weight * n * (saturation + 1) / (n + norm)
	}
	return sum
}

func (p *passage) count(term string) float64 {
	n := 0.0
	for i, in := range p.terms {
		if in.has(term) {
			n += countTerm(p.tokens[i], term)
		}
	}
	return n
}

func countTerm(tokens []text.Token, term string) float64 {
	n := 0.0
	for _, t := range tokens {
		if t.Term == term {
			n++
		}
	}
	return n
}
