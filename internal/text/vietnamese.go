package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldedMark begins the terms of Vietnamese words without diacritics: "~tim kiem" for "tìm
// kiếm". No other term begins with it. Search gives them less weight, as does everything that
// counts words.
const foldedMark = "~"

// IsFolded reports whether a term stands for words without their diacritics.
func IsFolded(term string) bool { return strings.HasPrefix(term, foldedMark) }

// IsPhrase reports whether a term is a pair of neighbouring syllables, like most Vietnamese
// words.
func IsPhrase(term string) bool { return strings.Contains(term, " ") }

// functionPairs is the name of the list in stopwords.txt of pairs of syllables that are one
// function word.
const functionPairs = "vi-pairs"

// vietnamese makes terms of Vietnamese text: syllables, pairs of neighbouring syllables, and
// both without diacritics. Words of other languages in it are treated as English.
type vietnamese struct {
	words     *analyzer
	syllables memo[syllable] // by term
}

// syllable caches facts about a term.
type syllable struct {
	is     bool // built like a syllable
	stop   bool
	folded string // with its mark; empty if it is the term itself
}

func newVietnamese() *vietnamese {
	return &vietnamese{words: newAnalyzer("syllables/5", syllableTerm)}
}

func syllableOf(known map[string]syllable, term string) syllable {
	s, ok := known[term]
	if !ok {
		s.is = isSyllable(term)
		s.stop = s.is && StopWord("vi", term)
		if f := Fold(term); f != term {
			s.folded = foldedMark + f
		}
		known[term] = s
	}
	return s
}

func (*vietnamese) Name() string { return "vi/7" }

func (v *vietnamese) Analyze(s string) []Token {
	return v.Append(make([]Token, 0, len(s)/2+4), s)
}

func (v *vietnamese) Append(dst []Token, s string) []Token {
	seen := v.syllables.take()
	defer v.syllables.give(seen)
	tokens := v.words.Analyze(s)
	known := make([]syllable, len(tokens))
	for i, t := range tokens {
		known[i] = syllableOf(seen, t.Term)
	}
	pairs := make([]Token, len(tokens)) // by their first token; without a term if there is none
	for i, t := range tokens {
		j := i + 1
		for j < len(tokens) && tokens[j].Pos == t.Pos {
			j++
		}
		if !known[i].is || j == len(tokens) || !known[j].is || tokens[j].Start != t.End+1 || s[t.End] != ' ' {
			continue
		}
		if pair := t.Term + " " + tokens[j].Term; stopWords()[functionPairs][strings.ReplaceAll(pair, " ", "_")] {
			known[i].stop, known[j].stop = true, true
		} else {
			pairs[i] = Token{pair, t.Start, tokens[j].End, t.Pos}
		}
	}
	for i, t := range tokens {
		if pairs[i].Term != "" {
			dst = appendFolded(append(dst, pairs[i]), pairs[i], foldedMark+Fold(pairs[i].Term))
		}
		if !known[i].stop {
			dst = appendFolded(append(dst, t), t, known[i].folded)
		}
	}
	return dst
}

// appendFolded adds the form of a token without diacritics, if it differs.
func appendFolded(dst []Token, t Token, folded string) []Token {
	if folded == "" || folded == foldedMark+t.Term {
		return dst
	}
	t.Term = folded
	return append(dst, t)
}

// appendToneless adds the tokens of a text. A short one gives also those that it would have as
// Vietnamese without diacritics, if most of its words may be Vietnamese syllables and are no
// function words of English: a question has names too.
func appendToneless(a *analyzer, dst []Token, s string) []Token {
	p, first := a.pass(dst, s), len(dst)
	dst = p.out
	if !p.short() || p.words < 2 || float64(p.syllables) < minSyllables*float64(p.words) {
		return dst
	}
	words, pos := plainAnalyzer.Analyze(s), 0
	if n := len(dst); n > first {
		pos = dst[n-1].Pos + 1
	}
	for i, w := range words {
		if !isSyllable(w.Term) {
			continue
		}
		term := foldedMark + Fold(w.Term)
		if i+1 < len(words) && isSyllable(words[i+1].Term) && words[i+1].Start == w.End+1 && s[w.End] == ' ' {
			dst = append(dst, Token{term + " " + Fold(words[i+1].Term), w.Start, words[i+1].End, pos + i})
		}
		dst = append(dst, Token{term, w.Start, w.End, pos + i})
	}
	return dst
}

const (
	// maxToneless is the maximum length in bytes of a text that is tried as Vietnamese without
	// diacritics: a question, not a page.
	maxToneless = 200
	// minSyllables is the share of such syllables, chosen on XQuAD's questions without diacritics.
	minSyllables = 0.6
)

