package transcript

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// Visible makes text safe to show on a terminal or in a viewer. It replaces invalid
// UTF-8 by U+FFFD and control characters, other than tab and newline, by their
// pictures. All kinds of line end become a newline. It drops invisible characters
// with an effect: those that reorder text, join or split words, or carry hidden text
// (tags). See [text.Hidden].
//
// This is the only place where text of documents, models and people is made safe to
// show. Chunks, quotes and answers are stored unchanged.
func Visible(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case unicode.Is(unicode.Cc, r):
			return utf8.RuneError
		case r >= utf8.RuneSelf && text.Hidden(r):
			return -1
		}
		return r // strings.Map gives U+FFFD for invalid bytes
	}, s)
}

// VisibleJSON replaces control characters and invisible characters in JSON by \u
// escapes. The values do not change.
func VisibleJSON(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r < 0x7f || r == utf8.RuneError || !unicode.IsControl(r) && !text.Hidden(r):
			out = append(out, data[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		data = data[n:]
	}
	return out
}

// oneLine turns text into one line: line ends become " ⏎ ", runs of spaces become one
// space.
func oneLine(s string) string {
	lines := strings.Split(strings.TrimSpace(Visible(s)), "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, " ⏎ ")
}

// cut shortens text to n runes. If text is cut off, the last rune is an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// inline escapes text for one line of Markdown, after other text: in a heading, a
// list item or a table cell. It escapes only where needed, so that the file is also
// readable as plain text.
func inline(s string) string {
	rs := []rune(oneLine(s))
	word := func(i int) bool {
		return i >= 0 && i < len(rs) && (unicode.IsLetter(rs[i]) || unicode.IsDigit(rs[i]))
	}
	var b strings.Builder
	for i, r := range rs {
		switch r {
		case '\\', '`', '*', '[', ']', '<', '|', '~', '$':
			b.WriteByte('\\')
		case '_':
			if !word(i-1) || !word(i+1) {
				b.WriteByte('\\')
			}
		case '&':
			if i+1 < len(rs) && (word(i+1) || rs[i+1] == '#') {
				b.WriteByte('\\')
			}
		case '#':
			if i == len(rs)-1 { // would close a heading
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code formats a short text as a code span that its content cannot end. A text with
// a pipe is escaped instead.
func code(s string) string {
	s = oneLine(s)
	if s == "" {
		return "–"
	}
	if strings.ContainsAny(s, "|\\") { // a pipe would end a table cell even in a code span
		return inline(s)
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenced formats text as a code block, with a prefix before each line.
func fenced(prefix, s string) string {
	s = strings.TrimRight(Visible(s), "\n")
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	var b strings.Builder
	b.WriteString(prefix + fence + "text\n")
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			b.WriteString(strings.TrimRight(prefix, " ") + "\n")
			continue
		}
		b.WriteString(prefix + line + "\n")
	}
	b.WriteString(prefix + fence + "\n")
	return b.String()
}

func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] == c {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return longest
}

// Parts of an answer that are active in a viewer.
var (
	fenceLike = regexp.MustCompile("^[ \t>*+0-9.)-]*(`{3,}|~{3,})")
	htmlStart = regexp.MustCompile(`<([A-Za-z/!?])`)
	imageMark = regexp.MustCompile(`!\[`)
)

// cleaner makes an answer's Markdown harmless, line by line. Outside of code every
// HTML tag becomes text and every image becomes a link, so that opening the file
// loads nothing. rewrite, if not nil, is applied to text outside of code.
//
// It does not parse all of CommonMark. If it is unsure whether something is code, it
// treats it as text. If it cannot tell where a code block ends, it treats the rest as
// text. So a rare code block may show "&lt;", but no viewer ever sees a tag.
type cleaner struct {
	rewrite func(string) string
	fence   text.Fence // fence of the current code block; zero outside
	open    bool       // a code span of an earlier line may still be open
	lost    bool       // it is unknown which lines are code
}

// clean returns the harmless form of a Markdown text.
func (c *cleaner) clean(text string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(Visible(text), "\n") {
		b.WriteString(c.line(line))
	}
	return b.String()
}

func (c *cleaner) line(line string) string {
	body := strings.TrimRight(line, "\n")
	blank := strings.TrimSpace(body) == ""
	if blank {
		c.open = false
		return line
	}
	indent := len(body) - len(strings.TrimLeft(body, " "))
	fence, fenced := text.OpenFence(body)
	switch {
	case c.lost:
		return c.text(line)
	case c.fence.Mark != "":
		switch {
		case c.fence.Closes(body) && (c.fence.Indent == 0 || fence.Indent == c.fence.Indent):
			c.fence = text.Fence{}
		case c.fence.Indent == 0: // no list item can end it, so this is content
		case indent < c.fence.Indent, fenceLike.MatchString(body): // the block may have ended
			c.lost = true
			return c.text(line)
		}
		return line
	case fenced:
		c.fence, c.open = fence, false
		return line
	case fenceLike.MatchString(body):
		c.lost = true
		return c.text(line)
	}
	return c.spans(line)
}

// spans handles a line outside of code blocks: text with code spans in it.
func (c *cleaner) spans(line string) string {
	if c.open || strings.Contains(line, "\\`") {
		c.open = c.open || strings.Contains(line, "`")
		return c.text(line)
	}
	var b strings.Builder
	rest := line
	for {
		i := strings.IndexByte(rest, '`')
		if i < 0 {
			b.WriteString(c.text(rest))
			return b.String()
		}
		n := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
		j := closing(rest[i+n:], n)
		if j < 0 {
			c.open = true
			b.WriteString(c.text(rest))
			return b.String()
		}
		end := i + n + j + n
		b.WriteString(c.text(rest[:i]))
		if span := rest[i:end]; strings.Contains(span, "|") { // in a table, cells come first
			b.WriteString(c.text(span))
		} else {
			b.WriteString(span)
		}
		rest = rest[end:]
	}
}

// closing returns where in s a run of exactly n backticks begins, or -1.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// text makes text outside of code harmless.
func (c *cleaner) text(s string) string {
	s = htmlStart.ReplaceAllString(s, "&lt;$1")
	s = imageMark.ReplaceAllString(s, "&#33;[") // not a backslash: another backslash before it would cancel it
	if c.rewrite != nil {
		s = c.rewrite(s)
	}
	return s
}
