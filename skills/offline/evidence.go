package offline

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// feature is one thing that speaks for an answer being there, or, where its
// coefficient is negative, against it. All lie between 0 and 1.
type feature int

// The features, measured on the passage that speaks most to the question (statementGain),
// but for byPairs, byStatement and what the question has by itself. They were chosen by
// cross-validation over the articles learnt from; gains are those of AUROC there in
// English and Vietnamese. Tried too, and left out because they changed nothing:
// coverage of the passage, coverage by the heaviest words alone or by words weighed by
// their rarity among the best ten, the narrowest window, the longest run of words in
// order, the heaviest word missing, the lead by BM25 before the third, BM25 as a share of
// what could be reached, an answer of the type asked for, or the lack of one, the noun
// after "what" counted less, how likely each word is to be repeated where there is an
// answer, how much more of the question the passage holds than any other document, pairs
// of syllables that are words by their cohesion in the index, leads of single features,
// and each signal of the best statement by itself, or all relearnt (.001, .003 with a
// loss elsewhere). Trees boosted on the features tell no more than their sum, products of
// two .001 to .002 and less on MTRAG.
//
// byStatement brings .005 and .011, and .01 to .04 on larger corpora, where it is drawn to
// what is usual: without that it loses .01 on MTRAG's absent and .05 on its unanswerable
// turns. byOtherWords brings .001 and .003; that other words count where the passage is chosen
// and in its statements .001 and .002 more, words spelled almost like one that no passage
// holds .001 and .003 there, and twice as many groups of Vietnamese words .002; more English
// ones nothing. Left out of it: that a syllable counts only where it is no part of
// another phrase of the groups (-.002), that common words say nothing (-.002), and other
// words in byAhead (-.001 in English), byNames and byNowhere. That the passage is chosen by
// its best statement too, among all ten, brings .000 and .002, byNumber .000 and .001,
// byPairs by the best statements in place of by the passage .000 and .001, SQuAD .004 and
// MTRAG's absent .02.
// bySyllables moves the balanced cut in Vietnamese by .008.
// The square of what byBeginning is short of 1 brings .001, and answers questions over
// a manual that have no answer there.
const (
	bySentence   feature = iota // share of the question that its best sentence holds, words weighed by the root of their idf
	byBeginning                 // of the question's weight that the passage holds, words that begin alike included
	byPairs                     // of neighbouring words of the question that the passage has as neighbours
	byFigures                   // of the question's numbers, dates and codes that it holds; 1 where there are none
	byNames                     // of the names that it holds; 1 where there are none
	byAhead                     // by how many standard deviations its BM25 is above the mean of the others, of farAhead; see inCrowd
	byStatement                 // by how much the best statement of all passages is better than those of the others; see inCrowd
	bySame                      // share of the other two best passages that are of its document
	byNowhere                   // share of the question's weight that none of the best ten holds
	byLong                      // how many words beyond the usual the question leans on, of longQuestion
	byNumber                    // 1 where it asks for a number: what tells of a thing seldom tells how many
	bySyllables                 // 1 where the question is in Vietnamese, whose words are of syllables that many others are of too
	byOtherWords                // share of the question's weight that it lacks and says in other words; these count in its choice too
	numFeatures
)

// String is the name of a feature as a trace shows it.
func (f feature) String() string {
	return [...]string{
		"best sentence", "words that begin alike", "pairs of words", "figures", "names", "ahead of the others", "best statement ahead", "same document", "held by none", "long question", "asks for a number", "words of syllables", "in other words",
	}[f]
}

// evidence is what was measured.
type evidence struct {
	values   [numFeatures]float64
	borrowed bool     // it holds words that the conversation lends, and none of those of the turn
	crowd    float64  // powers of ten by which the index is larger than those learnt on
	passage  float64  // share of the question's weight that the passage holds
	at       int      // the passage that covers most
	missing  []string // the heaviest words that none of the best passages holds
}

