package text

import (
	"slices"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"
)

// Polyglot is an analyzer that treats each text in the way of its language.
//
// A document is long enough to tell its language; a query of two words is not.
// So the language is decided where a document is indexed, once for each of its
// parts, and a query gives the terms it would have in each of the languages that
// the index holds: whatever language it is in, and whether that is told rightly or
// not, a word meets itself and its inflected forms.
type Polyglot interface {
	Analyzer
	// Languages returns in which way the parts of a document are to be
	// analyzed, and what has no language of its own, such as its title: codes
	// for AppendIn.
	Languages(parts []string) (whole string, each []string)
	// Codes are the languages that Languages may return, besides "en".
	Codes() []string
	// AppendIn is Append in the way of a language that Languages returned.
	AppendIn(dst []Token, s, lang string) []Token
	// Query returns the terms to search for; of a term that comes again the
	// greatest weight counts. held are the languages that Languages returned for what is searched.
	Query(s string, held []string) []QueryTerm
	// Bound returns an analyzer for texts whose language nobody told, such as
	// sentences of a passage: a word becomes, of the terms that the languages held
	// make of it, the one that known, the number of texts with a term, is greatest for.
	// So a word always gives the same term, whatever stands around it. The result's
	// Append is as fast as that of the analyzer for one language.
	Bound(held []string, known func(term string) int) Analyzer
}

// QueryTerm is a term to search for.
type QueryTerm struct {
	Token

	Weight float64 // beside that of a word as it was typed, which has 1
}

// Multilingual returns the analyzer for documents of any language, mixed as they
// come. Vietnamese is told by its letters, text by text; of the other languages
// in Latin letters, a document's is told by its function words, and that of a part of
// it where the part itself speaks clearly. Cyrillic, Arabic and what is written
// without spaces is treated by its script, wherever it stands. What gives no sign takes
// the way of English. A short text that may be Vietnamese typed without diacritics gives
// the terms of both.
func Multilingual() Polyglot { return multilingual{} }

type multilingual struct{}

// Name changes when that of any analyzer in use, or how a language is told,
// changes.
func (multilingual) Name() string {
	return "multi/3+" + englishAnalyzer.Name() + "+" + vietnameseAnalyzer.Name()
}

func (m multilingual) Analyze(s string) []Token {
	return m.Append(make([]Token, 0, len(s)/7+4), s)
}

func (m multilingual) Append(dst []Token, s string) []Token {
	whole, _ := m.Languages([]string{s})
	return m.AppendIn(dst, s, whole)
}

func (multilingual) Languages(parts []string) (whole string, each []string) {
	each = make([]string, len(parts))
	var all ballot
	v, _ := ballots.Get().(*ballot)
	if v == nil {
		v = &ballot{}
	}
	defer ballots.Put(v)
	for i := range each {
		*v = ballot{}
		if isVietnamese(parts[i]) {
			each[i] = "vi"
			continue
		}
		v.vote(parts[i])
		each[i] = v.language(clearVotes)
		if len(parts) == 1 {
			all = *v
		} else {
			all.add(v)
		}
	}
	if whole = all.language(fewVotes); whole == "" {
		whole = "en" // titles in Vietnamese are told by their letters
	}
	for i := range each {
		if each[i] == "" {
			each[i] = whole
		}
	}
	return whole, each
}

// ballots are idle ones: memory, to be used again.
var ballots sync.Pool //nolint:gochecknoglobals // what is in it never shows

func (multilingual) Codes() []string { return slices.Clone(latinLanguages[:]) }

func (multilingual) AppendIn(dst []Token, s, lang string) []Token {
	if isVietnamese(s) {
		return vietnameseAnalyzer.Append(dst, s)
	}
	first := len(dst)
	if slices.Contains(latinLanguages[:], lang) {
		return For(lang).Append(dst, s)
	}
	return appendToneless(englishAnalyzer.Append(dst, s), first, s)
}

// Weights of the terms of a query beside those of its words as they were typed.
const (
	// foldedWeight is that of a word without its diacritics: it finds what was
	// typed without them, and decides little beside words that are exact. In a
	// query that is all ASCII it counts plainAsked.
	foldedWeight = 0.3
	plainAsked   = 0.8
	// phraseWeight is that of a pair of syllables, chosen among 0.3, 0.5, 0.7 and 1 on
	// XQuAD in Vietnamese: flat from 0.3 to 0.7.
	phraseWeight = 0.5
	// letterWeight is that of an ideograph or Korean syllable beside the pairs it
	// stands in.
	letterWeight = 0.3
	// otherLanguage is that of a term in the way of another language than a query
	// clearly is in: a wrong guess loses nothing.
	otherLanguage = 0.3
)

func (m multilingual) Query(s string, held []string) []QueryTerm {
	lang := clearLanguage(s)
	stop := lang
	if lang == "" && len(held) > 0 && looksEnglish(s) {
		stop = "en"
	}
	out := m.query(nil, s, held, lang, stop)
	if len(out) == 0 && stop != "" { // nothing but function words
		out = m.query(out, s, held, "", "")
	}
	return out
}

