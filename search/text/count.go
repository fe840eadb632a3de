package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// vocabulary is o200k_base.tiktoken as OpenAI publishes it for its library tiktoken
// (MIT licence), compressed: each line is a token in base64 and its rank. The SHA-256
// of the lines is 446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d.
//
//go:embed o200k_base.tiktoken.gz
var vocabulary []byte

// ranks is a loader that reads the embedded vocabulary, whichever is asked for.
type ranks struct{}

// LoadTiktokenBpe implements tiktoken.BpeLoader.
func (ranks) LoadTiktokenBpe(string) (map[string]int, error) {
	plain, err := gzip.NewReader(bytes.NewReader(vocabulary))
	if err != nil {
		return nil, err
	}
	out := make(map[string]int, 200_000)
	lines := bufio.NewScanner(plain)
	for lines.Scan() {
		encoded, _, _ := strings.Cut(lines.Text(), " ")
		token, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, err
		}
		out[string(token)] = len(out) // the lines are in order of rank
	}
	return out, lines.Err()
}

// codec decodes the embedded o200k vocabulary on first use: that takes a quarter
// of a second and 22 MB, and many commands never count.
var codec = sync.OnceValue(func() *tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(ranks{})
	c, err := tiktoken.GetEncoding(tiktoken.MODEL_O200K_BASE)
	if err != nil {
		panic("text: the o200k vocabulary is not built in: " + err.Error())
	}
	return c
})

// Count returns how many tokens of the o200k vocabulary s is, as current
// OpenAI models count them. What looks like a special token counts as the
// ordinary text it is; each invalid byte counts as U+FFFD. A word of more than
// 128 bytes is counted in pieces, which may add a token per piece.
func Count(s string) int {
	n := 0
	for s != "" {
		window := s[:seam(s)]
		n += len(encode(window))
		s = s[len(window):]
	}
	return n
}

func encode(s string) []int {
	return codec().EncodeOrdinary(strings.ToValidUTF8(s, "\uFFFD"))
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
		tokens := encode(window)
		if len(tokens) > left {
			end += len(codec().Decode(tokens[:left]))
			break
		}
		end += len(window)
		left -= len(tokens)
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

// maxWindow is how many bytes are encoded at once. The encoder takes quadratic
// time in the length of a word, and a document may be one word of 50 MB.
const maxWindow = 256

// seam returns where to cut s so that the counts of the pieces add up to that of
// the whole: after a letter that neither a letter, a mark nor an apostrophe
// follows, where a token always begins. Text without such a place is cut between
// runes.
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
