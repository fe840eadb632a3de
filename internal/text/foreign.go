package text

import (
	"slices"
	"strings"
)

// Index describes an index to [Foreign]. An index with a method Speaks(language string) bool,
// which reports whether chunks are marked as written in a language, gives better results.
type Index interface {
	Analyzer() Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that hold a term
}

// minFound is the number of found texts that show the language of the documents.
const minFound = 3

// everyday are English words that most English documents have and others do not. Function words
// are in no index.
const everyday = "day year time work people need change first new number"

// Foreign reports whether a question is in another language than the documents of an index,
// given some texts that it found. Both languages must be clear: a question of two nouns, and
// documents made of tables of names and numbers, may be in any language.
func Foreign(question string, found []string, x Index) bool {
	asked := clearLanguage(question)
	index, tells := x.(interface{ Speaks(language string) bool })
	marked := asked != "en" && asked != "vi" // the default of an index for unclear texts
	if asked == "" || x == nil || x.Docs() == 0 || tells && marked && index.Speaks(asked) {
		return false
	}
	others := 0
	for _, s := range found {
		switch clearLanguage(s) {
		case asked:
			return false
		case "":
		default:
			others++
		}
	}
	switch {
	case 2*others > len(found) && others >= min(minFound, x.Docs()):
		return true
	case !tells || asked == "vi":
		return false
	case asked == "en":
		return !index.Speaks("en")
	}
	english := 0
	for _, t := range x.Analyzer().Analyze(everyday) {
		english += min(1, x.DocFreq(t.Term))
	}
	return english > 1 || slices.ContainsFunc(Multilingual().Codes(), index.Speaks)
}

// clearLanguage returns the language of a text if it is clear, else "".
func clearLanguage(s string) string {
	s = s[:min(len(s), maxLanguage)]
	if lang := byScript(s); lang != "" {
		return lang
	}
	lang, _ := clearly(s)
	if lang != "vi" {
		return lang
	}
	said := map[string]bool{} // a name has no function words
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		if w = strings.Trim(w, ".,;:?!"); !isASCII(w) && StopWord("vi", w) {
			said[w] = true
		}
	}
	if len(said) < 2 {
		return ""
	}
	return lang
}
