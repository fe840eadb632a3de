package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// latinLanguages are the languages in Latin letters that have an analyzer of
// their own besides English and Vietnamese, in the order of their codes. Czech
// has no stemmer; it is here so that it is not taken for Polish.
//
//nolint:gochecknoglobals // a constant that Go has no syntax for
var latinLanguages = [...]string{"cs", "da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "pl", "pt", "ro", "sv", "tr"}

// stemmerOf returns what takes the endings off a word of a language in lower
// case, nil for a language without a stemmer.
func stemmerOf(lang string) func(string) string {
	switch lang {
	case "ar":
		return snowball(arabic.Stem)
	case "da":
		return snowball(danish.Stem)
	case "de":
		return snowball(german.Stem)
	case "es":
		return folded(snowball(spanish.Stem))
	case "fi":
		return snowball(finnish.Stem)
	case "fr":
		return folded(snowball(french.Stem))
	case "hu":
		return snowball(hungarian.Stem)
	case "it":
		return folded(snowball(italian.Stem))
	case "nl":
		return folded(snowball(dutch.Stem))
	case "no":
		return snowball(norwegian.Stem)
	case "pl":
		return polishStem
	case "pt":
		return folded(snowball(portuguese.Stem))
	case "ro":
		return folded(snowball(romanian.Stem))
	case "ru":
		return snowball(russian.Stem)
	case "sv":
		return snowball(swedish.Stem)
	case "tr":
		return snowball(turkish.Stem)
	}
	return nil
}

func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(w string) string {
		env := snowballstem.NewEnv(w)
		stem(env)
		return env.Current()
	}
}

// folded is a stemmer whose stems have no diacritics: in these languages they
// are often left out, and tell few words apart.
func folded(stem func(string) string) func(string) string {
	return func(w string) string { return Fold(stem(w)) }
}

// Bounds of what is stemmed, in bytes: shorter words have no endings, longer ones
// are no words.
const (
	minStemmed = 3
	maxStemmed = 64
)

// languageTerm returns what makes terms of the words of a language: stop words
// and elided articles go, the rest loses its endings.
func languageTerm(lang string) func(surface string) string {
	stem := stemmerOf(lang)
	return func(surface string) string {
		t := withoutArticle(lang, lower(surface))
		if t == "" || StopWord(lang, t) {
			return ""
		}
		if term, ok := scriptTerm(t); ok {
			return term
		}
		if t = strings.Trim(t, "'"); stem == nil || len(t) < minStemmed || len(t) > maxStemmed || !allLetters(t) {
			return t
		}
		if s := stem(t); s != "" {
			return s
		}
		return t
	}
}

// scriptTerm returns the term of a word in Cyrillic or Arabic letters, empty for
// a stop word: there the script alone decides how a word is treated, whatever
// language is around it. Other words are not ok.
func scriptTerm(t string) (term string, ok bool) {
	r, _ := utf8.DecodeRuneInString(t)
	var lang string
	switch {
	case r < 0x400:
		return "", false
	case unicode.Is(unicode.Cyrillic, r):
		lang = "ru"
	case unicode.Is(unicode.Arabic, r) && !strings.ContainsAny(t, "پچژگکی"): // those of Persian and Urdu
		lang = "ar"
	default:
		return "", false
	}
	if stopSets()[lang][t] {
		return "", true
	}
	if len(t) <= maxStemmed && allLetters(t) {
		stem := russianStem
		if lang == "ar" {
			stem = arabicStem
		}
		if s := stem(t); s != "" {
			return s, true
		}
	}
	return t, true
}

//nolint:gochecknoglobals // functions
var (
	russianStem = stemmerOf("ru")
	arabicStem  = stemmerOf("ar")
)

// withoutArticle takes an article or pronoun that is elided before a vowel off a
// word: l'image, qu'une, dell'arte.
func withoutArticle(lang, t string) string {
	if lang != "fr" && lang != "it" {
		return t
	}
	i := strings.IndexByte(t, '\'')
	if i <= 0 || i+1 == len(t) {
		return t
	}
	if before := t[:i]; stopSets()[lang][before] {
		return t[i+1:]
	}
	return t
}

// allLetters reports whether a word has nothing but letters and their marks.
func allLetters(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) < 0
}

// foldScript brings letters together that a script writes in several ways, as
// its readers expect of a search: Russian ё is е, Greek loses its accents and
// final sigma, Hebrew its points, Arabic its vowel signs, its lengthening and
// the signs on alif, Devanagari its dots below. It leaves Latin letters alone.
func foldScript(r rune) rune {
	switch {
	case r < 0x370:
		return r
	case r == 'ё':
		return 'е'
	case r < 0x400:
		return foldGreek(r)
	case 0x591 <= r && r <= 0x5C7 && unicode.Is(unicode.Mn, r), // Hebrew points
		0x64B <= r && r <= 0x65F, r == 0x670, r == 0x640, // Arabic signs, tatweel
		r == 0x93C: // nukta
		return -1
	case r == 'أ', r == 'إ', r == 'آ', r == 'ٱ':
		return 'ا'
	case r == 0x901: // chandrabindu
		return 0x902
	}
	return r
}

func foldGreek(r rune) rune {
	switch r {
	case 'ά':
		return 'α'
	case 'έ':
		return 'ε'
	case 'ή':
		return 'η'
	case 'ί', 'ϊ', 'ΐ':
		return 'ι'
	case 'ό':
		return 'ο'
	case 'ύ', 'ϋ', 'ΰ':
		return 'υ'
	case 'ώ':
		return 'ω'
	case 'ς':
		return 'σ'
	}
	return r
}
