package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a piece of a text: s[Start:End], in bytes.
type Span struct {
	Start int
	End   int // first byte after
}

// Sentences splits plain text or Markdown into sentences. The spans are in order, do not
// overlap, have no white space at their ends, and cover everything else.
//
// A heading, the beginning of a list item, a table row, and a line of Hugo shortcode or HTML
// comment are never joined with the text that follows, and a fenced code block is one span.
// Inside a paragraph a full stop, question or exclamation mark ends a sentence unless the
// context contradicts: no space follows (example.com, 24.000), a lower-case letter follows, or
// an abbreviation precedes (e.g.). Inline code is skipped.
func Sentences(s string) []Span {
	var out []Span
	var fence Fence // the open one
	start, at := 0, 0
	paragraph := func(end int) { out, start = appendSentences(out, s, start, end), end }
	unit := func(end int) { out, start = appendTrimmed(out, s, start, end), end }
	for line := range strings.Lines(s) {
		end := at + len(line)
		line = strings.TrimLeft(strings.TrimSpace(line), "> ")
		opened, opens := OpenFence(strings.TrimLeft(line[marker(line):], " ")) // - ```sh
		switch {
		case fence.Mark != "":
			if fence.Closes(line) {
				unit(end)
				fence = Fence{}
			}
		case opens:
			paragraph(at)
			fence = opened
		case isUnit(line):
			paragraph(at)
			unit(end)
		case line == "" || marker(line) > 0:
			paragraph(at)
		}
		at = end
	}
	if fence.Mark != "" {
		unit(len(s))
	}
	paragraph(len(s))
	return out
}

// Unfinished reports whether a text ends without a mark that ends a sentence, like a label.
func Unfinished(s string) bool {
	s = strings.TrimRight(s, " \t\r\n)]}\"'*_»”’“‘」』）】》〉")
	last, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && !strings.ContainsRune(".!?…！？。", last)
}

// isUnit reports whether a line is a unit: a heading, a table row, a rule, a line of shortcodes
// or of an HTML comment.
func isUnit(line string) bool {
	return line != "" && strings.IndexByte("|#{<-*_=", line[0]) >= 0 && unitLine.MatchString(line)
}

var unitLine = regexp.MustCompile(`^(?:\||#{1,6}(?:\s|$)|\{\{[<%].*[>%]\}\}$|<!--.*-->$|[-*_= ]+$)`)

// marker returns the length of the list marker that a line begins with, or 0.
func marker(line string) int {
	if line == "" || unicode.IsLetter(rune(line[0])) {
		return 0 // most lines
	}
	return max(0, len(listMarker.FindString(line))-1)
}

var listMarker = regexp.MustCompile(`^(?:[-*+•]|\d{1,9}[.)])[ \t]`)

func appendTrimmed(dst []Span, s string, start, end int) []Span {
	t := strings.TrimLeftFunc(s[start:end], unicode.IsSpace)
	start = end - len(t)
	t = strings.TrimRightFunc(t, unicode.IsSpace)
	if t == "" {
		return dst
	}
	return append(dst, Span{start, start + len(t)})
}

// appendSentences splits one paragraph or list item.
func appendSentences(dst []Span, s string, start, end int) []Span {
	body := strings.TrimLeft(s[start:end], " \t\r\n>")
	from := start
	for i := end - len(body) + marker(body); i < end; { // skips the dot of "1. "
		c := s[i]
		if c < utf8.RuneSelf && c != '.' && c != '?' && c != '!' && c != '`' {
			i++
			continue
		}
		if c == '`' {
			i, _ = PieceEnd(s[:end], i)
			continue
		}
		mark, n := utf8.DecodeRuneInString(s[i:end])
		if c >= utf8.RuneSelf && !strings.ContainsRune(wideMarks, mark) {
			i += n
			continue
		}
		stop := closers(s, i+n, end)
		if endsSentence(s[from:i], s[i:stop], s[stop:end]) {
			stop += len(note.FindString(s[stop:end]))
			dst = appendTrimmed(dst, s, from, stop)
			from = stop
		}
		i = stop
	}
	return appendTrimmed(dst, s, from, end)
}

// note matches the number of a note or reference, which belongs to the sentence before it.
var note = regexp.MustCompile(`^ *\[\d[\d,– ]*\](?:\s|$)`)

// wideMarks end a sentence even if no space follows.
const wideMarks = "。！？।؟"

// endsSentence reports whether the marks after before, with closing quotes and brackets, end a
// sentence.
func endsSentence(before, marks, after string) bool {
	mark, _ := utf8.DecodeRuneInString(marks)
	if strings.ContainsRune(wideMarks, mark) {
		particle, _ := utf8.DecodeRuneInString(after) // a Japanese sentence continues after its quote with such a particle
		return !strings.ContainsAny(marks, "」』") || !strings.ContainsRune("とっなをがはのにでも、", particle)
	}
	next := strings.TrimLeftFunc(after, unicode.IsSpace)
	switch {
	case next == "":
		return true
	case len(next) == len(after): // no space: a number, a host, a file name
		return false
	}
	next = strings.TrimLeft(next, "> ") // the next line of a quote block
	if first, _ := utf8.DecodeRuneInString(next); unicode.IsLower(first) {
		return false
	}
	return mark != '.' || !abbreviated(before, next) && !numbered(before) && !germanOrdinal(before, next)
}

// closers returns the position after the marks, quotes, brackets and emphasis that close at i.
func closers(s string, i, end int) int {
	rest := strings.TrimLeft(s[i:end], ")]}\"'*_»”’“‘」』）】》〉.!?…！？。")
	// French writes a space before a closing quote, and none before an opening one.
	if quote := strings.TrimLeftFunc(rest, unicode.IsSpace); len(quote) < len(rest) && strings.HasPrefix(quote, "»") {
		after := quote[len("»"):]
		if r, _ := utf8.DecodeRuneInString(after); after == "" || unicode.IsSpace(r) {
			rest = after
		}
	}
	return end - len(rest)
}
