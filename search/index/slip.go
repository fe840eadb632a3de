package index

import (
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/text"
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
	var begun []string                                                   // nil: stemmers may change other letters
	var whole memo.Words[bool]                                           // terms that begin so
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		if begun = s.begun(word, firm); begun == nil {
			return nil
		}
		for _, p := range s.parts {
			p.eachTerm([]byte(word[:firm]), func(term []byte) {
				whole.At(string(term)) // no allocation
			})
		}
	}
	var out []SimilarTerm
	add := func(term string) {
		if term == "" || text.IsFolded(term) || text.IsPhrase(term) || slices.ContainsFunc(out, func(o SimilarTerm) bool { return o.Term == term }) {
			return
		}
		if begun != nil && strings.HasPrefix(term, word[:firm]) {
			if _, known := whole.Get(term); !known {
				return
			}
		}
		if df := s.DocFreq(term); df > 0 {
			out = append(out, SimilarTerm{term, 1, df})
		}
	}
	_, polyglot := s.db.analyzer.(text.Polyglot)
	if polyglot && begun != nil {
		// A word of such letters alone tells of no language, so it takes the way of
		// English, besides those that the index holds.
		for spelling := range oneEdit(word, firm) {
			if begins(spelling, begun, firm) {
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
		if begun != nil && !begins(spelling, begun, firm) {
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

// begun returns what a spelling of a word may have to begin with to give a term, of the
// terms that begin with its first bytes as it does: all but the last letter, which stemmers
// change (happy, happi). nil: no spelling gives one.
func (s *Searcher) begun(word string, firm int) (out []string) {
	for _, p := range s.parts {
		p.eachTerm([]byte(word[:firm]), func(term []byte) {
			_, last := utf8.DecodeLastRune(term)
			if b := term[:max(firm, len(term)-last)]; slipped(word, b) && !slices.Contains(out, string(b)) {
				out = append(out, string(b))
			}
		})
	}
	return out
}

// slipped reports whether one edit may make a word begin with what shares its first
// letters.
func slipped(word string, beginning []byte) bool {
	same := common(beginning, word)
	if same == len(beginning) {
		return true
	}
	rest, left := beginning[same:], word[same:] // the edit is here, or makes the same as one here
	follows := func(rest []byte, left string) bool { return common(rest, left) == len(rest) }
	if len(left) == 0 {
		return len(rest) == 1 // put in at the end
	}
	return follows(rest[1:], left) || follows(rest[1:], left[1:]) || follows(rest, left[1:]) || // put in, replaced, left out
		len(left) > 1 && rest[0] == left[1] && (len(rest) == 1 || rest[1] == left[0] && follows(rest[2:], left[2:])) // swapped
}

// begins reports whether a spelling, whose first bytes are firm, begins with one of some
// strings so long that an ending may be the rest of it.
func begins(spelling []byte, begun []string, firm int) bool {
	least := max(firm, len(spelling)-mostEnding-1)
	for _, b := range begun {
		if len(b) >= least && len(b) <= len(spelling) && string(spelling[:len(b)]) == b {
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
