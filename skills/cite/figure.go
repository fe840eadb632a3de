package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// figures lists the numbers of s with what belongs to them, from left to right:
// 24.000, 3.2.1, 2024-05-01, 01/VBHN-VPQH, v2, 80:80. A number is a run of
// letters and digits with a digit among them, and the runs that a point, comma,
// colon, slash, underscore or hyphen ties to it.
//
// It gives what the expression [\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[.,:/_-][\p{L}\p{N}]+)*
// finds, in a tenth of the time.
func figures(s string) []string {
	var out []string
	for at := 0; at < len(s); {
		n, number := alphanumeric(s[at:])
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[at:])
		}
		if !number {
			at += n
			continue
		}
		end := at + n
		for end < len(s) && strings.IndexByte(".,:/_-", s[end]) >= 0 {
			if n, _ = alphanumeric(s[end+1:]); n == 0 {
				break
			}
			end += 1 + n
		}
		out = append(out, s[at:end])
		at = end
	}
	return out
}

// alphanumeric returns the length of the letters and digits that s begins with,
// and whether a digit is among them.
func alphanumeric(s string) (length int, number bool) {
	for i, r := range s {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		case '0' <= r && r <= '9':
			number = true
		case r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsNumber(r):
			return i, number
		default:
			number = number || unicode.IsNumber(r)
		}
	}
	return len(s), number
}

// mayIdentify reports whether [identifier] can match in s at all: each of its
// alternatives needs one of these pairs.
func mayIdentify(s string) bool {
	for i := range len(s) {
		next := byte(0)
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch c := s[i]; {
		case c == '_' || c == '/',
			c == '-' && isASCIILetter(next),
			c == '.' && 'a' <= next && next <= 'z',
			'a' <= c && c <= 'z' && 'A' <= next && next <= 'Z':
			return true
		}
	}
	return false
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
