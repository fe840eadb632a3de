package offline

import (
	"regexp"
	"strings"
	"unicode"
)

// longFormAsked matches questions for the long form of an abbreviation, which is its last group that matched.
var longFormAsked = regexp.MustCompile(`(?i)(?:what (?:does|do) (?:the )?(?:abbreviation |acronym |letters )?(\S+?)(?:'s)? (?:stand for|mean)|what is (\S+?) short for|wofür steht (?:die abkürzung )?(\S+)|` +
	`was (?:bedeutet|heißt) (?:die abkürzung )?(\S+)|co (?:oznacza|znaczy)(?: skrót)? (\S+)|(\S+) (?:là viết tắt (?:của )?(?:từ |chữ )?gì|nghĩa là gì|có nghĩa là gì))[ ?.!]*$`)

// abbreviationAsked returns the abbreviation whose long form a question asks for, or "".
func abbreviationAsked(question string) string {
	for i, s := range longFormAsked.FindStringSubmatch(question) {
		s = strings.Trim(s, `"'“”„«»?.!`)
		if i > 0 && isAbbreviation(s) {
			return s
		}
	}
	return ""
}

// isAbbreviation reports whether a word has at most ten characters and at least two capital letters.
func isAbbreviation(s string) bool {
	capitals, runes := 0, 0
	for _, c := range s {
		runes++
		if unicode.IsUpper(c) {
			capitals++
		}
	}
	return capitals >= 2 && runes <= 10
}

// spellsOut reports whether a text holds "long form (SHORT)" or "SHORT (long form)". The letters of the
// abbreviation must occur in the long form in order, the first one at the beginning of a word, as in Schwartz and
// Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text", 2003.
func spellsOut(text, short string) bool {
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, short)
		if !ok {
			return false
		}
		if strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")") && longForm(before[:len(before)-1], short) {
			return true
		}
		inside, _, closed := strings.Cut(strings.TrimPrefix(after, " "), ")")
		if long, opened := strings.CutPrefix(inside, "("); opened && closed && longForm(long, short) {
			return true
		}
		rest = after
	}
}

// longForm reports whether the last words of a text spell an abbreviation out.
func longForm(text, short string) bool {
	letters := []rune(strings.ToLower(strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return -1
	}, short)))
	words := strings.Fields(text)
	n := len(letters)
	words = words[max(0, len(words)-min(n+5, 2*n)):]
	long := []rune(strings.ToLower(strings.Join(words, " ")))
	at := len(long) - 1
	for i := n - 1; i >= 0; i-- {
		for at >= 0 && (long[at] != letters[i] || i == 0 && at > 0 && unicode.IsLetter(long[at-1])) {
			at--
		}
		if at < 0 {
			return false
		}
		at--
	}
	return n > 1
}
