package offline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Grader estimates the probability that the best passages answer a question, by logistic regression over the
// features of their best sentence and over its lead. It compares words only: it notices that a thing is not
// mentioned, but often not that something else is said about it.
type Grader struct {
	maker
	lex       lexicon
	threshold float64
}

// gradedPassages is the number of passages that are graded; the others are for comparison.
const gradedPassages = 3

// gradeHistoryWeight scales words taken from earlier turns in a grade, so that a follow-up does not pass by
// them alone.
const gradeHistoryWeight = 0.1

// answerableOdds is the expected ratio of answerable to unanswerable questions in use. The coefficients are
// learnt at 1:1.
const answerableOdds = 2

// The inputs of the grade.
const (
	bestSentence      = iota // score of the best sentence, by choice
	bestOwn                  // share of the question in the best sentence
	bestPairs                // share of the question's word pairs in it
	passageHeld              // share of the question in its passage, prefix matches included
	passageWeight            // log of the weight in the passage, which is larger for long questions
	passageLead              // BM25 of the passage, in standard deviations above the others
	heaviestElsewhere        // share of the heaviest word, if its passage lacks it
	heaviestMissing          // the same, if all passages lack it
	longQuestion             // log of the number of content words divided by 5
	indexSize                // log10 of the index size divided by usualDocs
	numSigns
)

// Signs returns the names of the values of [Grader.Measure].
func Signs() []string {
	return []string{
		"best sentence", "words of the question", "pairs of words", "words in the passage", "weight in the passage",
		"lead of the passage", "heaviest word elsewhere", "heaviest word nowhere", "long question", "large index",
	}
}

// Grade grades the best chunks, best first, and keeps the highest grade among the variants of the question:
// as typed, with words of earlier turns, as understood by a model. A grade below the threshold brings a
// refined query. It never fails.
func (g *Grader) Grade(_ context.Context, queries []state.Query, best []state.Source) (state.Grade, error) {
	one := *g
	g, one.lex = &one, g.lex.once(best)
	grade := state.Grade{By: Name, Why: "no words to look for"}
	full := mainQuery(queries)
	for i, q := range append([]state.Query{{Text: full.Text}, full}, variants(queries)[1:]...) {
		v := g.Measure(q, best)
		if v == nil || i == 1 && len(full.Boosts) == 0 {
			continue
		}
		z := gradeIntercept + math.Log(answerableOdds)
		for s, c := range gradeCoefficients {
			z += c * v[s]
		}
		if p := 1 / (1 + math.Exp(-z)); p > grade.Score {
			grade.Score, grade.Why = p, described(v)
		}
	}
	if grade.Score > unsure && !g.lex.holdFigures(best[:min(len(best), gradedPassages)], full.Text) {
		grade.Score, grade.Why = unsure, grade.Why+"; a number or code of the question is missing"
	}
	holdsSection := slices.ContainsFunc(best, func(s state.Source) bool { return g.lex.holdsSection(full.Text, s) })
	if grade.Score < section && holdsSection {
		grade.Score, grade.Why = section, grade.Why+"; a passage is the section with the number asked for"
	}
	if grade.Score < beside && g.lex.besideValue(full.Text, best[:min(len(best), gradedPassages)]) {
		grade.Score, grade.Why = beside, grade.Why+"; a value of the kind asked for stands beside all words of the question"
	}
	if grade.Score > unanswered && !holdsSection && g.lex.otherFigure(best[:min(len(best), gradedPassages)], full.Text) {
		grade.Score, grade.Why = unanswered, grade.Why+"; the passages are about another number or code than the question"
	}
	if len(best) > 0 && grade.Score < g.threshold {
		grade.Refined = g.lex.refine(full, best)
	}
	return grade, nil
}

// described formats signs with their names, for the trace.
func described(signs []float64) string {
	out := Signs()
	for i, v := range signs {
		out[i] += fmt.Sprintf(" %.2f", v)
	}
	return strings.Join(out, ", ")
}

