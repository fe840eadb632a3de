package text

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"example.com/ragflow/internal/memo"
)

// codec reads the o200k vocabulary when it is first needed: it takes some
// hundred milliseconds and 30 MB, and many commands never count.
//
//nolint:gochecknoglobals // immutable; expensive to make
var codec = sync.OnceValue(func() tokenizer.Codec {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("text: the o200k vocabulary is not built in: " + err.Error())
	}
	return c
})

// counted remembers the texts that were counted last: those of a conversation
// are counted turn after turn, a context by whoever makes it and whoever shows it.
//
//nolint:gochecknoglobals // what is in it never shows
var counted = memo.New[string, int](128)

// Bounds of the texts worth remembering, in bytes.
const (
	leastCounted = 64
	mostCounted  = 32 << 10
)

// Count returns how many tokens of the o200k vocabulary s is, as current
// OpenAI models count them. What looks like a special token counts as the
// ordinary text it is; each invalid byte counts as U+FFFD.
func Count(s string) int {
	if len(s) < leastCounted || len(s) > mostCounted {
		return count(s)
	}
	return counted.Get(s, func() int { return count(s) })
}

func count(s string) int {
	n := 0
	for s != "" {
		window := s[:seam(s)]
		k, err := codec().Count(strings.ToValidUTF8(window, "\uFFFD"))
		if err != nil { // the vocabulary's pattern ran out of its time limit, which is unset
			k = Estimate(window)
		}
		n += k
		s = s[len(window):]
	}
	return n
}

// Trim returns the longest beginning of s, in whole tokens and whole runes,
// that is at most n tokens by [Count]. Invalid bytes come out as U+FFFD.
func Trim(s string, n int) string {
	if n <= 0 {
		return ""
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	end, left := 0, n
	for end < len(s) {
		window := s[end : end+seam(s[end:])]
		_, tokens, err := codec().Encode(window)
		if err != nil {
			break
		}
		if len(tokens) <= left {
			end += len(window)
			left -= len(tokens)
			continue
		}
		for _, t := range tokens[:left] {
			end += len(t)
		}
		break
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end-- // a token may hold part of a rune
	}
	for end > 0 && Count(s[:end]) > n { // a cut word may need more tokens than it was part of
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[:end]
}

// Estimate guesses Count within about a fifth for prose and code, several
// hundred times faster.
func Estimate(s string) int {
	other := 0 // runes beyond ASCII
	wide := 0  // their bytes
	for i := asciiEnd(s, 0); i < len(s); i = asciiEnd(s, i+1) {
		wide++
		if utf8.RuneStart(s[i]) {
			other++
		}
	}
	return (len(s)-wide+3)/4 + (other*2+2)/3
}

// maxSeam is how much is handed to the tokenizer at once. Its matcher copies
// the text as runes, and a document may be one line of 50 MB.
const maxSeam = 64 << 10

// seam returns where to cut s so that counting the pieces is counting the
// whole: before a single space between letters, where a token always begins.
// Text without such a place is cut between runes.
func seam(s string) int {
	if len(s) <= maxSeam {
		return len(s)
	}
	for i := maxSeam; i > maxSeam/2; i-- {
		if s[i] == ' ' && isLower(s[i-1]) && isLower(s[i+1]) {
			return i
		}
	}
	i := maxSeam
	for i > maxSeam-utf8.UTFMax && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