// examine measures a question against the best passages, best first.
func (l lexicon) examine(q state.Query, best []state.Chunk) evidence {
	terms := l.question(lessLent(q, gradeLent))
	graded := best[:min(len(best), gradedPassages)]
	terms = append(terms, l.apart(q.Text, graded)...)
	var e evidence
	e.crowd = max(0, math.Log10(float64(max(1, l.stats.Docs()))/learntDocs))
	passages := make([]passage, len(best))
	wholes := make([]held, len(best))
	for i, c := range best {
		passages[i] = l.passage(1, state.Source{Chunk: c})
		wholes[i] = passages[i].whole()
	}
	others := l.otherWords(q.Text, terms, wholes)
	v := &e.values
	statements, pairs := l.bestStatements(q, best, others)
	v[byPairs] = pairs
	gain := e.inCrowd(statementGain, 0)
	top, covered, near := math.Inf(-1), -1.0, 0
	for i, c := range best {
		said := l.inOtherWords(others, c)
		whole := coverage(terms, func(t string) float64 {
			if said.has(t) {
				return max(wholes[i][t], otherShare)
			}
			return wholes[i][t]
		})
		holds := whole + bestUnit(terms, passages[i])
		if i < gradedPassages && holds > covered {
			covered, near = holds, i
		}
		if speaks := holds + gain*statements[i]; speaks > top {
			top, e.at, e.passage = speaks, i, whole
			v[byOtherWords] = share(terms, func(t string) bool { return !wholes[i].has(t) && said.has(t) })
		}
	}
	in := wholes[e.at]
	v[bySentence] = bestUnit(rooted(terms), passages[e.at])
	v[byAhead], v[byStatement] = l.lead(terms, best, e.at), standing(statements)
	if v[bySentence] >= wholeSentence {
		v[byStatement] = max(v[byStatement], usualStatement)
	}
	v[byBeginning] = soft(terms, in)
	if leansOn(q.Boosts) {
		l.asFollowUp(&e, q.Text, in, wholes[:len(graded)])
	}
	v[byFigures], v[byNames] = l.exact(q.Text, in)
	for i, c := range graded {
		if i != near && c.Source == graded[near].Source && c.Root == graded[near].Root {
			v[bySame] += 1.0 / (gradedPassages - 1)
		}
	}
	v[byNowhere] = l.nowhere(terms, best)
	v[byAhead], v[byStatement] = e.inCrowd(v[byAhead], usualAhead), e.inCrowd(v[byStatement], crowdStatement)
	l.asAsked(v, q.Text)
	for _, t := range terms {
		held := slices.ContainsFunc(wholes[:len(graded)], func(h held) bool { return h.has(t.term) })
		if !held && len(e.missing) < 3 {
			e.missing = append(e.missing, strings.TrimPrefix(t.term, text.FoldedMark))
		}
	}
	return e
}

// asAsked sets the features that the question has by itself.
func (l lexicon) asAsked(v *[numFeatures]float64, text string) {
	if question, _ := asked(text); TypeOf(question) == Number {
		v[byNumber] = 1
	}
	words := spread(l.question(state.Query{Text: text}))
	if l.language(text) == "vi" {
		words /= 2 // most words are two syllables
		v[bySyllables] = 1
	}
	v[byLong] = min(1, max(0, words-shortQuestion)/longQuestion)
}

// statementGain is what the score of its best statement counts beside the coverage of
// a passage and of its best sentence, where the passage is chosen that is measured; less
// in a larger index, see inCrowd.
const statementGain = 2

// turnShare is how much of the words of a follow-up itself a passage must hold for
// what compares passages to be left open.
const turnShare = 0.5

// asFollowUp sets what is different for a follow-up. Where its passage holds most of its
// own words, it is too short for pairs of them, and what it is about is what its whole
// page is about, so that no passage is far ahead: neither speaks against it. Where
// none of the passages holds any of its own words, borrowed ones speak alone.
func (l lexicon) asFollowUp(e *evidence, question string, in held, passages []held) {
	own := l.question(state.Query{Text: question})
	if len(own) == 0 {
		return
	}
	if soft(own, in) >= turnShare {
		v := &e.values
		v[byPairs], v[byAhead], v[byStatement] = max(v[byPairs], usualPairs), max(v[byAhead], usualAhead), max(v[byStatement], usualStatement)
	}
	e.borrowed = !slices.ContainsFunc(passages, func(p held) bool { return soft(own, p) > 0 })
}

