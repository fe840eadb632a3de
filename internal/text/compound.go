package text

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// A compound such as Urlaubsantrag and its parts have n-grams of letters in common. N-grams need
// no dictionary, so they find a part that stands nowhere alone, and other forms of a word too.
const (
	ngramMark    = "*" // begins the terms of n-grams, and no other term
	ngramLetters = 4
	// longWord is the number of letters of a word of a document from which its n-grams are terms,
	// chosen among 6, 8 and 10: see docs/search-ablation.md.
	longWord = 6
	// ngramWeight is the weight of an n-gram relative to the word of a query that has it, chosen among
	// 0.1 to 0.4.
	ngramWeight = 0.2
)

// compounding are the languages that write compounds as one word.
var compounding = []string{"da", "de", "fi", "hu", "nl", "no", "sv"}

// NGrams returns the n-grams of letters of a word of a document as terms, given the term of the
// word by the rules of a language; none in languages that write the parts of a compound as words.
func NGrams(lang, term string) iter.Seq[string] { return ngrams(lang, term, longWord) }

func ngrams(lang, term string, least int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !slices.Contains(compounding, lang) || utf8.RuneCountInString(term) < least || !allLetters(term) {
			return
		}
		letters := []rune(term)
		for i := range len(letters) - ngramLetters + 1 {
			if !yield(ngramMark + string(letters[i:i+ngramLetters])) {
				return
			}
		}
	}
}

// NGrams returns the n-grams of a term of a query, which may be a part of longer words, and their
// weight.
func (t QueryTerm) NGrams() (terms iter.Seq[string], weight float64) {
	return ngrams(t.Language, t.Term, ngramLetters), ngramWeight * t.Weight
}
