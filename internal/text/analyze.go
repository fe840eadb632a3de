package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Token is a term of a text and its position.
type Token struct {
	Term  string // normalised, as indexed and searched for
	Start int    // byte offset in the text
	End   int    // first byte after
	Pos   int    // position, from 0; stop words are counted; a whole name has the position of its first part
}

// Analyzer turns text into terms. Analyzers are safe for concurrent use.
type Analyzer interface {
	// Name identifies the output: two analyzers of one name give the same tokens for the same
	// text, in every version of the program.
	Name() string
	// Analyze returns the tokens of s in order of Pos, then Start; a whole name precedes its
	// parts.
	Analyze(s string) []Token
	// Append appends the tokens of s to a slice of the caller.
	Append(dst []Token, s string) []Token
}

// maxTerm is the maximum length of a term in bytes. Longer runs, such as base64, mean nothing
// to a reader and would only fill the dictionary.
const maxTerm = 128

// analyzer splits a text into words and makes terms of them by the rules of a language.
type analyzer struct {
	name  string
	term  func(word string) string // "" for a stop word
	words memo[word]               // by their spelling
}

// word is what is known of a word of a text.
type word struct {
	term     string
	syllable bool // may be Vietnamese without diacritics, and is no function word of English
	checked  bool // syllable is known, which only short texts need
}

func newAnalyzer(name string, term func(string) string) *analyzer {
	return &analyzer{name: name, term: term}
}

func (a *analyzer) Name() string { return a.name }

func (a *analyzer) Analyze(s string) []Token {
	return a.Append(make([]Token, 0, len(s)/7+4), s)
}

func (a *analyzer) Append(dst []Token, s string) []Token {
	p := a.pass(dst, s)
	return p.out
}

func (a *analyzer) pass(dst []Token, s string) pass {
	p := pass{a: a, known: a.words.take(), s: s, out: dst}
	p.all()
	a.words.give(p.known)
	return p
}

// For returns the analyzer of a language, given its ISO 639-1 code. Vietnamese has syllables,
// pairs of them and terms without diacritics. Languages with function words in stopwords.txt
// have stop words, and most of them stemming. Every other language, and the empty code, has a
// plain analyzer for every script: words in lower case, and pairs of letters of scripts without
// spaces. Words in Greek, Cyrillic and Arabic letters are stemmed in every language but the plain one.
func For(lang string) Analyzer {
	if lang == "vi" {
		return vietnameseAnalyzer
	}
	if a := languageAnalyzers()[lang]; a != nil {
		return a
	}
	return plainAnalyzer
}

//nolint:gochecknoglobals // made once; immutable but for memos that do not show
var (
	languageAnalyzers = sync.OnceValue(func() map[string]*analyzer {
		out := map[string]*analyzer{}
		for lang := range stopWords() {
			if signLists[lang] == "" && lang != functionPairs {
				out[lang] = newAnalyzer(lang+"/9", languageTerm(lang))
			}
		}
		return out
	})
	plainAnalyzer      = newAnalyzer("plain/8", lower)
	vietnameseAnalyzer = newVietnamese()
)

// memo caches values by word: text repeats its words, and stemming takes a hundred times as
// long as a map lookup.
type memo[V any] struct{ idle sync.Pool }

// maxMemo is the maximum number of words in the cache of one goroutine.
const maxMemo = 1 << 16

func (m *memo[V]) take() map[string]V {
	if known, ok := m.idle.Get().(map[string]V); ok {
		return known
	}
	return map[string]V{}
}

func (m *memo[V]) give(known map[string]V) {
	if len(known) < maxMemo {
		m.idle.Put(known)
	}
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWordRune(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isLetter(byte(r)) || isDigit(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }

// isASCII reports whether all bytes of a text are ASCII.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower returns the term of a word without a language. Compatibility forms (ligatures of a PDF,
// full-width letters) become ordinary letters.
func lower(word string) string {
	if isASCII(word) {
		return clip(strings.ToLower(word))
	}
	t := norm.NFKC.String(strings.ToValidUTF8(word, ""))
	t = strings.Map(func(r rune) rune {
		switch {
		case isApostrophe(r):
			return '\''
		case unicode.Is(unicode.Cf, r):
			return -1 // soft hyphens, joiners
		}
		return foldScript(unicode.ToLower(r))
	}, t)
	return clip(norm.NFC.String(t))
}

// foldScript maps variants of a letter to one: Russian ё is е, Greek loses its accents and
// final sigma, Hebrew its points, Arabic its vowel signs, its lengthening and the signs on
// alif, Devanagari its dots below. Latin letters do not change.
func foldScript(r rune) rune {
	switch {
	case r < 0x370:
		return r
	case r == 'ё':
		return 'е'
	case r == 'ς':
		return 'σ'
	case r == 'ٱ':
		return 'ا'
	case r < 0x400, r == 'أ', r == 'إ', r == 'آ': // Greek and alif: the letter without its marks
		base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		return base
	case 0x591 <= r && r <= 0x5C7 && unicode.Is(unicode.Mn, r), // Hebrew points
		0x64B <= r && r <= 0x65F, r == 0x670, r == 0x640, // Arabic signs, tatweel
		r == 0x93C: // nukta
		return -1
	case r == 0x901: // chandrabindu
		return 0x902
	}
	return r
}

// clip cuts a term to maxTerm bytes, at a rune.
func clip(t string) string {
	if len(t) <= maxTerm {
		return t
	}
	n := maxTerm
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}
