package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestTitle = 60 // bytes of a line that is the title of a part
	leastCapital = 4  // letters of a title in capitals
)

// partNumber is the number of a part, and amounts are what no title holds.
var (
	partNumber = regexp.MustCompile(`^(\d{1,2}(?:\.\d{1,2})*)[.)]?[ \t]+\p{Lu}`)
	amounts    = regexp.MustCompile(`\d[.,]\d\d(?:\D|$)|:[ \t]+\S|\t|   `)
)

// Title tells whether a line of plain text, without marks, is the title of the part
// that next, the line below it, begins: in capitals, or with a number in front, and
// nothing that ends a sentence. Level is how deep the number says that the part lies, 1
// for a title without one; 0 where there is no title.
//
// It cannot know what a writer meant. A partNumber line counts where text follows right
// below it that goes on with no list; of lines in capitals, only the last one.
func Title(line, next string) (level int, title string) {
	line, below := strings.TrimSpace(line), strings.TrimSpace(next)
	if line == "" || len(line) > longestTitle || strings.ContainsAny(line[len(line)-1:], ".!?,;:") || amounts.MatchString(line) {
		return 0, ""
	}
	number := partNumber.FindStringSubmatch(line)
	title = line
	if number != nil {
		level = 1 + strings.Count(number[1], ".")
		title = strings.TrimSpace(strings.TrimLeft(line, "0123456789.)"))
	}
	switch {
	case capitals(title) && !capitals(below):
		return level + 1, title
	case number == nil || below == "" || next[0] == ' ' || next[0] == '\t' || partNumber.MatchString(below):
		return 0, ""
	}
	first, _ := utf8.DecodeRuneInString(below)
	if !unicode.IsLetter(first) || len(below) <= len(line) || unicode.IsLower(first) {
		return 0, ""
	}
	return level + 1, title
}

// capitals reports whether a line is written in capital letters.
func capitals(s string) bool {
	upper, others := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLower(r):
			return false
		case unicode.IsUpper(r):
			upper++
		case !unicode.IsSpace(r):
			others++
		}
	}
	return upper >= leastCapital && upper > others
}

// Widths of text, in characters, by which lines that a writer ended are told from
// those that had no room left.
const (
	narrow = 40  // text that is nowhere wider was never wrapped
	wide   = 120 // nor was text that is anywhere wider
)

// Lines parts plain text into the lines that its writer meant: a line feed at which
// the next word had no room left, or behind which a sentence goes on in small letters,
// is none. Spans are in order, without blanks around them, and never empty.
func Lines(s string) []Span {
	width := 0
	for l := range strings.Lines(s) {
		width = max(width, utf8.RuneCountInString(strings.TrimRight(l, " \t\r\n")))
	}
	var out []Span
	at, last := 0, ""
	for l := range strings.Lines(s) {
		line := strings.TrimRight(l, " \t\r\n")
		body := strings.TrimLeft(line, " \t")
		start := at + len(line) - len(body)
		switch {
		case body == "":
		case last != "" && goesOn(last, body, width):
			out[len(out)-1].End = at + len(line)
		default:
			out = append(out, Span{Start: start, End: at + len(line)})
		}
		at, last = at+len(l), line
	}
	return out
}

// stamped is a line of a chat or a log: a time or a date in brackets begins it.
var stamped = regexp.MustCompile(`^\[\d{1,4}[-./:]\d`)

// goesOn reports whether a line goes on with the next one, in text of a width.
func goesOn(line, next string, width int) bool {
	if width < narrow || width > wide || stamped.MatchString(next) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next)
	ended := strings.ContainsAny(line[len(line)-1:], ".!?:;")
	if unicode.IsLower(first) {
		return !ended
	}
	word, _, _ := strings.Cut(next, " ")
	if ended {
		return false // a sentence ends there, at any rate
	}
	return utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width
}
