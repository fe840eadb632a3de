package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

// Visible makes text safe to show on a terminal or in a viewer. It replaces invalid UTF-8 by
// U+FFFD, control characters other than tab and newline by their pictures, and every kind of
// line end by a newline. It drops invisible characters that reorder text, join or split words,
// or carry hidden text: see [text.Hidden].
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
