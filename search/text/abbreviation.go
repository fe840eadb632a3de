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
	if r, _ := utf8.DecodeRuneInString(next); unicode.IsDigit(r) && beforeNumber(low, w) || labels(low, next) {
		return true
	}
	if utf8.RuneCountInString(w) == 1 {
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsLower(r) {
			if first, _ := utf8.DecodeRuneInString(next); w == "v" && unicode.IsUpper(first) {
				return true // Brown v. Board of Education
			}
			return letterAndStop(next) // z. B.
		}
		return unicode.IsUpper(r) && r != 'I' && !measured(before, w) // an initial
	}
	if dotted(w) { // U.S., D.C.: the name goes on, unless a sentence begins
		first := strings.FieldsFunc(next, func(r rune) bool { return !unicode.IsLetter(r) })
		return len(first) > 0 && !StopWord("en", strings.ToLower(first[0]))
	}
	switch low {
	case "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "approx", "incl", "resp", "dr", "mr", "mrs", "ms", "prof", "jr", "sr", "mt",
		"fig", "figs", "eq", "sec", "ch", "vol", "pp", "dept", "ca", "sen", "gov", "capt", "ph.d", "m.sc", "b.sc",
		"np", "tzn", "tj", "m.in", "ul", "al", "pl", "os", "nr", "inż", "mgr", "hab", "lek", "ks", "zob", "por", "tzw", "św", "dz", "m.st",
		"tp", "ths", "ts", "gs", "pgs", "z.b", "d.h", "u.a", "bzw", "ggf", "vgl", "p.ej", "sra", "mme", "mlle",
		"śp", "med", "jur", "dipl", "dipl.-ing", "inkl", "zzgl", "evtl", "sog", "pr", "av", "avda", "dra", "srta", "lic":
		return true
	}
	switch w {
	case "No", "St", "Gen", "Col", "Fa", "EE": // small ones end sentences
		return true
	case "Co":
		return strings.HasPrefix(next, "KG") || strings.HasPrefix(next, "OHG")
	}
	return false
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
		p = strings.TrimPrefix(p, "-") // J.-C.
		if r, n := utf8.DecodeRuneInString(p); n != len(p) || !unicode.IsUpper(r) {
			return false
		}
	}
	return len(parts) > 1
}

// ending are the last words of s: of a sentence without end it reads only that.
func ending(s string) []string {
	const most = 64 // bytes
	return strings.Fields(s[max(0, len(s)-most):])
}

// measured reports whether before ends in a number and the unit w: 3.14 V.
func measured(before, w string) bool {
	fields := ending(before[:len(before)-len(w)])
	if len(fields) == 0 {
		return false
	}
	amount := fields[len(fields)-1]
	return strings.Trim(amount, "0123456789.,") == "" && digits(amount[len(amount)-1:])
}

// labels reports whether a word is an abbreviation in front of the letter that it
// gives a name to: App. B, Tab. C. A and I may be words.
func labels(w, next string) bool {
	switch w {
	case "app", "tab", "abb", "anl", "rys", "zał", "ann":
		r, n := utf8.DecodeRuneInString(next)
		after, _ := utf8.DecodeRuneInString(next[n:])
		return unicode.IsUpper(r) && r != 'A' && r != 'I' && !unicode.IsLetter(after)
	}
	return false
}

// beforeNumber reports whether a word, in small letters and as it is written,
// is an abbreviation where a number follows: art. 5, godz. 15, tr. 3, Jan. 1, Table. 1.
func beforeNumber(w, written string) bool {
	switch written {
	case "Table", "Figure", "Section", "Chapter", "Equation", "Appendix", "Algorithm":
		return true
	}
	if strings.HasSuffix(w, "str") { // Hauptstr. 5
		return true
	}
	switch w {
	case "art", "arts", "sect", "par", "para", "no", "nos", "p", "pt", "min", "max", "ver", "rev", "tel", "ext",
		"ft", "dn", "lok", "bd", "abb", "anm", "n", "env", "cap", "núm", "apdo",
		"janv", "févr", "avr", "juil", "déc", "ene", "abr", "ago", "dic",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"ust", "pkt", "poz", "lit", "godz", "ok", "rozdz", "tab", "rys", "wyd",
		"tr", "đ", "abs", "kap", "s", "pág":
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
	first, last, n := "", "", 0
	for field := range strings.FieldsSeq(strings.TrimLeft(before, " \t>*_#")) {
		if n++; n > 2 {
			return false
		}
		first, last = last, field
	}
	if n == 0 || !number(last) {
		return false
	}
	if n == 1 {
		return true
	}
	switch strings.TrimSuffix(strings.ToLower(first), ".") {
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

// germanOrdinal reports whether the full stop behind before makes an ordinal of
// a German number: am 3. Mai, im 19. Jahrhundert, der 2. Versuch. next is what follows.
func germanOrdinal(before, next string) bool {
	fields := ending(before)
	n := len(fields)
	if n == 0 || !number(strings.TrimLeft(fields[n-1], "([\"„")) {
		return false
	}
	next = First(next, 32)
	word := next[:len(next)-len(strings.TrimLeftFunc(next, unicode.IsLetter))]
	switch word {
	case "Januar", "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember":
		return true
	case "":
		return false
	}
	if n < 2 || StopWord("de", strings.ToLower(word)) {
		return false
	}
	switch strings.ToLower(fields[n-2]) {
	case "am":
		return n < 3 || fields[n-3] != "I" // I am 3.
	case "im", "der", "das", "dem", "den", "des", "vom", "zum", "zur", "beim", "jeder", "jedes", "jeden", "ihr", "sein", "unser":
		return true
	}
	return false
}
