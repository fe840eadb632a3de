package offline

import (
	"context"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// What makes a grade.
const (
	gradedPassages = 3   // of the best passages; the others tell how far these lead
	gradeLent      = 0.1 // what a word counts that the conversation lends, of what it counts in the search
	sharedWeight   = 3   // of a retry by the words of both languages, of the query's: its other words find by accident
	aboutWeight    = 0.8 // of a word that only title or headings hold
)

// Grader says how likely it is that the best passages speak of what a question
// asks: a logistic regression over few features, how much of the question the
// best passage and its best sentence hold before all. It detects topics, not
// truth: a passage about the thing asked for passes, whether or not it says
// what was asked.
//
// A word that the index does not know counts fully, which is what makes
// questions about absent things fail. A follow-up is graded by the better of
// what the turn as it was typed and the turn with the conversation's words
// justify; borrowed words count little, so that it never passes by them alone.
//
// A question in another language than the documents is graded by the words that
// both share.
type Grader struct {
	maker
	lex       lexicon
	threshold float64 // from which on nobody asks for a refined query; 0: always
}

// NewGrader returns a grader for the index that stats describes.
func NewGrader(stats Stats) *Grader { return &Grader{lex: newLexicon(stats)} }

// Grade grades the best chunks, best first: up to ten, of which the first three
// are graded and all give words to the refined query. A grader of [New] makes that only
// for grades below its threshold. It never fails.
func (g *Grader) Grade(_ context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error) {
	grade := state.Grade{By: Name, Why: "no words to look for"}
	if len(best) == 0 {
		return grade, nil
	}
	var seen evidence
	graded := false
	readings := understood(queries)
	if len(readings) > 0 {
		if words, foreign := g.lex.shared(readings[0].Text, best); foreign {
			return g.acrossLanguages(queries, words, best), nil
		}
	}
	for _, q := range readings {
		if len(g.lex.question(q)) == 0 {
			continue
		}
		e := g.lex.examine(q, best)
		if s := e.score(); !graded || s > grade.Score {
			grade.Score, seen, graded = s, e, true
		}
	}
	if graded {
		grade.Why = seen.why()
		if g.threshold == 0 || grade.Score < g.threshold {
			grade.Refined = g.lex.refine(queries, best)
		}
	}
	return grade, nil
}

// acrossLanguages grades a question in another language than the documents by
// the words that both share; the fewer and the commoner those are, the lower.
func (g *Grader) acrossLanguages(queries []state.Query, words []string, best []state.Chunk) state.Grade {
	grade := state.Grade{By: Name, Why: "the question is in another language than the documents, and no word of it is in both"}
	if len(g.lex.question(state.Query{Text: strings.Join(words, " ")})) == 0 {
		return grade
	}
	e, carried := g.lex.examineShared(words, best)
	grade.Score = e.score() * carried
	grade.Why = "the question is in another language than the documents; by the words of both (" + strings.Join(words, ", ") + "): " + e.why()
	grade.Refined = &state.Query{
		Text: strings.Join(words, " "), Weight: sharedWeight * strongest(queries).Weight,
		Why: "only the words that the documents' language shares", Attempt: 2,
	}
	return grade
}

// understood are the ways to read the turn: as it was typed, and as the search
// weighs most.
func understood(queries []state.Query) []state.Query {
	if len(queries) == 0 {
		return nil
	}
	full := strongest(queries)
	raw := state.Query{Text: full.Text}
	if len(full.Boosts) == 0 {
		return []state.Query{raw}
	}
	return []state.Query{raw, full}
}

// Features are the names of what [Grader.Measure] measures, in its order.
func Features() []string {
	out := make([]string, numFeatures)
	for f := range numFeatures {
		out[f] = f.String()
	}
	return out
}

// Measure is what the grade of a question is made of: one number for each of
// [Features], for whoever learns their coefficients; nil where there is nothing
// to measure.
func (g *Grader) Measure(q state.Query, best []state.Chunk) []float64 {
	if len(best) == 0 || len(g.lex.question(q)) == 0 {
		return nil
	}
	e := g.lex.examine(q, best)
	return e.values[:]
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
	sentence := 0.0
	for _, in := range p.terms {
		sentence = max(sentence, coverage(terms, func(t string) float64 {
			if p.about.has(t) {
				return max(in[t], aboutWeight)
			}
			return in[t]
		}))
	}
	return (coverage(terms, p.says) + sentence) / 2
}
