package offline

import (
	"strings"
	"unicode"

	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// apartWeight is what a name of two words counts, of an unknown name, where
// what was found holds the words apart only: Windows here and Home there.
const apartWeight = 0.8

// names are the pairs of neighbouring words of a question that are one name:
// "Docker Business", "Windows 95".
func (l lexicon) names(question string) [][2]string {
	lang := text.Language(question)
	var out [][2]string
	var last text.Token
	for _, t := range l.words(question) {
		word := question[t.Start:t.End]
		if last.End > 0 && last.End+1 == t.Start && question[last.End] == ' ' && partOfName(lang, question[last.Start:last.End], false) && partOfName(lang, word, true) {
			out = append(out, [2]string{last.Term, t.Term})
		}
		last = t
	}
	return out
}

func partOfName(lang, word string, numbers bool) bool {
	if functionWord(lang, word) || askingWord(strings.ToLower(word)) {
		return false
	}
	first := []rune(word)[0]
	return unicode.IsUpper(first) || numbers && digitsOnly(word)
}

// apart are the names that none of the chunks holds as one, as terms that none
// of them has.
func (l lexicon) apart(question string, chunks []state.Chunk) []weighed {
	var out []weighed
	for _, name := range l.names(question) {
		whole := false
		for _, c := range chunks {
			for _, s := range append([]string{c.Text, c.Title}, c.Headings...) {
				whole = whole || l.adjacent(s, name)
			}
		}
		if !whole {
			term := name[0] + " " + name[1]
			out = append(out, weighed{term: term, weight: apartWeight * unseenName * l.idf(term)})
		}
	}
	return out
}

func (l lexicon) adjacent(s string, name [2]string) bool {
	last := ""
	for _, t := range l.words(s) {
		if last == name[0] && t.Term == name[1] {
			return true
		}
		last = t.Term
	}
	return false
}

// Passages that repeat a part of the question word for word: it is a message
// that someone pasted.
const (
	minRun    = 4    // words
	runGain   = 0.04 // for each word from there on…
	runWords  = 8    // …up to so many
	mostWords = 80   // of a question that are looked at
)

// repeats is what a text gains by repeating the question word for word.
func repeats(question []string, s string) float64 {
	if len(question) < minRun {
		return 0
	}
	words := plainWords(s)
	longest := 0
	for i := range words {
		for j := range question[:min(len(question), mostWords)] {
			n := 0
			for i+n < len(words) && j+n < len(question) && words[i+n] == question[j+n] {
				n++
			}
			longest = max(longest, n)
		}
	}
	return runGain * float64(min(max(0, longest-minRun+1), runWords))
}
