package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Token is one term of a text and where it stands.
type Token struct {
	Term  string // normalised; what is indexed and searched for
	Start int    // byte offset in the text
	End   int    // first byte after
	Pos   int    // position, from 0; dropped stop words leave a gap; a name as a whole shares the position of its first part
}

// Analyzer turns text into terms. Analyzers are safe for concurrent use.
type Analyzer interface {
	// Name identifies the output: two analyzers of one name give the same
	// tokens for the same text, in this and every other version of the program.
	Name() string
	// Analyze returns the tokens of s in order of Pos, then Start; where the
	// parts of a name begin, the name as a whole comes first.
	Analyze(s string) []Token
	// Append is Analyze into a slice that the caller owns.
	Append(dst []Token, s string) []Token
}

// maxTerm bounds a term in bytes. Longer runs (base64, minified code) say
// nothing to a reader and would only fill the dictionary.
const maxTerm = 128

// analyzer is the one implementation; languages differ in term only.
type analyzer struct {
	name string
	// term returns the term of a word, "" for a stop word. It may be part of the word.
	term func(surface string) string
	// caches are of terms by surface form, because text repeats its words.
	caches caches[string]
}

func newAnalyzer(name string, term func(string) string) *analyzer {
	return &analyzer{name: name, term: term}
}

func (a *analyzer) Name() string { return a.name }

func (a *analyzer) Analyze(s string) []Token {
	return a.Append(make([]Token, 0, len(s)/7+4), s)
}

func (a *analyzer) Append(dst []Token, s string) []Token {
	c := a.caches.take()
	defer a.caches.give(c)
	run := run{a: a, c: c, s: s, out: dst}
	run.all()
	return run.out
}

// isWord reports whether a segment of UAX #29 is a word, not space or
// punctuation.
func isWord(seg string) bool {
	if c := seg[0]; c < utf8.RuneSelf && !isAlnum(c) && c != '_' {
		return false
	}
	return strings.IndexFunc(seg, isWordRune) >= 0
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isWordRune(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// lookup returns the term of a surface form, "" for a stop word.
func (a *analyzer) lookup(c *cache[string], surface string) string {
	term, ok := c.get(surface)
	if !ok {
		term = strings.Clone(a.term(surface)) // which may be part of the text
		if len(surface) <= maxTerm {
			c.put(surface, term)
		}
	}
	return term
}

// lower is the term of a plain analyzer. Compatibility forms (ligatures of a
// PDF, full-width letters) become the letters they stand for.
func lower(surface string) string {
	ascii := true
	for i := range len(surface) {
		if surface[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return clip(strings.ToLower(surface))
	}
	t := norm.NFKC.String(strings.ToValidUTF8(surface, ""))
	t = strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == '‘' || r == '‛':
			return '\''
		case unicode.Is(unicode.Cf, r):
			return -1 // soft hyphens, joiners
		}
		return foldScript(unicode.ToLower(r))
	}, t)
	return clip(norm.NFC.String(t))
}

// clip cuts a term at maxTerm, on a rune boundary.
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

func englishTerm(surface string) string {
	t := lower(surface)
	if term, ok := scriptTerm(t); ok {
		return term
	}
	if StopWord("en", t) {
		return ""
	}
	if bare := strings.Trim(strings.TrimSuffix(t, "'s"), "'"); bare != t {
		if t = bare; StopWord("en", t) {
			return ""
		}
	}
	return english.Stem(t, true)
}
