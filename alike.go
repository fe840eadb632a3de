package ragflow

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/text"
)

// leftOut are English words without which a question asks the same. Negations, question words, pronouns,
// prepositions and verbs such as can and must are none of them.
var leftOut = []string{"a", "an", "the", "please", "do", "does", "is", "are"}

// questionWords returns the words by which two questions are the same: in order, without articles and
// the like, without endings and the punctuation around them. Figures, signs and words in capitals stay
// as they are.
func questionWords(question string) string {
	english := text.Language(question) == "en"
	var out []string
	for word := range strings.FieldsSeq(question) {
		word = strings.TrimRight(word, "?!.,;:…？！。")
		if lower := strings.ToLower(word); word != strings.ToUpper(word) || len(word) == 1 {
			word = lower
		}
		switch {
		case word == "" || english && slices.Contains(leftOut, word):
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

// cosine returns the cosine of two vectors; 0 if they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i])*float64(b[i]), x+float64(a[i])*float64(a[i]), y+float64(b[i])*float64(b[i])
	}
	if x == 0 || y == 0 {
		return 0
	}
	return dot / math.Sqrt(x*y)
}
