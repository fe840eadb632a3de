package cite

import (
	_ "embed" // the pairs
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

//go:embed opposites.txt
var opposites string

// oppositesOf are the stems of the opposites of a stem.
var oppositesOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	language := "en"
	for line := range strings.Lines(opposites) {
		if rest, ok := strings.CutPrefix(line, "#"); ok {
			if rest = strings.TrimSpace(rest); len(rest) == 2 { // the language of the lines below
				language = rest
			}
			continue
		}
		for pair := range strings.FieldsSeq(line) {
			if a, b, ok := strings.Cut(pair, "/"); ok {
				a, b = stemOf(language, a), stemOf(language, b)
				out[a], out[b] = append(out[a], b), append(out[b], a)
			}
		}
	}
	return out
})

// groupsOf are the groups of words of one meaning that hold a stem.
var groupsOf = sync.OnceValue(func() map[string][]int {
	out := map[string][]int{}
	n := 0
	for group := range strings.FieldsSeq(opposites) {
		if strings.Contains(group, "=") {
			for word := range strings.SplitSeq(group, "=") {
				stem := stemOf("en", word)
				out[stem] = append(out[stem], n)
			}
			n++
		}
	}
	return out
})

// meanSame reports whether two stems are of words of one meaning.
func meanSame(a, b string) bool {
	return slices.ContainsFunc(groupsOf()[a], func(n int) bool { return slices.Contains(groupsOf()[b], n) })
}

// stemOf is what the forms of a word have in common. Where there is no stemmer, words that
// inflect at their end are cut.
func stemOf(language, word string) string {
	switch language {
	case "vi":
		return word
	case "en":
		if terms := text.For("en").Analyze(word); len(terms) > 0 {
			word = terms[0].Term
		}
		if n := len(word); n > 2 && word[n-1] == word[n-2] && strings.IndexByte("efolsz", word[n-1]) < 0 { // adds, added
			word = word[:n-1]
		}
		return word
	}
	if text.StopWord(language, word) {
		return word
	}
	return text.First(word, min(stemRunes, utf8.RuneCountInString(word)-1))
}

const stemRunes = 5

// opposing are prefixes that turn a word into its opposite.
var opposing = []string{"un", "in", "im", "ir", "il", "dis", "non", "de", "anti", "mis"}

// areOpposite reports whether two stems are of words that exclude each other.
func areOpposite(a, b string) bool {
	if a == b {
		return false
	}
	for _, ending := range []string{"", "er", "est"} { // larger, smaller
		short, isA := strings.CutSuffix(a, ending)
		other, isB := strings.CutSuffix(b, ending)
		if isA && isB && slices.Contains(oppositesOf()[short], other) {
			return true
		}
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 4 && slices.ContainsFunc(opposing, func(p string) bool { return b == p+a })
}
