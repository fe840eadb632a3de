package text

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed abbreviations.txt
var abbreviationList string

var abbreviations = sync.OnceValue(func() map[string]map[string]bool { return readLists(abbreviationList) })

// readLists parses lines "name: word word …" into sets of words by name; a name may have
// several lines.
func readLists(s string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.Lines(s) {
		name, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		for w := range strings.FieldsSeq(words) {
			out[name][w] = true
		}
	}
	return out
}

// abbreviated reports whether the word before a full stop is an abbreviation that seldom ends a
// sentence. next is the text that follows.
func abbreviated(before, next string) bool {
	w := lastWord(before)
	first, n := utf8.DecodeRuneInString(next)
	lists, low := abbreviations(), strings.ToLower(w)
	switch {
	case lists["always"][low] || lists["name"][w]:
		return true
	case unicode.IsDigit(first) && lists["number"][low]:
		return true
	case w == "v" && unicode.IsUpper(first): // Brown v. Board of Education
		return true
	case utf8.RuneCountInString(w) == 1:
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsLower(r) {
			return unicode.IsLetter(first) && strings.HasPrefix(next[n:], ".") // z. B.
		} else if unicode.IsUpper(r) {
			return r != 'I' && !measured(before, w) // an initial
		}
	case dotted(w): // U.S., D.C.: the name continues, unless a sentence begins
		word := firstWord(next)
		return word != "" && !StopWord("en", word)
	}
	return false
}

// lastWord returns the last word of a text, without an opening bracket, quote or emphasis.
func lastWord(before string) string {
	at := strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([\"'*_“‘", r) })
	if at < 0 {
		return before
	}
	_, n := utf8.DecodeRuneInString(before[at:])
	return before[at+n:]
}

// firstWord returns the first word of next in lower case, "" if it is not made of letters.
func firstWord(next string) string {
	next = First(next, 32)
	return strings.ToLower(next[:len(next)-len(strings.TrimLeftFunc(next, unicode.IsLetter))])
}

// dotted reports whether w is made of capital letters with full stops between them.
func dotted(w string) bool {
	for part := range strings.SplitSeq(w, ".") {
		part = strings.TrimPrefix(part, "-") // J.-C.
		if r, n := utf8.DecodeRuneInString(part); n != len(part) || !unicode.IsUpper(r) {
			return false
		}
	}
	return strings.Contains(w, ".")
}

// measured reports whether before ends in a number and the unit w: 3.14 V.
func measured(before, w string) bool {
	before = before[:len(before)-len(w)]
	trimmed := strings.TrimRight(before, " ")
	return trimmed != "" && trimmed != before && isDigit(trimmed[len(trimmed)-1])
}

// maxNumber is the maximum number of digits of a section number; more are a year or an amount.
const maxNumber = 3

// isNumber reports whether w is a short number, Arabic or Roman.
func isNumber(w string) bool {
	return len(w) <= maxNumber && digits(w) || len(w) > 1 && strings.Trim(w, "IVXLC") == ""
}

// numbered reports whether the text before a full stop only numbers the text that follows: "2."
// between steps in one line, "Điều 5.", "Art. 5.", "§ 5." before a title.
func numbered(before string) bool {
	if len(before) > 64 {
		return false
	}
	fields := strings.Fields(strings.TrimLeft(before, " \t>*_#"))
	switch len(fields) {
	case 1:
		return isNumber(fields[0])
	case 2:
		return isNumber(fields[1]) && abbreviations()["part"][strings.TrimSuffix(strings.ToLower(fields[0]), ".")]
	}
	return false
}

// germanOrdinal reports whether the full stop after before makes an ordinal of a German number:
// am 3. Mai, im 19. Jahrhundert, der 2. Versuch.
func germanOrdinal(before, next string) bool {
	fields := strings.Fields(before[max(0, len(before)-64):]) // the last words will do
	n, word := len(fields), firstWord(next)
	if n == 0 || word == "" || !isNumber(strings.TrimLeft(fields[n-1], "([\"„")) {
		return false
	}
	if abbreviations()["month"][word] {
		return true
	}
	if n < 2 || n > 2 && fields[n-3] == "I" { // I am 3.
		return false
	}
	return !StopWord("de", word) && abbreviations()["ordinal"][strings.ToLower(fields[n-2])]
}