// isVietnamese reports whether a text is Vietnamese with diacritics: at least a sixth of its
// words have a letter that, among languages in Latin script, only Vietnamese has.
func isVietnamese(s string) bool {
	s = s[:min(len(s), maxLanguage)]
	if isASCII(s) {
		return false
	}
	var words, own int
	for w := range strings.FieldsSeq(norm.NFC.String(s)) {
		words++
		if strings.IndexFunc(w, vietnameseOnly) >= 0 {
			own++
		}
	}
	return own > 0 && own*6 >= words
}

// vietnameseOnly reports whether a letter belongs to no other widely used language: đ, ơ, ư and
// all with two marks, a hook or a dot below.
func vietnameseOnly(r rune) bool {
	switch {
	case 0x1EA0 <= r && r <= 0x1EF9: // ạ to ỹ
		return true
	case r == 'đ', r == 'Đ', r == 'ơ', r == 'Ơ', r == 'ư', r == 'Ư', r == 'ĩ', r == 'Ĩ', r == 'ũ', r == 'Ũ':
		return true
	}
	return false
}

// Fold removes diacritics, as people do who type Vietnamese on another keyboard: "đường"
// becomes "duong". Only lower-case letters lose the stroke of đ.
func Fold(s string) string {
	if isASCII(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r == 'đ':
			out = append(out, 'd')
		default:
			for _, part := range norm.NFD.String(string(r)) {
				if !unicode.Is(unicode.Mn, part) {
					out = utf8.AppendRune(out, part)
				}
			}
		}
	}
	return string(out)
}

//nolint:gochecknoglobals // a function
var englishTerm = languageTerm("en")

// syllableTerm returns the term of a word in Vietnamese text. Stop words stay until the pairs
// that they form are known.
func syllableTerm(word string) string {
	t := lower(word)
	if isSyllable(t) {
		return modern(t)
	}
	return englishTerm(word)
}

// modern moves the tone mark of a syllable that ends in oa, oe or uy to the first of the two
// vowels: hoà and hòa, thuỷ and thủy become equal.
func modern(t string) string {
	if isASCII(t) || strings.HasPrefix(t, "qu") {
		return t
	}
	for i := 0; i < len(toneMarks); i += 2 {
		if rest, ok := strings.CutSuffix(t, toneMarks[i]); ok {
			return rest + toneMarks[i+1]
		}
	}
	return t
}

//nolint:gochecknoglobals // a constant that Go has no syntax for
var toneMarks = strings.Fields("oà òa oá óa oả ỏa oã õa oạ ọa oè òe oé óe oẻ ỏe oẽ õe oẹ ọe uỳ ùy uý úy uỷ ủy uỹ ũy uỵ ụy")

// isSyllable reports whether a word in lower case has the form of a Vietnamese syllable,
// ignoring diacritics: an initial consonant or none, one to three vowels, a final consonant or
// none.
func isSyllable(w string) bool {
	if len(w) > 16 {
		return false
	}
	w = Fold(w)
	return len(w) <= maxSyllable && syllableForm.MatchString(w)
}

// maxSyllable is the length of the longest match of syllableForm.
const maxSyllable = 8

var syllableForm = regexp.MustCompile(`^(?:ch|gh|gi|kh|ngh?|nh|ph|qu?|th|tr|[bcdghklmnprstvx])?` +
	`(?:[aeiouy]|ai|ao|au|ay|eo|eu|ia|ie|iu|oa|oe|oi|oo|ua|ue|ui|uo|uu|uy|ya|ye|ieu|yeu|oai|oao|oay|oeo|uai|uay|uoi|uou|uya|uye|uyu|uau|ueo)` +
	`(?:ch?|m|ng?|nh|p|t)?$`)

// legalCode returns the end of a code of law that begins at s[i], or i if there is none. A
// code, such as 123/NĐ-CP, 15/2020/TT-BTC or 2023/qh15, is a number, a slash, and numbers and
// letters joined by slashes and hyphens.
func legalCode(s string, i int) int {
	s = s[i:min(len(s), i+maxTerm)]
	if n := strings.IndexByte(s, '/'); n < 0 || !digits(s[:n]) {
		return i
	}
	code := legalCodeForm.FindString(s)
	if strings.IndexFunc(code, unicode.IsLetter) < 0 || startsWord(s[len(code):]) {
		return i
	}
	return i + len(code)
}

var legalCodeForm = regexp.MustCompile(`^\d+/[\p{L}\d]+(?:[/-][\p{L}\d]+)*`)
