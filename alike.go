package ragflow

import (
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/text"
)

// leftOut are English words without which a question asks the same. Negations, question words, pronouns,
// prepositions and verbs such as can and must are none of them. Of auxiliaries the first is left out: in "What do
// they do?" the second is what is asked.
var (
	leftOut     = []string{"a", "an", "the", "please"}
	auxiliaries = []string{"do", "does", "is", "are"}
)

// questionWords returns the words by which two questions are the same: in order, without articles and
// the like, without endings and the punctuation around them. Figures, signs and words in capitals stay
// as they are.
func questionWords(question string) string {
	english, auxiliary := text.Language(question) == "en", false
	var out []string
	for word := range strings.FieldsSeq(question) {
		word = strings.TrimRight(word, "?!.,;:…？！。")
		if lower := strings.ToLower(word); word != strings.ToUpper(word) || len(word) == 1 {
			word = lower
		}
		switch {
		case word == "" || english && slices.Contains(leftOut, word):
		case english && !auxiliary && slices.Contains(auxiliaries, word):
			auxiliary = true
		case english:
			out = append(out, stemmed(word))
		default:
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// stemmed returns the stem of a word of English letters; other words and function words stay as they are.
func stemmed(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) }) {
		return word
	}
	terms := text.For("en").Analyze(word)
	if len(terms) != 1 {
		return word
	}
	return terms[0].Term
}
