package cite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/internal/text"
)

// Checked is an answer whose markers all name an existing source.
type Checked struct {
	Text    string
	Cited   []int // sources that markers name, once each, in order of first appearance
	Invalid int   // removed numbers, each appearance counted
}

// Validate removes source numbers outside 1..n from answer and rewrites markers in the standard form:
// "[Source 1]", one bracket a number, each number once a marker. A marker without numbers is removed with the
// blanks before it.
func Validate(answer string, n int) Checked {
	first := rewrite(answer, n, "")
	if first.Invalid == 0 {
		return first
	}
	// Removing a marker may join the parts of another one, as in "[Source [Source 9]8]". These are escaped;
	// removing them could repeat many times.
	second := rewrite(first.Text, n, `\`)
	second.Invalid += first.Invalid
	return second
}

// rewrite normalizes markers. One without a valid number is removed, or escaped if an escape is given.
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

// Marker returns the citation of source n.
func Marker(n int) string { return "[Source " + strconv.Itoa(n) + "]" }

// Strip removes all markers from text, with the blanks before them.
func Strip(text string) string { return Validate(text, 0).Text }

// Escape puts a backslash before every marker in text quoted from a document, so that it cites nothing.
// Markdown renders the original text.
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

// marker is the position of a marker in a text: text[start:end].
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

// escaped reports whether an odd number of backslashes precedes i.
func escaped(text string, i int) bool {
	before := text[:i]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// numbers returns the numbers of a marker within 1..n, once each, and counts the others. The part of a range
// beyond n counts as one.
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

// number parses digits; values above n, of any length, become n+1.
func number(digits string, n int) int {
	k, err := strconv.Atoi(digits)
	if err != nil || k > n {
		return n + 1
	}
	return k
}
