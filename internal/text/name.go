package text

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Titled returns the title of a document, followed by its file's name and the words of this that the title
// lacks. It is what a search looks into as the title: "Price list" of offers/nordwind-2026.pdf gives
// "Price list\nnordwind-2026 nordwind 2026".
func Titled(title, source string) string {
	base := BaseName(source)
	words := append([]string{base}, NameWords(base)...)
	known := strings.ToLower(title)
	var more []string
	for _, w := range words {
		if lower := strings.ToLower(w); !strings.Contains(known, lower) && !slices.Contains(more, w) {
			more = append(more, w)
		}
	}
	if len(more) == 0 {
		return title
	}
	return title + "\n" + strings.Join(more, " ")
}

// FolderWords returns the words of the name of a file's folder.
func FolderWords(source string) string {
	return strings.Join(NameWords(path.Base(path.Dir(source))), " ")
}

// BaseName returns the name of a file without folder and extension. A number is no extension.
func BaseName(source string) string {
	base := path.Base(source)
	ext := path.Ext(base)
	if strings.IndexFunc(ext, unicode.IsLetter) < 0 || len(ext) == len(base) {
		return base
	}
	return strings.TrimSuffix(base, ext)
}

// NameWords returns the parts of a name. A word with ä, ö, ü or ß is followed by its spelling with
// ae, oe, ue or ss, and one with these by the other.
func NameWords(name string) []string {
	var out []string
	for _, word := range NameParts(name) {
		out = append(out, word)
		if other := otherUmlauts(word); other != word {
			out = append(out, other)
		}
	}
	return out
}

// NameParts splits a name at signs, at changes of case and between letters and digits.
func NameParts(name string) []string {
	var out []string
	for _, at := range appendParts(nil, name, 0, len(name)) {
		out = append(out, splitDigits(name[at.Start:at.End])...)
	}
	return out
}

// splitDigits splits a word between letters and digits: "offer2026" gives "offer" and "2026".
// One or two letters stay with their number, as in "v2" and "Q3".
func splitDigits(word string) []string {
	var out []string
	from, letters := 0, 0
	for i, r := range word {
		digit := unicode.IsDigit(r)
		if kept := digit && letters <= 2; i > from && digit != (letters == 0) && !kept {
			out = append(out, word[from:i])
			from, letters = i, 0
		}
		if !digit {
			letters++
		}
	}
	return append(out, word[from:])
}

// The two spellings of words with umlauts.
//
//nolint:gochecknoglobals // immutable
var (
	umlautsOut = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")
	umlautsIn  = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü", "Ae", "Ä", "Oe", "Ö", "Ue", "Ü")
)

// otherUmlauts returns the other spelling of a word with umlauts.
func otherUmlauts(word string) string {
	if out := umlautsOut.Replace(word); out != word {
		return out
	}
	return umlautsIn.Replace(word)
}
