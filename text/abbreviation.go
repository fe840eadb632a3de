package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviated reports whether the word before a full stop is written with it
// and seldom ends a sentence; next is what follows. Abbreviations that often do
// (etc., a.m., itd.) are not among them: a sentence cut short reads better than
// two in one.
func abbreviated(before, next string) bool {
	w := lastWord(before)
	low := strings.ToLower(w)
	if r, _ := utf8.DecodeRuneInString(next); unicode.IsDigit(r) && beforeNumber(low) {
		return true
	}
	if utf8.RuneCountInString(w) == 1 {
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsLower(r) {
			return letterAndStop(next) // z. B.
		}
		return unicode.IsUpper(r) && r != 'I' // an initial
	}
	if dotted(w) { // U.S., D.C.: the name goes on, unless a sentence begins
		first := strings.FieldsFunc(next, func(r rune) bool { return !unicode.IsLetter(r) })
		return len(first) > 0 && !StopWord("en", strings.ToLower(first[0]))
	}
	switch low {
	case "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "approx", "incl", "resp", "dr", "mr", "mrs", "ms", "prof", "jr", "sr", "mt",
		"fig", "figs", "eq", "sec", "ch", "vol", "pp", "dept", "ca", "sen", "gov", "capt", "ph.d", "m.sc", "b.sc",
		"np", "tzn", "tj", "m.in", "ul", "al", "pl", "os", "nr", "inż", "mgr", "hab", "lek", "ks", "zob", "por", "tzw", "św", "dz", "m.st",
		"tp", "ths", "ts", "gs", "pgs", "z.b", "d.h", "u.a", "bzw", "ggf", "vgl", "p.ej", "sra", "mme", "mlle":
		return true
	}
	return w == "No" || w == "St" || w == "Gen" // small ones end sentences
}

// lastWord is the word that before ends in, without the bracket, quote or
// emphasis that opens it.
func lastWord(before string) string {
	at := strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([\"'*_“‘", r) })
	if at < 0 {
		return before
	}
	_, n := utf8.DecodeRuneInString(before[at:])
	return before[at+n:]
}

// letterAndStop reports whether s begins with a single letter and a full stop.
func letterAndStop(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) && strings.HasPrefix(s[n:], ".")
}

// dotted reports whether w is capital letters with full stops between them.
func dotted(w string) bool {
	parts := strings.Split(w, ".")
	for _, p := range parts {
		if r, n := utf8.DecodeRuneInString(p); n != len(p) || !unicode.IsUpper(r) {
			return false
		}
	}
	return len(parts) > 1
}

// beforeNumber reports whether a word is an abbreviation where a number
// follows: art. 5, godz. 15, tr. 3, Jan. 1.
func beforeNumber(w string) bool {
	switch w {
	case "art", "arts", "sect", "par", "para", "no", "nos", "p", "pt", "min", "max", "ver", "rev", "tel", "ext",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"ust", "pkt", "poz", "lit", "str", "godz", "ok", "rozdz", "tab", "rys", "wyd",
		"tr", "đ", "abs", "kap", "s", "núm", "pág":
		return true
	}
	return false
}

// maxNumber is how many digits the number of an item has at most: what has more
// is a year or an amount.
const maxNumber = 3

// numbered reports whether what stands before a full stop only numbers what
// follows: "2." between steps in one line, "Điều 5.", "Art. 5.", "§ 5." before
// what they are called.
func numbered(before string) bool {
	fields := strings.Fields(strings.TrimLeft(before, " \t>*_#"))
	if len(fields) == 0 || len(fields) > 2 || !number(fields[len(fields)-1]) {
		return false
	}
	if len(fields) == 1 {
		return true
	}
	switch strings.TrimSuffix(strings.ToLower(fields[0]), ".") {
	case "§", "art", "article", "section", "chapter", "clause", "figure", "fig", "table", "step", "no",
		"artykuł", "rozdział", "ustęp", "ust", "pkt", "punkt", "krok", "tabela", "rysunek", "nr",
		"điều", "khoản", "chương", "mục", "điểm", "bước", "bảng", "hình", "phần",
		"artikel", "abschnitt", "kapitel", "schritt":
		return true
	}
	return false
}

// number reports whether w is a short number, Arabic or Roman.
func number(w string) bool {
	return w != "" && (len(w) <= maxNumber && strings.Trim(w, "0123456789") == "" ||
		len(w) > 1 && strings.Trim(w, "IVXLC") == "")
}