// query is Query, lang being what the query is clearly in, or empty, and stop the
// language whose function words are no terms of it: wie, comment are rare words where
// documents are in English, and so is how where they are in French.
func (m multilingual) query(dst []QueryTerm, s string, held []string, lang, stop string) []QueryTerm {
	add := func(tokens []Token, share float64) {
		for _, t := range tokens {
			w := share * termWeight(t.Term, s)
			switch word := lower(s[t.Start:t.End]); {
			case stop != "" && stop != "vi" && StopWord(stop, word):
				continue
			case stop == "" && StopWord("en", word): // "redirect http to https"; but "or" is gold in French
				w *= otherLanguage
			}
			dst = append(dst, QueryTerm{t, w})
		}
	}
	memory := queryTokens.Get().(*[]Token) // the pool holds nothing else
	tokens := m.AppendIn((*memory)[:0], s, "en")
	dst = slices.Grow(dst, len(tokens)*(1+len(held)))
	add(tokens, 1)
	for _, l := range held {
		share := 1.0
		if lang != "" && lang != l {
			share = otherLanguage
		}
		tokens = For(l).Append(tokens[:0], s)
		add(tokens, share)
	}
	tokens = appendTypedCodes(tokens[:0], s)
	add(tokens, 1)
	if tokens = tokens[:cap(tokens)]; len(tokens) <= mostQueryTokens {
		clear(tokens) // they hold the query
		*memory = tokens
		queryTokens.Put(memory)
	}
	return dst
}

// mostQueryTokens is how many memory is kept for.
const mostQueryTokens = 1 << 8

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var queryTokens = sync.Pool{New: func() any { return new([]Token) }}

// looksEnglish reports whether a query that does not tell its language clearly is more
// likely in English than in another one: two function words of it, as in "what is a
// virtual host".
func looksEnglish(s string) bool {
	n := 0
	for _, t := range plainAnalyzer.Analyze(s) {
		if StopWord("en", t.Term) {
			n++
		}
	}
	return n > 1 && Language(s) == "en"
}

// clearLanguage returns the language that a query is in, "" where it does not
// tell.
func clearLanguage(s string) string {
	if isVietnamese(s) {
		return "vi"
	}
	var v ballot
	v.vote(s)
	return v.language(fewVotes)
}

// QueryTerms returns the terms of a query for an analyzer of any kind; held is
// looked at by a [Polyglot] only.
func QueryTerms(a Analyzer, s string, held []string) []QueryTerm {
	if p, ok := a.(Polyglot); ok {
		return p.Query(s, held)
	}
	tokens := a.Analyze(s)
	out := make([]QueryTerm, len(tokens))
	for i, t := range tokens {
		out[i] = QueryTerm{t, termWeight(t.Term, s)}
	}
	return out
}

// termWeight is what a term counts of a word of a query.
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

func (m multilingual) Bound(held []string, known func(string) int) Analyzer {
	if len(held) == 0 {
		return &bound{name: m.Name() + "@", words: englishAnalyzer}
	}
	forms := []func(string) string{englishTerm}
	for _, l := range held {
		forms = append(forms, languageTerm(l))
	}
	name := m.Name() + "@" + strings.Join(held, "+")
	return &bound{name: name, words: newAnalyzer(name, func(surface string) string {
		best, most := forms[0](surface), 0
		if best != "" {
			most = known(best)
		}
		for _, form := range forms[1:] {
			if t := form(surface); t != "" {
				if n := known(t); n > most {
					best, most = t, n
				}
			}
		}
		return best
	})}
}

// bound is a multilingual analyzer that lets the index choose.
type bound struct {
	name  string
	words *analyzer
}

func (b *bound) Name() string { return b.name }

func (b *bound) Analyze(s string) []Token { return b.Append(make([]Token, 0, len(s)/7+4), s) }

func (b *bound) Append(dst []Token, s string) []Token {
	if isVietnamese(s) {
		return vietnameseAnalyzer.Append(dst, s)
	}
	first := len(dst)
	return appendToneless(b.words.Append(dst, s), first, s)
}

// For returns the analyzer of a language, named by its ISO 639-1 code.
// Vietnamese has syllables, pairs of them and terms without diacritics; Arabic,
// Danish, Dutch, English, Finnish, French, German, Hungarian, Italian, Norwegian,
// Polish, Portuguese, Romanian, Russian, Spanish, Swedish and Turkish have stop words and
// stemming, Czech has stop words. Every other language, and the empty code, gets a plain
// analyzer that works for every script: words in lower case, and of what is written
// without spaces, pairs of letters. Words in Cyrillic and Arabic letters are stemmed in
// every language but the plain one.
func For(lang string) Analyzer {
	switch lang {
	case "en":
		return englishAnalyzer
	case "vi":
		return vietnameseAnalyzer
	}
	if a := languageAnalyzers()[lang]; a != nil {
		return a
	}
	return plainAnalyzer
}

// TermOf returns the term that [For](lang) makes of a word of ASCII letters in
// lower case, "" for a stop word. It is quicker than Analyze, and remembers nothing:
// for words that are not in any text, such as guessed spellings. lang is not "vi".
func TermOf(lang, word string) string {
	if lang == "en" {
		if StopWord("en", word) {
			return ""
		}
		return english.Stem(clip(word), true)
	}
	if a := languageAnalyzers()[lang]; a != nil {
		return a.term(word)
	}
	return word
}

//nolint:gochecknoglobals // made once; immutable but for caches that do not show
var languageAnalyzers = sync.OnceValue(func() map[string]*analyzer {
	out := map[string]*analyzer{}
	for _, lang := range append(latinLanguages[:], "ru", "ar") {
		out[lang] = newAnalyzer(lang+"/2", languageTerm(lang))
	}
	return out
})

var (
	englishAnalyzer    = newAnalyzer("en/4", englishTerm) //nolint:gochecknoglobals // immutable but for a cache that does not show
	plainAnalyzer      = newAnalyzer("plain/4", lower)    //nolint:gochecknoglobals // as above
	vietnameseAnalyzer = newVietnamese()                  //nolint:gochecknoglobals // as above
)
