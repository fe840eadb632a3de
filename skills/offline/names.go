package offline

import (
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// apartWeight is what a name of two words counts, of an unknown name, where
// what was found holds the words apart only: Windows here and Home there.
const apartWeight = 0.8

// names are the pairs of neighbouring words of a question that are one name:
// "Docker Business", "Windows 95".
func (l lexicon) names(question string) [][2]string {
	lang := l.language(question)
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
			for words := range l.wordsOf(c) {
				whole = whole || adjacent(words, name)
			}
		}
		if !whole {
			term := name[0] + " " + name[1]
			out = append(out, weighed{term: term, weight: apartWeight * unseenName * l.idf(term)})
		}
	}
	return out
}

func adjacent(words []text.Token, name [2]string) bool {
	last := ""
	for _, t := range words {
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

// repeats is what a text of such words gains by repeating the question word for
// word.
func repeats(question, words []string) float64 {
	if len(question) < minRun {
		return 0
	}
	longest, _ := run(question, words)
	return runGain * float64(min(max(0, longest-minRun+1), runWords))
}

// run is how many words of a message stand in a row in a text, and which one is
// the first of them.
func run(message, words []string) (longest, from int) {
	for i := range words {
		for j := range message[:min(len(message), mostWords)] {
			n := 0
			for i+n < len(words) && j+n < len(message) && words[i+n] == message[j+n] {
				n++
			}
			if n > longest {
				longest, from = n, j
			}
		}
	}
	return longest, from
}

// polishEndings are those that Polish puts to names that are nouns, the longest
// first: "Windowsie", "Linuksem", "Dockera".
const polishEndings = "owi ami ach iem em ie ze om ów a u y e ą ę"

// nominatives are the names of a Polish text as the documents write them, where
// they do not know them as they stand: Windows for "Windowsie".
func (l lexicon) nominatives(s string) string {
	if !polish(plainWords(s)) && text.Language(s) != "pl" {
		return ""
	}
	var out []string
	for _, w := range wordsAt(s) {
		written := s[w.start:w.end]
		if !looksLikeName(written, w.start == 0) || l.knows(written) {
			continue
		}
		if name := l.nominative(written); name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

func (l lexicon) nominative(word string) string {
	for ending := range strings.FieldsSeq(polishEndings) {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok || len(stem) < minStem {
			continue
		}
		for _, name := range []string{stem, strings.TrimSuffix(stem, "ks") + "x"} {
			if name != "x" && (name == stem || strings.HasSuffix(stem, "ks")) && l.knows(name) {
				return name
			}
		}
	}
	return ""
}

// minStem is how short a name can be, in bytes.
const minStem = 3

// knows reports whether some passage holds a word.
func (l lexicon) knows(word string) bool {
	for _, t := range l.analyze(word) {
		if l.docFreq(t.Term) > 0 {
			return true
		}
	}
	return false
}
