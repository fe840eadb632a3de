package text

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kindWords are words of file names for kinds of documents, in English, German, Polish and Vietnamese, without
// diacritics. Words such as "file" and "policy" are left out, since questions often are about these.
//
//nolint:gochecknoglobals // a table
var kindWords = strings.Fields(`agreement contract handbook invoice letter minutes notes offer protocol quote report
	angebot bericht brief handbuch protokoll rechnung vertrag
	faktura notatka oferta pismo protokol raport sprawozdanie umowa
	bao bien cao dong hop don hoa`)

// FileName is the name of a document, for a comparison with questions.
type FileName struct {
	file string // in lower case, with its extension
	base string // in lower case, without; "" if it is one word
	// The parts of base, in lower case and without diacritics. A folder named for a kind is one, too.
	words, numbers, kinds []string
}

// NewFileName returns the name of a document by its path.
func NewFileName(source string) FileName {
	base := BaseName(source)
	n := FileName{file: strings.ToLower(path.Base(source))}
	parts := NameParts(base)
	lang := Language(strings.Join(parts, " "))
	if len(parts) > 1 {
		n.base = strings.ToLower(base)
	}
	for _, part := range parts {
		switch w := foldWord(part); {
		case isKind(w):
			n.kinds = append(n.kinds, w)
		case hasNumber(w):
			n.numbers = append(n.numbers, w)
		case !StopWord(lang, strings.ToLower(part)):
			n.words = append(n.words, w)
		}
	}
	if folder := foldWord(path.Base(path.Dir(source))); isKind(folder) {
		n.kinds = append(n.kinds, folder)
	}
	return n
}

func foldWord(word string) string { return Fold(strings.ToLower(word)) }

// isKind reports whether a word is one for a kind of document, such as "Angebote".
func isKind(word string) bool {
	return slices.ContainsFunc(kindWords, func(kind string) bool { return sameWord(word, kind) })
}

func hasNumber(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// endingLetters is the number of letters by which two forms of a word may differ, and stemLetters the number that they share.
const (
	endingLetters = 2
	stemLetters   = 4
)

// sameWord reports whether two words are equal, or forms of one that differ in their last letters.
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	same := 0
	if a == "" || b == "" || a[0] != b[0] { // most words
		return false
	}
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return same >= stemLetters && len(a)-same <= endingLetters && len(b)-same <= endingLetters && strings.IndexFunc(a+b, unicode.IsDigit) < 0
}

// Asked are the words of a question, for a comparison with names.
type Asked struct {
	line    string // in lower case
	words   []string
	kinds   []int // indices of those that are for kinds of documents
	numbers bool  // there are some
}

// NewAsked returns the words of a question.
func NewAsked(question string) Asked {
	q := Asked{line: strings.ToLower(question)}
	for i, w := range NameWords(question) {
		w = foldWord(w)
		q.words, q.numbers = append(q.words, w), q.numbers || hasNumber(w)
		if isKind(w) {
			q.kinds = append(q.kinds, i)
		}
	}
	return q
}

// Has reports whether the question has all words of a text, in some form.
func (q Asked) Has(s string) bool {
	words := NameParts(strings.ToLower(s))
	for i, w := range words {
		words[i] = foldWord(w)
	}
	return q.count(words) == len(words)
}

// count returns how many of some words the question has.
func (q Asked) count(words []string) (n int) {
	for _, word := range words {
		if slices.ContainsFunc(q.words, func(w string) bool { return sameWord(w, word) }) {
			n++
		}
	}
	return n
}

// holds reports whether a name stands in the question as it is written, not within a longer word.
func (q Asked) holds(name string) bool {
	for from := 0; ; {
		at := strings.Index(q.line[from:], name)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(q.line[:from+at])
		after, _ := utf8.DecodeRuneInString(q.line[from+at+len(name):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		from += at + 1
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Names returns by how many of its words a question names a document; 0: it does not. It holds the name as it is
// written, or all words of it but those for kinds, and shows that a document is meant: by a word for its kind, or by
// its numbers. The numbers may be left out if the question has none: "the Nordwind offer" is nordwind-2026.pdf.
func (q Asked) Names(n FileName) int {
	words := q.count(n.words)
	if words < len(n.words) {
		return 0
	}
	if n.base != "" && q.holds(n.base) || strings.Contains(n.file, ".") && q.holds(n.file) {
		return 1 + len(n.words) + len(n.numbers) + len(n.kinds)
	}
	numbers, kinds := q.count(n.numbers), q.count(n.kinds)
	if numbers < len(n.numbers) && q.numbers {
		return 0
	}
	if kinds == 0 && numbers == 0 && (len(n.kinds) > 0 || !q.kindNear(n.words)) || words+numbers == 0 {
		return 0
	}
	return words + numbers + kinds
}

// kindNear reports whether the question has a word for a kind of document near one of some words.
func (q Asked) kindNear(words []string) bool {
	for _, k := range q.kinds {
		for _, w := range q.words[max(0, k-2):min(len(q.words), k+3)] {
			if slices.ContainsFunc(words, func(word string) bool { return sameWord(w, word) }) {
				return true
			}
		}
	}
	return false
}

// Named returns the index of the name that a question holds most words of; -1 without one, and if there are several.
func (q Asked) Named(names []FileName, may func(i int) bool) int {
	best, at := 0, -1
	for i, n := range names {
		switch held := q.Names(n); {
		case held == 0 || held < best || !may(i):
		case held == best:
			at = -1
		default:
			best, at = held, i
		}
	}
	return at
}
