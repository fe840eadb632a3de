package text

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
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

var snowball = map[string]func(*snowballstem.Env) bool{
	"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem,
	"fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// stem removes the endings of a word in lower case. In some languages stems lose their
// diacritics too: people often omit them, and they distinguish few words.
func stem(lang, word string) string {
	switch lang {
	case "pl":
		return polishStem(word)
	case "el":
		return greekStem(word)
	}
	f := snowball[lang]
	if f == nil {
		return word
	}
	env := snowballstem.NewEnv(word)
	f(env)
	switch lang {
	case "de":
		return umlautSpelled.ReplaceAllString(env.Current(), "$1$2")
	case "es", "fr", "it", "nl", "pt", "ro":
		return Fold(env.Current())
	}
	return env.Current()
}

// umlautSpelled matches ä, ö and ü as people write them who have no German keyboard. The stemmer
// has made ä an a. In Steuer, bauen and Quelle ue is no ü.
var umlautSpelled = regexp.MustCompile(`([ao])e|(^u|[^aeq]u)e`)

// maxStemmed is the maximum length of a stemmed word in bytes: longer ones are not words.
const maxStemmed = 64

// languageTerm returns the function that makes terms of the words of a language: it drops stop
// words and elided articles and stems the rest.
func languageTerm(lang string) func(word string) string {
	return func(word string) string {
		t := withoutArticle(lang, lower(word))
		if script := scriptLanguage(t); script != "" {
			// The script of the word decides, not the language around it.
			if StopWord(script, t) {
				return ""
			}
			return stemmed(script, t)
		}
		if StopWord(lang, t) {
			return ""
		}
		if lang == "en" {
			t = strings.TrimSuffix(t, "'s")
		}
		if t = strings.Trim(t, "'"); StopWord(lang, t) {
			return ""
		}
		return stemmed(lang, t)
	}
}

func stemmed(lang, t string) string {
	if len(t) < 3 || len(t) > maxStemmed || !allLetters(t) {
		return t
	}
	if s := stem(lang, t); s != "" {
		return s
	}
	return t
}

// scriptLanguage returns the language of the stemmer for words in Greek, Cyrillic or Arabic
// letters, "" for other words.
func scriptLanguage(t string) string {
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case r < 0x370:
		return ""
	case r < 0x400:
		return "el"
	case unicode.Is(unicode.Cyrillic, r):
		return "ru"
	case unicode.Is(unicode.Arabic, r) && !strings.ContainsAny(t, "پچژگکی"): // those of Persian and Urdu
		return "ar"
	}
	return ""
}

// withoutArticle removes an article or pronoun that is elided before a vowel: l'image, qu'une,
// dell'arte.
func withoutArticle(lang, t string) string {
	if lang != "fr" && lang != "it" {
		return t
	}
	if before, after, ok := strings.Cut(t, "'"); ok && after != "" && StopWord(lang, before) {
		return after
	}
	return t
}

// allLetters reports whether a word consists of letters and their marks.
func allLetters(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) < 0
}

// StopWord reports whether a word in lower case is a function word of a language, by
// stopwords.txt. Negations are among them: they matter for the answer, but are noise in a
// search for passages.
func StopWord(lang, word string) bool { return stopWords()[lang][word] || word == "" }

//go:embed stopwords.txt
var stopWordList string

// signLists are the names of the lists in stopwords.txt of words typical of a language that are no stop words.
var signLists = map[string]string{"english": "en", "german": "de", "polish": "pl"}

var stopWords = sync.OnceValue(func() map[string]map[string]bool {
	lists := readLists(stopWordList)
	german := slices.Collect(maps.Keys(lists["de"]))
	spell := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")
	for _, w := range german {
		lists["de"][spell.Replace(w)] = true
	}
	for _, w := range slices.Collect(maps.Keys(lists["el"])) {
		lists["el"][lower(w)] = true // without accents, as in terms
	}
	return lists
})
