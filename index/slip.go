package index

import (
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/text"
)

const (
	// mostSlips is how long a word may be, in letters, for its spellings to be
	// tried: there are 53 a letter.
	mostSlips = 20
	// mostEnding is how many letters an ending has at most. A slip before it is one
	// in the term itself, which Similar finds.
	mostEnding = 7
	// firmLetters is how many letters no ending reaches.
	firmLetters = 3
)

// slips returns the terms of words that one edit near their end makes of a word.
// The dictionary holds words without their endings, so a slip within an ending,
// as in "refrigeratoin", is far from every term; each spelling is analyzed
// instead, where some term begins as it does.
func (s *Searcher) slips(word string) []SimilarTerm {
	n := utf8.RuneCountInString(word)
	if n < twoEdits || n > mostSlips {
		return nil
	}
	firm := len(string([]rune(word)[:max(firmLetters, n-mostEnding-1)])) // bytes
	var stems *stems                                                     // nil: stemmers may change other letters
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		if stems = s.stems(word[:firm]); len(stems.whole) == 0 {
			return nil
		}
	}
	var out []SimilarTerm
	add := func(term string) {
		if term == "" || text.IsFolded(term) || text.IsPhrase(term) || slices.ContainsFunc(out, func(o SimilarTerm) bool { return o.Term == term }) {
			return
		}
		if stems != nil && strings.HasPrefix(term, word[:firm]) && !stems.whole[term] {
			return
		}
		if df := s.DocFreq(term); df > 0 {
			out = append(out, SimilarTerm{term, 1, df})
		}
	}
	_, polyglot := s.db.analyzer.(text.Polyglot)
	if polyglot && stems != nil {
		// A word of such letters alone tells of no language, so it takes the way of
		// English, besides those that the index holds.
		for spelling := range oneEdit(word, firm) {
			if stems.of(spelling, firm) {
				spelling := string(spelling)
				add(text.TermOf("en", spelling))
				for _, lang := range s.held {
					add(text.TermOf(lang, spelling))
				}
			}
		}
		return out
	}
	analyzers := s.analyzers()
	for spelling := range oneEdit(word, firm) {
		if stems != nil && !stems.of(spelling, firm) {
			continue
		}
		for _, a := range analyzers {
			for _, t := range a.Analyze(string(spelling)) {
				if t.End-t.Start == len(spelling) {
					add(t.Term)
				}
			}
		}
	}
	return out
}

// stems are the terms that begin as a word does.
type stems struct {
	whole map[string]bool
	// begun has of each all but its last letter, which stemmers change (happy,
	// happi): a word must begin with one to give the term.
	begun map[string]bool
}

// stems returns those of the terms that begin with prefix.
func (s *Searcher) stems(prefix string) *stems {
	out := &stems{map[string]bool{}, map[string]bool{}}
	for _, p := range s.parts {
		p.eachTerm([]byte(prefix), func(term []byte) {
			_, last := utf8.DecodeLastRune(term)
			t := string(term)
			out.whole[t] = true
			out.begun[t[:max(len(prefix), len(t)-last)]] = true
		})
	}
	return out
}

// of reports whether a word, whose first bytes are firm, may give one of the terms.
func (s *stems) of(word []byte, firm int) bool {
	for end := max(firm, len(word)-mostEnding-1); end <= len(word); end++ {
		if s.begun[string(word[:end])] {
			return true
		}
	}
	return false
}

// oneEdit yields the spellings that one edit makes of a word from some byte on: two
// neighbours swapped, a letter left out, replaced or put in. What is yielded
// is valid until the next.
func oneEdit(word string, from int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		buf := make([]byte, 0, len(word)+1)
		with := func(i, upTo int, between ...string) []byte {
			buf = append(buf[:0], word[:i]...)
			for _, s := range between {
				buf = append(buf, s...)
			}
			return append(buf, word[upTo:]...)
		}
		letters := "abcdefghijklmnopqrstuvwxyz"
		for i := from; i <= len(word); {
			_, size := utf8.DecodeRuneInString(word[i:])
			next := i + size
			_, after := utf8.DecodeRuneInString(word[next:])
			if after > 0 && !yield(with(i, next+after, word[next:next+after], word[i:next])) {
				return
			}
			if size > 0 && !yield(with(i, next)) {
				return
			}
			for l := range letters {
				if !yield(with(i, i, letters[l:l+1])) || size > 0 && !yield(with(i, next, letters[l:l+1])) {
					return
				}
			}
			if size == 0 {
				return
			}
			i = next
		}
	}
}
