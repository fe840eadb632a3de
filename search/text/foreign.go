package text

import (
	"slices"
	"strings"
)

// Index is what [Foreign] asks of an index. A method Speaks(language string) bool, which reports
// whether chunks are marked as written in a language, tells more.
type Index interface {
	Analyzer() Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that hold a term
}

// enoughFound is how many texts that a question finds tell the language of the documents.
const enoughFound = 3

// everyday are English words that most documents in English have and others do not. Function words
// are in no index.
const everyday = "day year time work people need change first new number"

// Foreign reports whether a question is in another language than the documents of an index, of which it
// found some texts. Both languages must be clear: a question of two nouns, and documents that are tables of
// names and numbers, may be in any.
func Foreign(question string, found []string, x Index) bool {
	asked := clearLanguage(question)
	index, tells := x.(interface{ Speaks(language string) bool })
	marked := asked != "en" && asked != "vi" // an index takes for these what gives no sign
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
	case 2*others > len(found) && others >= min(enoughFound, x.Docs()):
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

// clearLanguage is [Language] where a text tells it clearly, else "".
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
