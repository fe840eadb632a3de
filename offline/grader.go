package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// What makes a grade.
const (
	// gradeCut is the coverage that separates best between short questions whose
	// topic is in the documents and others; it becomes the grade 0.50. A long
	// question tells of a situation that no passage repeats: each word beyond
	// shortQuestion lowers the cut by lengthCut, down to lowestCut.
	gradeCut       = 0.53
	lengthCut      = 0.012
	shortQuestion  = 5.0
	lowestCut      = 0.4
	gradeLent      = 0.1 // what a word counts that the conversation lends, of what it counts in the search
	aboutWeight    = 0.8 // of a word that only title or headings hold
	feedbackTerms  = 6   // words that a refined query borrows from what was found
	feedbackWeight = 0.3
)

// Grader says how much of a question the best passages cover: the mean of the
// share that the best passage holds and the share that its best sentence holds,
// by weight of the words. It detects topics, not truth: a passage about the
// thing asked for passes, whether or not it says what was asked.
//
// A word that the index does not know counts fully, which is what makes
// questions about absent things fail.
type Grader struct {
	maker
	lex lexicon
}

// NewGrader returns a grader for the index that stats describes.
func NewGrader(stats Stats) *Grader { return &Grader{lex: newLexicon(stats)} }

// Grade grades the best chunks, best first. It never fails.
func (g *Grader) Grade(_ context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error) {
	terms := g.lex.question(lessLent(strongest(queries), gradeLent))
	grade := state.Grade{By: Name}
	if len(terms) == 0 || len(best) == 0 {
		grade.Why = "no words to look for"
		return grade, nil
	}
	if len(queries) > 0 {
		terms = append(terms, g.lex.apart(queries[0].Text, best)...)
	}
	top, at := -1.0, 0
	for i, c := range best {
		if m := cover(terms, g.lex.passage(1, state.Source{Chunk: c})); m > top {
			top, at = m, i
		}
	}
	grade.Score = calibrated(top, spread(g.lex.question(state.Query{Text: strongest(queries).Text})))
	grade.Why = fmt.Sprintf("passage %d covers %.2f of the question", at+1, top)
	if missing := g.missing(terms, best); len(missing) > 0 {
		grade.Why += "; nowhere: " + strings.Join(missing, ", ")
	}
	grade.Refined = g.refine(queries, best)
	return grade, nil
}

// lessLent is a query whose borrowed words count less: they say which topic a
// follow-up is about, not what it asks.
func lessLent(q state.Query, share float64) state.Query {
	q.Boosts = slices.Clone(q.Boosts)
	for i := range q.Boosts {
		q.Boosts[i].Weight *= share
	}
	return q
}

// cover is the mean of what the passage and its best sentence hold. Title and
// headings speak for every sentence below them.
func cover(terms []weighed, p passage) float64 {
	whole := held{}
	for _, in := range p.terms {
		for t, share := range in {
			whole.add(t, share)
		}
	}
	for _, sec := range p.sections[1:] {
		for t := range sec.name {
			whole.add(t, 1)
		}
	}
	about := func(term string, in held) float64 {
		if p.about.has(term) {
			return max(in[term], aboutWeight)
		}
		return in[term]
	}
	passage := coverage(terms, func(t string) float64 { return about(t, whole) })
	sentence := 0.0
	for _, in := range p.terms {
		sentence = max(sentence, coverage(terms, func(t string) float64 { return about(t, in) }))
	}
	return (passage + sentence) / 2
}

// spread is how many words a question leans on: their number where all weigh
// the same, fewer where some outweigh the others.
func spread(terms []weighed) float64 {
	var sum, squares float64
	for _, t := range terms {
		sum += t.weight
		squares += t.weight * t.weight
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// calibrated maps the coverage of a question that leans on n words to a grade:
// the cut becomes 0.50, the ends stay.
func calibrated(m, n float64) float64 {
	cut := max(lowestCut, gradeCut-lengthCut*max(0, n-shortQuestion))
	if m < cut {
		return 0.5 * m / cut
	}
	return 0.5 + 0.5*(m-cut)/(1-cut)
}

// missing are the heaviest terms that none of the chunks holds.
func (g *Grader) missing(terms []weighed, best []state.Chunk) []string {
	seen := set{}
	for _, c := range best {
		for t := range g.lex.set(append([]string{c.Text, c.Title}, c.Headings...)...) {
			seen[t] = struct{}{}
		}
	}
	var out []string
	for _, t := range terms {
		if !seen.has(t.term) && len(out) < 3 {
			out = append(out, t.term)
		}
	}
	return out
}

// refine makes the query of the retry: the strongest one with words that the
// titles and headings of the best chunks have in common with no query so far.
// nil where they offer nothing new.
func (g *Grader) refine(queries []state.Query, best []state.Chunk) *state.Query {
	q := strongest(queries)
	known := set{}
	for _, t := range g.lex.question(q) {
		known[t.term] = struct{}{}
	}
	type candidate struct {
		word   string
		weight float64
	}
	at := map[string]int{}
	var found []candidate
	for i, c := range best {
		about := strings.Join(append([]string{c.Title}, c.Headings...), "\n")
		seen := set{}
		for _, t := range g.lex.analyzer.Analyze(about) {
			if known.has(t.Term) || seen.has(t.Term) {
				continue
			}
			seen[t.Term] = struct{}{}
			j, ok := at[t.Term]
			if !ok {
				j = len(found)
				at[t.Term] = j
				found = append(found, candidate{word: strings.ToLower(about[t.Start:t.End])})
			}
			found[j].weight += g.lex.idf(t.Term) / float64(i+1)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	words := make([]string, 0, feedbackTerms)
	for _, c := range found[:min(len(found), feedbackTerms)] {
		words = append(words, c.word)
	}
	refined := state.Query{
		Text:    g.lex.keywords(q.Text),
		Boosts:  append(slices.Clone(q.Boosts), state.Boost{Text: strings.Join(words, " "), Weight: feedbackWeight}),
		Weight:  q.Weight,
		Why:     "keywords with terms of the best passages' titles",
		Attempt: 2,
	}
	return &refined
}
