package text

import "strings"

// Polyglot is the analyzer of documents in any mix of languages.
//
// A document is long enough to detect its language; a query of two words is not. So the
// language is decided when a document is indexed, once for each of its parts, and a query gives
// the terms it would have in each language of the index. Hence a word matches its inflected
// forms, whether or not the language of the query is detected correctly.
//
// Vietnamese is detected by its letters, text by text; the other languages in Latin letters by
// their function words. Cyrillic, Arabic and scripts without spaces are treated by script. Text
// without evidence is treated as English. A short text that may be Vietnamese without
// diacritics gives the terms of both.
type Polyglot struct{}

// Multilingual returns a Polyglot.
func Multilingual() Polyglot { return Polyglot{} }

// Name changes if the name of any analyzer in use, or the detection of languages, changes.
func (Polyglot) Name() string {
	return "multi/8+" + For("en").Name() + "+" + vietnameseAnalyzer.Name()
}

// Analyze returns the tokens of a text by the rules of its language.
func (p Polyglot) Analyze(s string) []Token {
	return p.Append(make([]Token, 0, len(s)/7+4), s)
}

// Append appends the tokens of s to a slice of the caller.
func (p Polyglot) Append(dst []Token, s string) []Token {
	whole, _ := p.Languages([]string{s})
	return p.AppendIn(dst, s, whole)
}

// Languages returns the languages of the parts of a document, and that of text without a
// language of its own, such as the title, as codes for AppendIn.
func (Polyglot) Languages(parts []string) (whole string, each []string) {
	each = make([]string, len(parts))
	var all tally
	for i, part := range parts {
		if isVietnamese(part) {
			each[i] = "vi"
			continue
		}
		var one tally
		one.add(part)
		each[i] = one.language(clearVotes)
		all.merge(&one)
	}
	if whole = all.language(fewVotes); whole == "" || whole == "vi" {
		whole = "en" // Vietnamese titles are detected by their letters
	}
	for i := range each {
		if each[i] == "" {
			each[i] = whole
		}
	}
	return whole, each
}

// Codes returns the languages that Languages may return, without "en" and "vi".
func (Polyglot) Codes() []string {
	var out []string
	for _, l := range latinLanguages[:ofEnglish] {
		out = append(out, l.code)
	}
	return out
}

// AppendIn is Append by the rules of a language that Languages returned.
func (Polyglot) AppendIn(dst []Token, s, lang string) []Token {
	if isVietnamese(s) {
		return vietnameseAnalyzer.Append(dst, s)
	}
	if lang != "en" {
		return For(lang).Append(dst, s)
	}
	return appendToneless(languageAnalyzers()["en"], dst, s)
}

// QueryTerm is a term to search for.
type QueryTerm struct {
	Token

	Weight   float64 // relative to a word as typed, which has 1
	Language string  // by whose rules a [Polyglot] made the term
}

// Weights of the terms of a query relative to its words as typed.
const (
	// foldedWeight is the weight of a word without its diacritics: it finds words typed without
	// them, and decides little among exact words. In a query that is all ASCII it is
	// plainAsked.
	foldedWeight = 0.3
	plainAsked   = 0.8
	// phraseWeight is the weight of a pair of syllables, chosen among 0.3, 0.5, 0.7 and 1 on XQuAD in Vietnamese.
	phraseWeight = 0.5
	// letterWeight is the weight of an ideograph or Korean syllable whose pairs are terms too.
	letterWeight = 0.3
	// otherLanguage is the weight of a term by the rules of another language than the query is
	// likely in, and of an English function word in a query of unclear language: a wrong guess
	// loses little.
	otherLanguage = 0.3
)

// queryTerms is QueryTerms of a Polyglot.
func (p Polyglot) queryTerms(s string, held []string, main string) []QueryTerm {
	lang, _ := clearly(s)
	if out := p.queryTermsIn(s, held, main, lang); len(out) > 0 {
		return out
	}
	return p.queryTermsIn(s, held, main, "") // nothing but function words
}

// queryTermsIn returns the terms of a query that is clearly in lang, or "". Function words of
// lang are no terms: in English documents wie and comment are rare words, as is how in French.
func (p Polyglot) queryTermsIn(s string, held []string, main, lang string) []QueryTerm {
	var out []QueryTerm
	likely := Language(s)
	add := func(tokens []Token, by string, share float64) {
		for _, t := range tokens {
			w := share * termWeight(t.Term, s)
			word := lower(s[t.Start:t.End])
			switch {
			case lang != "" && lang != "vi" && StopWord(lang, word):
				continue
			case lang == "" && StopWord("en", word): // "redirect http to https"; but "or" is gold in French
				w = min(w, otherLanguage)
			}
			out = append(out, QueryTerm{t, w, by})
		}
	}
	add(p.AppendIn(nil, s, "en"), "en", 1)
	for _, l := range held {
		share := otherLanguage
		if l == likely || l == main && lang == "" { // two nouns may be in any language
			share = 1
		}
		add(For(l).Analyze(s), l, share)
	}
	return out
}

// QueryTerms returns the terms to search for; a term may come several times, and its greatest
// weight counts. Only a [Polyglot] needs the languages that its Languages returned for the
// documents, held, and that of most of them, main, or "".
func QueryTerms(a Analyzer, s string, held []string, main string) []QueryTerm {
	if p, ok := a.(Polyglot); ok {
		return p.queryTerms(s, held, main)
	}
	tokens := a.Analyze(s)
	out := make([]QueryTerm, len(tokens))
	for i, t := range tokens {
		out[i] = QueryTerm{Token: t, Weight: termWeight(t.Term, s)}
	}
	return out
}

// termWeight is the weight of a term of a word of a query.
func termWeight(term, query string) float64 {
	w := 1.0
	if IsFolded(term) {
		w = foldedWeight
		if isASCII(query) {
			w = plainAsked
		}
	}
	if IsPhrase(term) {
		w *= phraseWeight
	}
	if isLetterAlone(term) && len(query) > len(term) {
		w *= letterWeight
	}
	return w
}

// Bound returns an analyzer for texts of unknown language, such as sentences of a passage.
// Among the terms that English and the languages held make of a word, it takes the one in most
// texts; known returns the number of texts with a term. So a word always gives the same term,
// whatever its context.
func (p Polyglot) Bound(held []string, known func(term string) int) Analyzer {
	forms := []func(string) string{languageTerm("en")}
	for _, l := range held {
		forms = append(forms, languageTerm(l))
	}
	name := p.Name() + "@" + strings.Join(held, "+")
	return bound{newAnalyzer(name, func(word string) string {
		best := forms[0](word)
		most := known(best)
		for _, form := range forms[1:] {
			if t := form(word); t != "" && known(t) > most {
				best, most = t, known(t)
			}
		}
		return best
	})}
}

// bound is a Polyglot that takes the terms of an index.
type bound struct{ *analyzer }

func (b bound) Analyze(s string) []Token { return b.Append(make([]Token, 0, len(s)/7+4), s) }

func (b bound) Append(dst []Token, s string) []Token {
	if isVietnamese(s) {
		return vietnameseAnalyzer.Append(dst, s)
	}
	return appendToneless(b.analyzer, dst, s)
}
