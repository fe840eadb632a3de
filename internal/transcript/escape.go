package transcript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/ragflow/internal/sanitize"
	searchtext "example.com/ragflow/internal/text"
)

// Visible is [sanitize.Visible].
func Visible(s string) string { return sanitize.Visible(s) }

// VisibleJSON replaces control characters and invisible characters in JSON by \u
// escapes. The values do not change.
func VisibleJSON(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r < 0x7f || r == utf8.RuneError || !unicode.IsControl(r) && !searchtext.Hidden(r):
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

// inline escapes text for one line of Markdown, after other text: in a heading, a list item or a table cell.
// It escapes only what needs it, so that the file is also readable as plain text. Addresses become code, so
// that no viewer makes them clickable.
func inline(s string) string {
	s = oneLine(s)
	var b strings.Builder
	at := 0
	for _, a := range sanitize.Addresses(s) {
		b.WriteString(escaped(s[at:a.Start]) + "`" + s[a.Start:a.End] + "`")
		at = a.End
	}
	return b.String() + escaped(s[at:])
}

func escaped(s string) string {
	rs := []rune(s)
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

// fenced formats text as a code block, with a prefix before each line.
func fenced(prefix, s string) string {
	s = strings.TrimRight(Visible(s), "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
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
