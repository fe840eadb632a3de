package offline

import (
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

const (
	ownWords     = 0.6 // share of a question's words, of which the index knows so many: it is asked in the language of the documents
	shortestStem = 3   // letters of a name that an inflection leaves: Macu of Mac
	longestTail  = 2   // letters that inflection adds: Dockera of Docker
)

// shared are the words of a question that the documents, which are in another
// language, can hold nevertheless: names, codes, figures and loans that the index
// knows, and names that it does not. ok is false where the question is in the
// language of one of the best passages, or the index knows most of its words.
func (l lexicon) shared(question string, best []state.Chunk) (words []string, ok bool) {
	lang := l.language(question)
	if slices.ContainsFunc(best, func(c state.Chunk) bool { return l.language(c.Text) == lang }) {
		return nil, false
	}
	all, known, end := 0, 0, 0
	for _, t := range l.words(question) {
		word := question[t.Start:t.End]
		if t.Start < end || functionWord(lang, word) {
			continue
		}
		end = t.End
		all++
		switch {
		case l.docFreq(t.Term) > 0:
			known++
			words = append(words, word)
		case looksLikeName(word, t.Start == 0):
			words = append(words, l.uninflected(word))
		}
	}
	return words, all > 0 && float64(known) < ownWords*float64(all)
}

// uninflected is a name without its ending where the index knows it so.
func (l lexicon) uninflected(name string) string {
	runes := []rune(name)
	for n := len(runes) - 1; n >= max(shortestStem, len(runes)-longestTail); n-- {
		for _, t := range l.words(string(runes[:n])) {
			if l.docFreq(t.Term) > 0 {
				return string(runes[:n])
			}
		}
	}
	return name
}

// examineShared measures only the words that a question shares with documents in
// another language. carried is how much they carry, from 0 to 1: 1 where fewer
// than one chunk of the index would hold as rare words by chance.
func (l lexicon) examineShared(words []string, best []state.Chunk) (e evidence, carried float64) {
	q := state.Query{Text: strings.Join(words, ", ")}
	e = l.examine(q, best)
	p := l.passage(1, state.Source{Chunk: best[e.at]}).whole()
	sum := 0.0
	for _, t := range l.question(q) {
		if p.has(t.term) {
			sum += l.idf(t.term)
		}
	}
	return e, min(1, sum/math.Log(float64(max(2, l.stats.Docs()))))
}
