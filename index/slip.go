package index

import (
	"slices"
	"unicode/utf8"

	"example.com/ragflow/text"
)

// mostSlips is how long a word may be, in letters, for its spellings to be
// tried: there are 53 a letter.
const mostSlips = 20

// slips returns the terms of words that one edit behind the first letter makes
// of a word. The dictionary holds words without their endings, so a slip within
// an ending, as in "refrigeratoin", is far from every term; each spelling is
// analyzed instead. It takes about a millisecond.
func (s *Searcher) slips(word string) []SimilarTerm {
	if n := utf8.RuneCountInString(word); n < twoEdits || n > mostSlips {
		return nil
	}
	var out []SimilarTerm
	analyzers := s.analyzers()
	for spelling := range oneEdit([]rune(word)) {
		for _, a := range analyzers {
			for _, t := range a.Analyze(spelling) {
				if text.IsFolded(t.Term) || text.IsPhrase(t.Term) || t.End-t.Start < len(spelling) ||
					slices.ContainsFunc(out, func(o SimilarTerm) bool { return o.Term == t.Term }) {
					continue
				}
				if df := s.DocFreq(t.Term); df > 0 {
					out = append(out, SimilarTerm{t.Term, 1, df})
				}
			}
		}
	}
	return out
}

// oneEdit yields the spellings that one edit makes of a word: two neighbours
// swapped, a letter left out, replaced or put in. The first letter stays.
func oneEdit(word []rune) func(yield func(string) bool) {
	with := func(i, upTo int, letters ...rune) string {
		return string(slices.Concat(word[:i], letters, word[upTo:]))
	}
	return func(yield func(string) bool) {
		for i := 1; i <= len(word); i++ {
			if i+1 < len(word) && !yield(with(i, i+2, word[i+1], word[i])) {
				return
			}
			if i < len(word) && !yield(with(i, i+1)) {
				return
			}
			for l := 'a'; l <= 'z'; l++ {
				if !yield(with(i, i, l)) || i < len(word) && !yield(with(i, i+1, l)) {
					return
				}
			}
		}
	}
}
