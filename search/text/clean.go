package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Clean makes input fit to be searched for, stored and shown: NFC, each
// invalid sequence replaced by U+FFFD, runs of white space one space, ends
// stripped. What cannot be seen and can mislead is removed: control
// characters, zero-width characters, bidirectional controls, Unicode tags and
// the variation selectors beyond emoji. Cleaning twice changes nothing more.
func Clean(s string) string {
	if out, ok := cleanASCII(s); ok {
		return out
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case Hidden(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(norm.NFC.String(s)), " ")
}

// cleanASCII cleans a text of ASCII alone, as most are. ok is false for others.
func cleanASCII(s string) (out string, ok bool) {
	space, done := true, true // before the first character; there is nothing to clean
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		done = done && c >= ' ' && c < 0x7f && (c != ' ' || !space)
		space = c == ' '
	}
	if done && (s == "" || !space) {
		return s, true
	}
	var b strings.Builder
	b.Grow(len(s))
	space = false
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || '\t' <= c && c <= '\r':
			space = b.Len() > 0
		case c < ' ' || c == 0x7f: // hidden
		default:
			if space {
				b.WriteByte(' ')
			}
			space = false
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// Hidden reports whether a rune has no shape of its own: controls, zero-width
// characters, bidirectional controls, tags and fillers. Signs that Unicode
// files under format but that are drawn, such as the Arabic number sign, stay.
func Hidden(r rune) bool {
	switch {
	case unicode.Is(unicode.Cc, r):
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case unicode.Is(unicode.Cf, r):
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0: // fillers
		return true
	case 0xE0000 <= r && r <= 0xE0FFF: // tags, variation selectors, reserved ignorables
		return true
	}
	return false
}

// First returns the first n runes of s, all of it where it has fewer. A byte
// that is no UTF-8 counts as a rune.
func First(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}
