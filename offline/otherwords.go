package offline

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// Groups of everyday words with which one may say and another ask the same, a group
// a line. They stand for each other loosely ("goal" and "purpose"), and a word may be in
// several groups: that is enough for a grade, and not for a search.
//
//go:embed otherwords.en.txt
var englishOthers string

//go:embed otherwords.vi.txt
var vietnameseOthers string

// longestOther is of how many words, in Vietnamese syllables, a phrase of a group is.
const longestOther = 3

// saidOtherwise gives for a phrase, as terms with a space between, those of its groups.
type saidOtherwise map[string][]string

//nolint:gochecknoglobals // made once; immutable
var (
	inEnglish    = sync.OnceValue(func() saidOtherwise { return newSaidOtherwise(englishOthers, text.For("en")) })
	inVietnamese = sync.OnceValue(func() saidOtherwise { return newSaidOtherwise(vietnameseOthers, text.For("vi")) })
)

func newSaidOtherwise(groups string, a text.Analyzer) saidOtherwise {
	out := saidOtherwise{}
	l := lexicon{analyzer: a}
	for line := range strings.Lines(groups) {
		var group []string
		for phrase := range strings.SplitSeq(line, ",") {
			var terms []string
			for _, t := range saying(l.words(phrase)) {
				terms = append(terms, t.Term)
			}
			if len(terms) > 0 {
				group = append(group, strings.Join(terms, " "))
			}
		}
		for _, phrase := range group {
			for _, other := range group {
				if phrase != other {
					out[phrase] = append(out[phrase], other)
				}
			}
		}
	}
	return out
}

// saying are words without stop words of Vietnamese, which an index may hold or not.
func saying(words []text.Token) []text.Token {
	return slices.DeleteFunc(slices.Clone(words), func(t text.Token) bool { return text.StopWord("vi", t.Term) })
}

// phrases calls yield with each run of up to longestOther words, and the terms of it.
// The phrase is overwritten by the next one.
func phrases(words []text.Token, yield func(phrase []byte, of []text.Token)) {
	var phrase []byte
	for i := range words {
		phrase = phrase[:0]
		for n, t := range words[i:min(len(words), i+longestOther)] {
			if n > 0 {
				phrase = append(phrase, ' ')
			}
			phrase = append(phrase, t.Term...)
			yield(phrase, words[i:i+n+1])
		}
	}
}

// inOtherWords is the share of the question's weight that a passage, which says in,
// lacks and says in other words: everyday ones of the same group, or one that is spelled
// almost like it.
func (l lexicon) inOtherWords(question string, terms []weighed, c state.Chunk, in held) float64 {
	others := inEnglish()
	if l.language(question) == "vi" {
		others = inVietnamese()
	}
	wanted := map[string][]text.Token{} // words of the question, by what would say the same
	phrases(saying(l.words(question)), func(phrase []byte, of []text.Token) {
		for _, other := range others[string(phrase)] {
			wanted[other] = append(wanted[other], of...)
		}
	})
	otherwise := set{}
	if len(wanted) > 0 {
		for words := range l.wordsOf(c) {
			phrases(saying(words), func(phrase []byte, _ []text.Token) {
				for _, t := range wanted[string(phrase)] {
					otherwise[t.Term] = struct{}{}
				}
			})
		}
	}
	return share(terms, func(t string) bool { return !in.has(t) && (otherwise.has(t) || misspelled(t, in)) })
}

// A word of at least as many letters may be misspelled, by two letters where it is long.
const (
	shortestMisspelled = 5
	longMisspelled     = 8
)

// misspelled reports whether a passage holds a word that is spelled almost like a term.
func misspelled(term string, in held) bool {
	if len(term) < shortestMisspelled || !ascii(term) || strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	most := 1
	if len(term) >= longMisspelled {
		most = 2
	}
	for w := range in {
		if w[0] == term[0] && len(w) >= shortestMisspelled-1 && max(len(w)-len(term), len(term)-len(w)) <= most && editsBetween(term, w) <= most {
			return true
		}
	}
	return false
}

// editsBetween is how many letters must be added, left out, changed or swapped with
// their neighbour to make b of a.
func editsBetween(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last = last, row
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
