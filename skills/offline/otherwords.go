package offline

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Groups of everyday words with which one may say and another ask the same, a group
// a line. They stand for each other loosely ("goal" and "purpose"), and a word may be in
// several groups: that is enough for a grade, and not for a search.
//
//go:embed otherwords.en.txt
var englishOthers string

//go:embed otherwords.vi.txt
var vietnameseOthers string

// otherShare is what a word counts that is said in other words, where a passage and its
// statements are looked at; see byOtherWords.
const otherShare = 0.6

// longestOther is of how many words, in Vietnamese syllables, a phrase of a group is.
const longestOther = 3

// longPhrase is how many bytes of such a phrase need no memory of their own.
const longPhrase = 64

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
			for _, t := range l.words(phrase) {
				if !text.StopWord("vi", t.Term) {
					terms = append(terms, t.Term)
				}
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

// runs are the runs of up to longestOther words, without stop words of Vietnamese, which
// an index may hold or not, and without twins.
type runs struct {
	words []text.Token
	at    int               // place of the word to read next
	last  [longestOther]int // places of the last words, the newest first
	known int               // of them
	n     int               // how many the run has
}

// next goes on to the next run; it reports whether there is one.
func (r *runs) next() bool {
	if r.n < r.known {
		r.n++
		return true
	}
	for ; r.at < len(r.words); r.at++ {
		if t := r.words[r.at].Term; text.IsFolded(t) || text.StopWord("vi", t) {
			continue
		}
		copy(r.last[1:], r.last[:])
		r.last[0] = r.at
		r.known, r.n = min(r.known+1, longestOther), 1
		r.at++
		return true
	}
	return false
}

// phrase appends the terms of the run with a space between.
func (r *runs) phrase(dst []byte) []byte {
	for k := r.n - 1; k >= 0; k-- {
		dst = append(dst, r.words[r.last[k]].Term...)
		if k > 0 {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// otherwise are terms of a question by the phrases that say them otherwise.
type otherwise map[string][]string

// otherWords are other words for those of a question: everyday ones of the same group, and
// for a term that none of the passages holds the words of theirs that are spelled almost
// like it.
func (l lexicon) otherWords(question string, terms []weighed, passages []held) otherwise {
	groups := inEnglish()
	if l.language(question) == "vi" {
		groups = inVietnamese()
	}
	out := otherwise{}
	var memory [longPhrase]byte
	for r := (runs{words: l.words(question)}); r.next(); {
		for _, other := range groups[string(r.phrase(memory[:0]))] {
			for _, at := range r.last[:r.n] {
				out[other] = append(out[other], r.words[at].Term)
			}
		}
	}
	for _, t := range terms {
		if !mayBeMisspelled(t.term) || slices.ContainsFunc(passages, func(p held) bool { return p.has(t.term) }) {
			continue
		}
		for _, p := range passages {
			for word := range p {
				if almost(t.term, word) && !slices.Contains(out[word], t.term) {
					out[word] = append(out[word], t.term)
				}
			}
		}
	}
	return out
}

// in calls yield with the terms that words say otherwise, some of them more than once.
func (o otherwise) in(words []text.Token, yield func(term string)) {
	if len(o) == 0 {
		return
	}
	var memory [longPhrase]byte
	for r := (runs{words: words}); r.next(); {
		for _, t := range o[string(r.phrase(memory[:0]))] {
			yield(t)
		}
	}
}

// inOtherWords are the terms that a chunk says otherwise, with its title and headings.
func (l lexicon) inOtherWords(o otherwise, c state.Chunk) set {
	out := set{}
	for words := range l.wordsOf(c) {
		o.in(words, func(term string) { out[term] = struct{}{} })
	}
	return out
}

// A word of at least as many letters may be misspelled, by two letters where it is long.
const (
	shortestMisspelled = 5
	longMisspelled     = 8
)

// mayBeMisspelled reports whether a term is a word long enough to be known misspelled.
func mayBeMisspelled(term string) bool {
	return len(term) >= shortestMisspelled && ascii(term) && !strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) })
}

// misspelled reports whether a passage holds a word that is spelled almost like a term.
func misspelled(term string, in held) bool {
	if mayBeMisspelled(term) {
		for word := range in {
			if almost(term, word) {
				return true
			}
		}
	}
	return false
}

// almost reports whether a word is spelled almost like a term that may be misspelled.
func almost(term, word string) bool {
	most := 1
	if len(term) >= longMisspelled {
		most = 2
	}
	return word[0] == term[0] && len(word) >= shortestMisspelled-1 && max(len(word)-len(term), len(term)-len(word)) <= most && editsBetween(term, word) <= most
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
