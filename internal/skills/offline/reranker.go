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
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The features of a passage among those that a search lists.
const (
	matchScore    = iota // of the search, of the best one's
	matchRank            // 1/rank in the search
	matchWords           // BM25 by the words of the passage alone, of the best one's
	matchRare            // share of the question's weight that it holds, weights squared
	matchSoft            // the same, weights as they are, with words that begin alike
	matchSentence        // what its best sentence holds
	matchFirst           // what its first one holds
	matchPairs           // of neighbouring words of the question, those that are neighbours here
	matchTitle           // what the title of its document holds
	matchNumbers         // of the question's numbers and codes, those that it holds
	matchRun             // it repeats the question word for word
	matches
)

// learnedMatches are the coefficients of a conditional logit, learnt on the
// training questions of SciFact and half of the articles of XQuAD in English and
// Vietnamese. On 29 sets of other kinds they gain on 25.
func learnedMatches() [matches]float64 {
	return [matches]float64{
		matchScore: 2.47, matchRank: 0.52, matchWords: 1.64, matchRare: 1.25, matchSoft: 1.83, matchSentence: 2.22, matchFirst: 1.59,
		matchPairs: 0.80, matchTitle: 2.20, matchNumbers: 0.71, matchRun: 11.86,
	}
}

// fewestWords is how many words a query must have to be put in order: a query of
// one or two words may want the page of that name.
const fewestWords = 3

// Constants of BM25, the customary ones.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// aboutWeight is what a word counts that only headings or title hold.
const aboutWeight = 0.8

// Reranker orders what a search lists by how likely each passage is the one
// asked for.
type Reranker struct {
	maker
	lex lexicon
}

// Rerank returns the candidates, given in the order of the search, in their new
// one. The score of each is the chance that it is the passage asked for, if one
// of them is. Equal ones keep their order. It never fails.
func (r *Reranker) Rerank(_ context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out := slices.Clone(candidates)
	for i := range out {
		out[i].Score = 0
	}
	all := readings(queries)
	for _, q := range all {
		for i, p := range r.chances(q, candidates) {
			out[i].Score += p / float64(len(all))
		}
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// chances are those of the candidates to be the passage that a query asks for.
func (r *Reranker) chances(q state.Query, candidates []state.Source) []float64 {
	scores := make([]float64, len(candidates))
	used := !testWords.MatchString(q.Text)
	for i, v := range r.match(q, candidates) {
		if used && candidates[i].Cut.Language != "" && testPath.MatchString(candidates[i].Source) {
			scores[i] = -testOdds
		}
		for f, w := range learnedMatches() {
			scores[i] += w * v[f]
		}
	}
	return chances(scores)
}

// Code that tests is rarely the code asked for, by testOdds as a logarithm.
const testOdds = 1

var (
	testPath  = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata)/|(?:^|/)test_[^/]*\.\w+$|[._-](?:tests?|spec)\.\w+$`)
	testWords = regexp.MustCompile(`(?i)test|\bmock|\bspec\b|bench`)
)

// match measures the candidates.
func (r *Reranker) match(q state.Query, candidates []state.Source) [][matches]float64 {
	terms := r.lex.question(q, 1)
	asked := plainWords(q.Text)
	if len(asked) < fewestWords || slices.ContainsFunc(terms, func(t weighed) bool { return text.IsFolded(t.term) }) {
		terms = nil // also where it was typed without diacritics: only the search knows what is meant
	}
	squares, neighbours := slices.Clone(terms), r.lex.pairs(q.Text, terms)
	for i := range squares {
		squares[i].weight *= squares[i].weight
	}
	passages := make([]*passage, len(candidates))
	parallel.Each(len(candidates), func(i int) { passages[i] = r.lex.passage(candidates[i].Chunk) })
	best, most := 0.0, math.SmallestNonzeroFloat64
	for _, c := range candidates {
		best = max(best, c.Score)
	}
	words := bm25(passages, terms)
	for _, z := range words {
		most = max(most, z)
	}
	figures, out := r.lex.figures(q.Text), make([][matches]float64, len(candidates))
	parallel.Each(len(candidates), func(i int) {
		p, v := passages[i], &out[i]
		if best > 0 {
			v[matchScore] = candidates[i].Score / best
		}
		v[matchRank] = 1 / float64(i+1)
		if len(terms) == 0 {
			return // the search alone tells
		}
		v[matchWords] = words[i] / most
		v[matchRare] = coverage(squares, p.all.in)
		v[matchSoft] = coverage(terms, p.all.soft)
		for j, u := range p.units {
			held := coverage(terms, func(t string) float64 {
				if p.terms[j].has(t) {
					return 1
				}
				return aboutWeight * max(p.names.in(t), p.sections[min(p.blocks[u.block].section, len(p.sections)-1)].in(t))
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

// figures are the words of s that hold a digit, all of one weight.
func (l lexicon) figures(s string) []weighed {
	var out []weighed
	for _, t := range l.words(s) {
		if strings.ContainsFunc(s[t.Start:t.End], unicode.IsDigit) {
			out = append(out, weighed{t.Term, 1})
		}
	}
	return out
}

// bm25 are the scores of passages, each beside the mean length of all.
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

// pair are two neighbouring words of content of a question.
type pair struct {
	first, second string
	gap           int
	weight        float64
}

// pairs are the neighbouring words among the weighed terms of a question.
func (l lexicon) pairs(question string, terms []weighed) []pair {
	weight := map[string]float64{}
	for _, t := range terms {
		weight[t.term] = t.weight
	}
	var out []pair
	var last text.Token
	for _, t := range l.asTyped(question) {
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

// neighboursIn is the share of pairs, by weight, that are neighbours in one of some sentences.
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
