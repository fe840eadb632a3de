package cite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/search/text"
)

// Checked is an answer whose markers all name a source.
type Checked struct {
	Text    string
	Cited   []int // numbers of the sources that markers name, each once, in order of first appearance
	Invalid int   // numbers taken out because there is no such source, each appearance counted
}

// Validate takes the numbers out of answer that are not within 1..n, and puts
// each marker into the form that stands in the documents of this project:
// "[Source 1]", one bracket a number, each number once a marker. A marker that
// keeps no number goes, with the blanks before it.
func Validate(answer string, n int) Checked {
	first := rewrite(answer, n, "")
	if first.Invalid == 0 {
		return first
	}
	// What was taken out may have stood inside of another marker, as in
	// "[Source [Source 9]8]". What comes to light is not taken out in turn,
	// which could go on for long, but escaped.
	second := rewrite(first.Text, n, `\`)
	second.Invalid += first.Invalid
	return second
}

// rewrite brings markers into form. One without a valid number goes, or is
// escaped where an escape is given.
func rewrite(answer string, n int, escape string) Checked {
	var out strings.Builder
	var c Checked
	at := 0
	for _, m := range find(answer) {
		numbers, invalid := m.numbers(answer, n)
		c.Invalid += invalid
		before := answer[at:m.start]
		if len(numbers) == 0 && escape == "" {
			before = strings.TrimRight(before, " \t")
		}
		out.WriteString(before)
		if len(numbers) == 0 && escape != "" {
			out.WriteString(escape + answer[m.start:m.end])
		}
		for _, k := range numbers {
			out.WriteString(Marker(k))
			if !slices.Contains(c.Cited, k) {
				c.Cited = append(c.Cited, k)
			}
		}
		at = m.end
	}
	out.WriteString(answer[at:])
	c.Text = out.String()
	return c
}

// Marker is how source n is cited in a text.
func Marker(n int) string { return "[Source " + strconv.Itoa(n) + "]" }

// Strip takes all markers out of text, with the blanks before them: what is
// left is what was said.
func Strip(text string) string { return Validate(text, 0).Text }

// Escape puts a backslash before every marker in text that is quoted from a
// document, so that it cites nothing. Markdown shows the text as it was.
func Escape(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range find(text) {
		out.WriteString(text[at:m.start])
		out.WriteByte('\\')
		out.WriteString(text[m.start:m.end])
		at = m.end
	}
	out.WriteString(text[at:])
	return out.String()
}

// marker is the place of a marker in a text: text[start:end].
type marker struct{ start, end int }

var (
	markerPattern = regexp.MustCompile(`(?i)\[[ \t]*sources?[ \t]*[:#]?[ \t]*` + item + `(?:[ \t]*` + separator + `[ \t]*(?:sources?[ \t]*[:#]?[ \t]*)?` + item + `)*[ \t]*\]`)
	itemPattern   = regexp.MustCompile(`(\d+)(?:[ \t]*[-–—][ \t]*(\d+))?`)
)

const (
	item      = `#?\d+(?:[ \t]*[-–—][ \t]*\d+)?`
	separator = `(?:,[ \t]*and\b|,[ \t]*&|,|;|&|\+|and\b)`
)

// find returns the markers of s, in order.
func find(s string) []marker {
	var out []marker
	code := text.Fences(s)
	for _, at := range markerPattern.FindAllStringIndex(s, -1) {
		for len(code) > 0 && code[0].End <= at[0] {
			code = code[1:]
		}
		inCode := len(code) > 0 && code[0].Start <= at[0]
		if !inCode && !escaped(s, at[0]) {
			out = append(out, marker{at[0], at[1]})
		}
	}
	return out
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(text string, i int) bool {
	before := text[:i]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// numbers reads the numbers of a marker that are within 1..n, each once, and
// counts the rest. Of a range, the part beyond n counts as one.
func (m marker) numbers(text string, n int) (valid []int, invalid int) {
	add := func(k int) {
		if !slices.Contains(valid, k) {
			valid = append(valid, k)
		}
	}
	for _, part := range itemPattern.FindAllStringSubmatch(text[m.start:m.end], -1) {
		from := number(part[1], n)
		to := from
		if part[2] != "" {
			to = number(part[2], n)
		}
		if from < 1 || to > n || from > to {
			invalid++
		}
		for k := max(1, from); k <= min(to, n); k++ {
			add(k)
		}
	}
	return valid, invalid
}

// number reads digits; what is greater than n, however long, is n+1.
func number(digits string, n int) int {
	k, err := strconv.Atoi(digits)
	if err != nil || k > n {
		return n + 1
	}
	return k
}