// Words that begin alike: defend and defence, if the stemmer leaves them apart.
const (
	softShare         = 0.6 // of a word, where one that begins alike stands for it
	shortestBeginning = 4   // letters that both must share: two thirds of the longer, or all of the shorter and half of the longer
)

// soft is the coverage where a word may stand for one that begins alike.
func soft(terms []weighed, in held) float64 {
	return coverage(terms, func(t string) float64 {
		if share, ok := in[t]; ok {
			return share
		}
		if len(t) < shortestBeginning || !ascii(t) {
			return 0
		}
		for w := range in {
			if n := common(t, w); n >= shortestBeginning && (3*n >= 2*max(len(t), len(w)) || n == min(len(t), len(w)) && 2*n >= max(len(t), len(w))) {
				return softShare
			}
		}
		return 0
	})
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// A question that leans on more words than shortQuestion tells of a situation
// that no passage repeats; beyond longQuestion more, nothing is added.
const (
	shortQuestion = 5
	longQuestion  = 10
)

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

// whole is what a passage says with its title and headings.
func (p passage) whole() held {
	out := maps.Clone(p.all)
	for _, sec := range p.sections[1:] {
		for t := range sec.name {
			out.add(t, 1)
		}
	}
	for t := range p.about {
		out.add(t, aboutWeight)
	}
	return out
}

// bestUnit is the greatest share of a question that one unit of the passage
// holds. Title and headings speak for every unit below them.
func bestUnit(terms []weighed, p passage) float64 {
	share := 0.0
	for i, in := range p.terms {
		share = max(share, coverage(terms, func(t string) float64 {
			if p.about.has(t) || p.section(i).name.has(t) {
				return max(in[t], aboutWeight)
			}
			return in[t]
		}))
	}
	return share
}

// nowhere is the share of the question's weight that none of the passages
// holds, with their titles and headings.
func (l lexicon) nowhere(terms []weighed, best []state.Chunk) float64 {
	bags := make([]*bag, len(best))
	named := set{}
	for i, c := range best {
		bags[i] = l.bag(c.Text)
		for _, name := range append([]string{c.Title}, c.Headings...) {
			named.add(l, name)
		}
	}
	return 1 - coverage(terms, func(t string) float64 {
		if slices.ContainsFunc(bags, func(b *bag) bool { return b.counts[t] > 0 }) {
			return 1
		}
		return named.in(t)
	})
}

// rooted are terms that weigh the root of what they did: how much rarer a rare
// word is than another depends on the size of the index.
func rooted(terms []weighed) []weighed {
	out := slices.Clone(terms)
	for i := range out {
		out[i].weight = math.Sqrt(out[i].weight)
	}
	return out
}

// share is the share of the terms' weight that has reports.
func share(terms []weighed, has func(term string) bool) float64 {
	var all, held float64
	for _, t := range terms {
		all += t.weight
		if has(t.term) {
			held += t.weight
		}
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// exact are the shares of the question's figures and codes, and of its names,
// that a passage holds.
func (l lexicon) exact(question string, in held) (figures, names float64) {
	var n, found [2]float64
	first := true
	for _, t := range l.words(question) {
		word := question[t.Start:t.End]
		kind := -1
		switch {
		case strings.ContainsFunc(word, unicode.IsDigit):
			kind = 0
		case !first && looksLikeName(word, false):
			kind = 1
		}
		first = false
		if kind < 0 {
			continue
		}
		n[kind]++
		if in.has(t.Term) {
			found[kind]++
		}
	}
	share := [2]float64{1, 1}
	for i := range n {
		if n[i] > 0 {
			share[i] = found[i] / n[i]
		}
	}
	return share[0], share[1]
}
