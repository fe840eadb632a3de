package text

import (
	"regexp"
	"slices"
	"strings"
)

// versionShare is the share of the shorter text's triples of words, numbers masked, from which two texts are versions of one.
const versionShare = 0.6

// Versions reports whether two texts say the same but for numbers: the longer one has most of the triples of words of the
// shorter one, if each number counts as any number, and they differ in one. A new version may say more. Names are not
// masked, so prices of two goods are no versions.
func Versions(a, b string) bool {
	x, numbersA := masked(a)
	y, numbersB := masked(b)
	if slices.Equal(numbersA, numbersB) {
		return false
	}
	first, second := shingles(x), shingles(y)
	common := 0
	for s := range first {
		if second[s] {
			common++
		}
	}
	return common > 0 && float64(common) >= versionShare*float64(min(len(first), len(second)))
}

// SameBesidesNumbers reports whether two texts have the same words in the same order, and how many of their numbers differ.
func SameBesidesNumbers(a, b string) (differing int, same bool) {
	x, numbersA := masked(a)
	y, numbersB := masked(b)
	if !slices.Equal(x, y) {
		return 0, false
	}
	for i := range numbersA {
		if numbersA[i] != numbersB[i] {
			differing++
		}
	}
	return differing, true
}

// replyWord finds the marks that mail programs put before a subject.
var replyWord = regexp.MustCompile(`^(?:re|aw|antw|odp|fwd?|wg|pd)$`)

// Series reports whether two titles name documents of one series, such as the minutes of two meetings, or a mail and its
// reply. Numbers, months beside a number, and the marks of replies do not count; all other words are the same.
func Series(a, b string) bool {
	x, y := seriesWords(a), seriesWords(b)
	return slices.ContainsFunc(x, func(w string) bool { return w != "0" }) && slices.Equal(x, y)
}

func seriesWords(title string) []string {
	words, _ := masked(title)
	number := func(i int) bool { return i >= 0 && i < len(words) && words[i] == "0" }
	var out []string
	for i, w := range words {
		if !replyWord.MatchString(w) && (monthOf(w) == 0 || !number(i-1) && !number(i+1)) {
			out = append(out, w)
		}
	}
	return out
}

// masked returns the words of a text in lower case with "0" for each that has a digit, and those words.
func masked(s string) (words, numbers []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWordRune(r) && r != '.' && r != ',' }) {
		switch w = strings.Trim(w, ".,"); {
		case w == "":
		case hasNumber(w):
			words, numbers = append(words, "0"), append(numbers, w)
		default:
			words = append(words, w)
		}
	}
	return words, numbers
}

func shingles(words []string) map[string]bool {
	const size = 3
	out := map[string]bool{}
	for i := range max(1, len(words)-size+1) {
		out[strings.Join(words[i:min(len(words), i+size)], " ")] = true
	}
	return out
}
