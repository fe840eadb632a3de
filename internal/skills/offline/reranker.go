package offline

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// The features of a passage in a search result. A share is a share of the question's weight.
const (
	matchScore    = iota // search score, divided by the best one
	matchRank            // 1/rank in the search
	matchWords           // BM25 among the candidates, divided by the best one
	matchRare            // share in the passage, weights squared
	matchSoft            // share in the passage, prefix matches included
	matchSentence        // share in its best sentence
	matchFirst           // share in its first sentence
	matchPairs           // share of the question's neighbouring words that are neighbours here
	matchTitle           // share in the title of its document
	matchNumbers         // share of the question's numbers and codes
	matchRun             // longest run of words copied from the question
	numMatches
)

// matchCoefficients returns the coefficients of a conditional logit, learnt on the training questions of
// SciFact and half of the articles of XQuAD in English and Vietnamese. Of 29 sets of other kinds, 25 improve.
func matchCoefficients() [numMatches]float64 {
	return [numMatches]float64{
		matchScore: 2.47, matchRank: 0.52, matchWords: 1.64, matchRare: 1.25, matchSoft: 1.83, matchSentence: 2.22, matchFirst: 1.59,
		matchPairs: 0.80, matchTitle: 2.20, matchNumbers: 0.71, matchRun: 11.86,
	}
}

// minQueryWords is the length of a query that is reranked. A query of one or two words may be the name of a
// page.
const minQueryWords = 3

// The usual constants of BM25.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// headingWeight is the weight of a word that only headings or title contain.
const headingWeight = 0.8

// Reranker orders search results by the probability that each is the passage asked for.
type Reranker struct {
	maker
	lex lexicon
}

