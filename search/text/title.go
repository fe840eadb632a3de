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
