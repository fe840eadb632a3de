package cite

import (
	_ "embed" // the words
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

//go:embed words.txt
var wordList string

// lexicon holds the words of a language that rules need. Its maps are nil for a language without a list.
type lexicon struct {
	language                                        string
	negations, limits, openers, turners, universals map[string]bool
	digits                                          map[string]string   // of spelled-out numbers
	spellings                                       map[string][]string // spelled-out forms of digits
	opposites                                       map[string][]string // of stems
	groups                                          map[string][]int    // numbers of the synonym groups of a stem
}

// lexiconOf returns the lexicon of a language (ISO 639-1).
func lexiconOf(language string) *lexicon {
	if l := lexicons()[language]; l != nil {
		return l
	}
	return &lexicon{language: language}
}

var lexicons = sync.OnceValue(func() map[string]*lexicon {
	all := map[string]*lexicon{}
	for line := range strings.Lines(wordList) {
		head, words, found := strings.Cut(line, ": ")
		language, kind, named := strings.Cut(head, " ")
		if !found || !named || strings.HasPrefix(line, "#") {
			continue
		}
		if all[language] == nil {
			all[language] = &lexicon{
				language: language, negations: map[string]bool{}, limits: map[string]bool{}, openers: map[string]bool{}, turners: map[string]bool{}, universals: map[string]bool{},
				digits: map[string]string{}, spellings: map[string][]string{}, opposites: map[string][]string{}, groups: map[string][]int{},
			}
		}
		for entry := range strings.FieldsSeq(words) {
			all[language].add(kind, entry)
		}
	}
	return all
})

// add adds an entry of words.txt.
func (l *lexicon) add(kind, entry string) {
	switch kind {
	case "opposites":
		a, b, _ := strings.Cut(entry, "/")
		a, b = l.stem(a), l.stem(b)
		l.opposites[a], l.opposites[b] = append(l.opposites[a], b), append(l.opposites[b], a)
	case "same":
		n := len(l.groups)
		for word := range strings.SplitSeq(entry, "=") {
			l.groups[l.stem(word)] = append(l.groups[l.stem(word)], n)
		}
	case "number":
		forms := strings.Split(entry, "=")
		l.spellings[forms[0]] = forms[1:]
		for _, form := range forms[1:] {
			l.digits[form] = forms[0]
		}
	case "negation":
		l.negations[entry] = true
	case "limit":
		l.limits[entry] = true
	case "opener":
		l.openers[entry] = true
	case "universal":
		l.universals[entry] = true
	case "turner":
		l.turners[entry] = true
	}
}

// stem returns the common part of the forms of a word.
func (l *lexicon) stem(word string) string {
	switch l.language {
	case "vi":
		return word
	case "en", "de":
		if terms := text.For(l.language).Analyze(word); len(terms) > 0 {
			word = terms[0].Term
		}
		if n := len(word); l.language == "en" && n > 2 && word[n-1] == word[n-2] && strings.IndexByte("efolsz", word[n-1]) < 0 { // adds, added
			word = word[:n-1]
		}
		return word
	}
	if text.StopWord(l.language, word) {
		return word
	}
	return text.First(word, min(stemRunes, utf8.RuneCountInString(word)-1))
}

// stemRunes is the length to which words are cut in languages with inflected endings and no stemmer here.
const stemRunes = 5

// negates reports whether a word is a negation.
func (l *lexicon) negates(word string) bool {
	return l.negations[word] || strings.HasSuffix(word, "n't")
}

// meanSame reports whether two stems are synonyms.
func (l *lexicon) meanSame(a, b string) bool {
	return a == b || slices.ContainsFunc(l.groups[a], func(n int) bool { return slices.Contains(l.groups[b], n) })
}

// prefixes make the opposite of a word.
var prefixes = []string{"un", "in", "im", "ir", "il", "dis", "non", "de", "anti", "mis", "nie"}

// areOpposite reports whether two stems exclude each other.
func (l *lexicon) areOpposite(a, b string) bool {
	if a == b {
		return false
	}
	for _, ending := range []string{"", "er", "est"} { // larger, smaller
		short, isA := strings.CutSuffix(a, ending)
		other, isB := strings.CutSuffix(b, ending)
		if isA && isB && slices.Contains(l.opposites[short], other) {
			return true
		}
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 4 && slices.ContainsFunc(prefixes, func(p string) bool { return b == p+a })
}