// Rerank returns the candidates in their new order. Each score is the probability that the candidate is the
// passage asked for, if one of them is. Ties keep their order. It never fails.
func (r *Reranker) Rerank(_ context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out := slices.Clone(candidates)
	for i := range out {
		out[i].Score = 0
	}
	all := variants(queries)
	for _, q := range all {
		for i, p := range r.chances(q, candidates) {
			out[i].Score += p / float64(len(all))
		}
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// chances returns the probability of each candidate to be the passage asked for.
func (r *Reranker) chances(q state.Query, candidates []state.Source) []float64 {
	scores := make([]float64, len(candidates))
	used := !testWords.MatchString(q.Text)
	number, _ := text.SectionAsked(q.Text)
	for i, v := range r.match(q, candidates) {
		scores[i] = oddsOf(SectionOf(candidates[i].Chunk, number))
		if used && candidates[i].Cut.Language != "" && testPath.MatchString(candidates[i].Source) {
			scores[i] -= testOdds
		}
		for f, w := range matchCoefficients() {
			scores[i] += w * v[f]
		}
	}
	return chances(scores)
}

// testOdds is subtracted from the log odds of test code, unless the question is about tests.
const testOdds = 1

var (
	testPath  = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata)/|(?:^|/)test_[^/]*\.\w+$|[._-](?:tests?|spec)\.\w+$`)
	testWords = regexp.MustCompile(`(?i)test|\bmock|\bspec\b|bench`)
)

// match returns the features of the candidates.
func (r *Reranker) match(q state.Query, candidates []state.Source) [][numMatches]float64 {
	terms := r.lex.question(q, 1)
	asked := plainWords(q.Text)
	if len(asked) < minQueryWords || slices.ContainsFunc(terms, func(t weighed) bool { return text.IsFolded(t.term) }) {
		terms = nil // typed without diacritics, perhaps: trust the order of the search
	}
	squares, neighbours := slices.Clone(terms), r.lex.pairs(q.Text, terms)
	for i := range squares {
		squares[i].weight *= squares[i].weight
	}
	passages := make([]*passage, len(candidates))
	parallel.Each(len(candidates), func(i int) { passages[i] = r.lex.passage(candidates[i].Chunk) })
	best, maxBM25 := 0.0, math.SmallestNonzeroFloat64
	for _, c := range candidates {
		best = max(best, c.Score)
	}
	words := bm25(passages, terms)
	for _, z := range words {
		maxBM25 = max(maxBM25, z)
	}
	figures, out := r.lex.figures(q.Text), make([][numMatches]float64, len(candidates))
	parallel.Each(len(candidates), func(i int) {
		p, v := passages[i], &out[i]
		if best > 0 {
			v[matchScore] = candidates[i].Score / best
		}
		v[matchRank] = 1 / float64(i+1)
		if len(terms) == 0 {
			return // keep the order of the search
		}
		v[matchWords] = words[i] / maxBM25
		v[matchRare] = coverage(squares, p.all.in)
		v[matchSoft] = coverage(terms, p.all.soft)
		for j, u := range p.units {
			held := coverage(terms, func(t string) float64 {
				if p.terms[j].has(t) {
					return 1
				}
				return headingWeight * max(p.names.in(t), p.sections[min(p.blocks[u.block].section, len(p.sections)-1)].in(t))
			})
			v[matchSentence] = max(v[matchSentence], held)
		}
		if len(p.terms) > 0 {
			v[matchFirst] = coverage(terms, p.terms[0].in)
		}
		v[matchPairs] = neighboursIn(neighbours, p.tokens)
		v[matchTitle] = coverage(terms, p.title.in)
		v[matchNumbers] = coverage(figures, p.all.in)
		v[matchRun] = repeats(asked, p.plain)
	})
	return out
}

// figures returns the words of s that contain a digit, with equal weights.
func (l lexicon) figures(s string) []weighed {
	var out []weighed
	for _, t := range l.words(s) {
		if strings.ContainsFunc(s[t.Start:t.End], unicode.IsDigit) {
			out = append(out, weighed{t.Term, 1})
		}
	}
	return out
}

// bm25 returns the scores of passages, by the mean length of these.
func bm25(passages []*passage, terms []weighed) []float64 {
	mean := 0.0
	for _, p := range passages {
		mean += float64(p.words) / float64(len(passages))
	}
	out := make([]float64, len(passages))
	for i, p := range passages {
		counts := map[string]float64{}
		for _, tokens := range p.tokens {
			for _, t := range tokens {
				counts[t.Term]++
			}
		}
		norm := saturation * (1 - lengthPart + lengthPart*float64(p.words)/max(mean, 1))
		for _, t := range terms {
			n := counts[t.term]
			out[i] += t.weight * n * (saturation + 1) / (n + norm)
		}
	}
	return out
}

// pair is two neighbouring content words of a question.
type pair struct {
	first, second string
	gap           int
	weight        float64
}

// pairs returns the neighbouring words among the weighed terms of a question.
func (l lexicon) pairs(question string, terms []weighed) []pair {
	weight := map[string]float64{}
	for _, t := range terms {
		weight[t.term] = t.weight
	}
	var out []pair
	var last text.Token
	for _, t := range l.surfaceForms(question) {
		if weight[t.Term] == 0 {
			continue
		}
		if last.Term != "" && last.Term != t.Term && t.Pos > last.Pos {
			out = append(out, pair{last.Term, t.Term, t.Pos - last.Pos, weight[t.Term] + weight[last.Term]})
		}
		last = t
	}
	return out
}

// neighboursIn returns the share of pairs, by weight, that are neighbours in one of the sentences.
func neighboursIn(pairs []pair, sentences [][]text.Token) float64 {
	var all, held float64
	for _, p := range pairs {
		all += p.weight
		if slices.ContainsFunc(sentences, p.in) {
			held += p.weight
		}
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// in reports whether the words of a pair are neighbours, in either order.
func (p pair) in(tokens []text.Token) bool {
	for i, a := range tokens {
		if a.Term != p.first {
			continue
		}
		for _, b := range tokens[max(0, i-p.gap-3):min(len(tokens), i+p.gap+4)] {
			if d := b.Pos - a.Pos; b.Term == p.second && (d >= 0 && d <= p.gap+1 || d < 0 && 1-d <= p.gap+1) {
				return true
			}
		}
	}
	return false
}