// beside is the least grade of a question whose words stand together with a value of the kind that it asks for.
const beside = 0.6

// unsure is the highest grade below the band [state.BandAnswers].
const unsure = 0.74

// holdFigures reports whether the passages contain all words of s that have a digit.
func (l lexicon) holdFigures(passages []state.Source, s string) bool {
	held := set{}
	for _, p := range passages {
		maps.Copy(held, l.passage(p.Chunk).all)
		maps.Copy(held, l.passage(p.Chunk).names)
	}
	return !slices.ContainsFunc(l.figures(s), func(f weighed) bool { return !held.has(f.term) })
}

// otherFigure reports whether the passages have a word of the question with other numbers behind it, and never with the
// number of the question: one about pump P-200 or unit 4 resembles a question about P-300 or unit 7 but does not answer it.
// Years are left out, because what was so in one year may be so in the next.
func (l lexicon) otherFigure(passages []state.Source, question string) bool {
	asked, language := plainWords(question), text.Language(question)
	for i := 1; i < len(asked); i++ {
		word, figure := asked[i-1], asked[i]
		if !hasDigit(figure) || hasDigit(word) || functionWord(language, word) || text.FirstDate(figure) != "" {
			continue
		}
		same, other := false, false
		for _, s := range passages {
			names := plainWords(strings.Join(append([]string{text.BaseName(s.Source), s.Title}, s.Headings...), " . "))
			for _, words := range [][]string{names, l.passage(s.Chunk).plain} {
				for j := 1; j < len(words); j++ {
					if words[j-1] == word && hasDigit(words[j]) {
						same, other = same || words[j] == figure, other || words[j] != figure
					}
				}
			}
		}
		if other && !same {
			return true
		}
	}
	return false
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// Measure returns the signs of a question in the best chunks; nil without content words or chunks.
func (g *Grader) Measure(q state.Query, best []state.Source) []float64 {
	terms := g.lex.question(q, gradeHistoryWeight)
	if len(terms) == 0 || len(best) == 0 {
		return nil
	}
	own := state.Query{Text: q.Text}
	if len(g.lex.question(own, 0)) == 0 {
		own = q // "and the other?" has only words of earlier turns
	}
	tops, scores, at := make([]features, len(best)), make([]float64, len(best)), 0
	passages := make([]*passage, len(best))
	for i, c := range best {
		passages[i] = g.lex.passage(c.Chunk)
	}
	in := g.lex.inquire(q.Text, own, passages)
	for i := range best {
		scores[i] = math.Inf(-1)
		for _, e := range in.measure(passages[i], 0) {
			if z := choice.of(&e); z > scores[i] {
				scores[i], tops[i] = z, e
			}
		}
		if math.IsInf(scores[i], -1) {
			scores[i] = 0
		}
		if i < gradedPassages && scores[i] > scores[at] {
			at = i
		}
	}
	v := make([]float64, numSigns)
	v[bestSentence] = scores[at]
	v[bestOwn], v[bestPairs] = tops[at][ownWords], tops[at][wordPairs]
	v[passageHeld] = coverage(terms, func(t string) float64 {
		return max(passages[at].all.soft(t), headingWeight*passages[at].names.in(t))
	})
	all := 0.0
	for _, t := range terms {
		all += t.weight
	}
	v[passageWeight] = math.Log(1 + v[passageHeld]*all)
	v[indexSize] = math.Log10(float64(max(usualDocs, g.lex.stats.Docs())) / usualDocs)
	v[passageLead] = standardLead(bm25(passages, terms), at)
	v[passageLead] += (usualLead - v[passageLead]) * min(1, v[indexSize]/maxIndexSize)
	gone := func(t string) bool {
		return !slices.ContainsFunc(passages, func(p *passage) bool { return p.all.has(t) || p.names.has(t) })
	}
	if t := terms[0].term; !passages[at].all.has(t) && !passages[at].names.has(t) {
		v[heaviestElsewhere] = terms[0].weight / all
	}
	if gone(terms[0].term) {
		v[heaviestMissing] = terms[0].weight / all
	}
	v[longQuestion] = math.Log(float64(len(terms)) / 5)
	return v
}

// In a large index many passages are similar, so a lead means less: at maxIndexSize powers of ten above
// usualDocs it is ignored.
const maxIndexSize = 1.5

// usualDocs is the size of an index, in chunks, above which its size matters.
const usualDocs = 240

// usualLead is the lead assumed if there are too few passages to compare with.
const (
	usualLead = 3.0
	maxLead   = 8.0
)

// standardLead returns by how many standard deviations scores[at] exceeds the mean of the others, at most
// maxLead.
func standardLead(scores []float64, at int) float64 {
	n := float64(len(scores) - 1)
	if n < gradedPassages {
		return usualLead
	}
	var mean, variance float64
	for i, s := range scores {
		if i != at {
			mean += s / n
		}
	}
	for i, s := range scores {
		if i != at {
			variance += (s - mean) * (s - mean) / n
		}
	}
	const deviationShare = 0.05 // share of the score added to the deviation, which is 0 if the others are equal
	spread := math.Sqrt(variance) + deviationShare*scores[at]
	if spread == 0 {
		return 0
	}
	return min(maxLead, max(0, (scores[at]-mean)/spread))
}

// of returns the score of a sentence.
func (c *features) of(e *features) float64 {
	sum := 0.0
	for f, v := range e {
		sum += c[f] * v
	}
	return sum
}

// Relevance feedback by RM3 (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004).
const (
	feedbackTerms  = 10  // words added to a refined query
	originalWeight = 0.8 // of the question in the mixture; added words have the rest
	commonShare    = 0.1 // words in more than this share of the chunks are not added …
	commonFloor    = 20  // … if the index has at least this many
)

// refine returns the query of the retry: the question mixed with the likeliest words of the best chunks; nil
// if they have no new words.
func (l lexicon) refine(q state.Query, best []state.Source) *state.Query {
	own := l.question(q, 1)
	share, word := map[string]float64{}, map[string]string{}
	for _, t := range own {
		word[t.term] = ""
	}
	n := l.stats.Docs()
	for i, c := range best {
		lang, tokens := text.Language(c.Text), l.words(c.Text)
		for _, t := range tokens {
			w := strings.ToLower(c.Text[t.Start:t.End])
			if known, ok := word[t.Term]; ok && known == "" || functionWord(lang, w) || strings.IndexFunc(w, unicode.IsLetter) < 0 ||
				n >= commonFloor && float64(l.stats.DocFreq(t.Term)) > commonShare*float64(n) {
				continue
			}
			word[t.Term] = w
			share[t.Term] += 1 / float64(len(tokens)) / float64(i+1) // P(word|chunk) · weight of the chunk
		}
	}
	var found []weighed
	for t, s := range share {
		found = append(found, weighed{t, s})
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.term, b.term))
	})
	found = found[:min(len(found), feedbackTerms)]
	sum := 0.0
	for _, t := range found {
		sum += t.weight
	}
	// A word of the question weighs 1 in the search and originalWeight / len(terms) in the mixture.
	unit := float64(len(own)) / originalWeight
	refined := state.Query{
		Text: q.Text, Topic: q.Topic, Boosts: slices.Clone(q.Boosts), Weight: q.Weight, Attempt: 2,
		Why: "with the words that the best passages share (RM3)",
	}
	for _, t := range found {
		if w := math.Round(unit*(1-originalWeight)*t.weight/sum*1000) / 1000; w > 0 {
			refined.Boosts = append(refined.Boosts, state.Boost{Text: word[t.term], Weight: w})
		}
	}
	return &refined
}
