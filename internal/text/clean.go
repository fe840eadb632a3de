package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Clean normalises input to be searched for, stored and shown: NFC, U+FFFD for each invalid
// sequence, single spaces, none at the ends. It removes invisible characters that can mislead:
// see [Hidden]. Cleaning twice changes nothing more.
func Clean(s string) string {
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

// Hidden reports whether a rune is invisible: control and zero-width characters, bidirectional
// controls, tags, fillers and variation selectors beyond emoji. Drawn signs that Unicode
// classifies as format characters, such as the Arabic number sign, are visible.
func Hidden(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r < 0xAD: // most runes
		return false
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

// First returns the first n runes of s, or all. A byte that is not UTF-8 counts as a rune.
func First(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}
