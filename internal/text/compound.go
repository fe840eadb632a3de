package text

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// A compound such as Urlaubsantrag and its parts have runs of letters in common. Runs need no
// dictionary, so they find a part that stands nowhere alone, and other forms of a word too.
const (
	runMark    = "*" // begins the terms of runs, and no other term
	runLetters = 4
	// longWord is the number of letters of a word of a document from which its runs are terms,
	// chosen among 6, 8 and 10: see docs/search-ablation.md.
	longWord = 6
	// runWeight is the weight of a run relative to the word of a query that has it, chosen among
	// 0.1 to 0.4.
	runWeight = 0.2
)

// compounding are the languages that write compounds as one word.
var compounding = []string{"da", "de", "fi", "hu", "nl", "no", "sv"}

// Runs returns the terms of the runs of letters of a word of a document, given its term by the
// rules of a language; none in languages that write the parts of a compound as words.
func Runs(lang, term string) iter.Seq[string] { return runs(lang, term, longWord) }

func runs(lang, term string, least int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !slices.Contains(compounding, lang) || utf8.RuneCountInString(term) < least || !allLetters(term) {
			return
		}
		letters := []rune(term)
		for i := range len(letters) - runLetters + 1 {
			if !yield(runMark + string(letters[i:i+runLetters])) {
				return
			}
		}
	}
}

// Runs returns the runs of letters of the word that a term of a query stands for, which may be
// a part of longer words. Each has runWeight times the weight of the term.
func (t QueryTerm) Runs() (names iter.Seq[string], weight float64) {
	return runs(t.Language, t.Term, runLetters), runWeight * t.Weight
}
