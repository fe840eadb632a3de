package text

import "unicode/utf8"

// lettersEnd returns the end of the run of ASCII letters that s[i:] begins with.
func lettersEnd(s string, i int) int {
	for i < len(s) && isLetterByte(s[i]) {
		i++
	}
	return i
}

// lowerEnd is lettersEnd for letters from a to z.
func lowerEnd(s string, i int) int {
	for i < len(s) && isLower(s[i]) {
		i++
	}
	return i
}

// asciiEnd returns the place of the first byte beyond ASCII from i on, len(s) if
// there is none.
func asciiEnd(s string, i int) int {
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}
