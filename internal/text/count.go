package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns the number of tokens of s in the o200k vocabulary of current OpenAI models.
// Text that looks like a special token counts as ordinary text; each invalid byte counts as
// U+FFFD. A word of more than 128 bytes is counted in pieces, which may add a token per piece.
func Count(s string) int {
	n := 0
	for s != "" {
		window := s[:seam(s)]
		n += len(tokens(strings.ToValidUTF8(window, "\uFFFD")))
		s = s[len(window):]
	}
	return n
}

// Trim returns the longest beginning of s, in whole tokens and whole runes, with at most n
// tokens by [Count]. Invalid bytes become U+FFFD.
func Trim(s string, n int) string {
	if n <= 0 {
		return ""
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	end, left := 0, n
windows:
	for end < len(s) {
		window := s[end : end+seam(s[end:])]
		for _, size := range tokens(window) {
			if left == 0 {
				break windows
			}
			end += size
			left--
		}
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end-- // a token may hold part of a rune
	}
	for end > 0 && Count(s[:end]) > n { // a cut word may need more tokens than the whole one
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[:end]
}

// Estimate approximates Count within about a fifth for prose and code, several hundred times
// faster.
func Estimate(s string) int {
	runes, wide := 0, 0 // beyond ASCII, and their bytes
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			wide++
			if utf8.RuneStart(s[i]) {
				runes++
			}
		}
	}
	return (len(s)-wide+3)/4 + (runes*2+2)/3
}

// maxWindow is the number of bytes that are encoded at once. The time of merge is quadratic in
// the length of a word, and a document may be one word of 50 MB.
const maxWindow = 256

// seam returns the position to cut s at so that the counts of the pieces add up to that of the
// whole: after a letter that no letter, mark or apostrophe follows, because a token always
// begins there. Text without such a position is cut between runes.
func seam(s string) int {
	if len(s) <= maxWindow {
		return len(s)
	}
	after := rune('a') // the rune that follows the cut
	for i := maxWindow; i > maxWindow/2; {
		before, size := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsLetter(before) && after != '\'' && after != utf8.RuneError && !unicode.IsLetter(after) && !unicode.IsMark(after) {
			return i
		}
		i -= size
		after = before
	}
	i := maxWindow
	for i > maxWindow-utf8.UTFMax && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
