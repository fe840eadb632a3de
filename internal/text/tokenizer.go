package text

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The library tiktoken-go, with which a test compares the tokens, takes a third of a second to
// build its tables, longer than the rest of a question. So it is not used.

// vocabulary is o200k_base.tiktoken as published by OpenAI for tiktoken (MIT licence), without
// base64 and ranks: each token, preceded by a byte with its length, in order of rank.
//
//go:embed o200k_base.tokens
var vocabulary string

const vocabularySize = 199_998 // tokens

// ranks maps tokens to their ranks. It takes time and memory, so it is built on first use: many commands never count.
var ranks = sync.OnceValue(func() map[string]int32 {
	out := make(map[string]int32, vocabularySize)
	for rest := vocabulary; rest != ""; {
		end := 1 + int(rest[0])
		out[rest[1:end]] = int32(len(out))
		rest = rest[end:]
	}
	return out
})

// pieces matches a piece of text that is merged to tokens separately: a word with the character
// before it and an ending such as 's, up to three digits, punctuation, or white space. It is
// the pattern of o200k, with Unicode's white space spelled out. See [nextPiece] for its (?!\S).
var pieces = sync.OnceValue(func() *regexp.Regexp {
	const (
		space  = `\s\v\x{85}\p{Z}`
		before = `[^\r\n\p{L}\p{N}]?`
		upper  = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
		lower  = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
		ending = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	)
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		before + upper + `*` + lower + `+` + ending,
		before + upper + `+` + lower + `*` + ending,
		`\p{N}{1,3}`,
		` ?[^` + space + `\p{L}\p{N}]+[\r\n/]*`,
		`[` + space + `]*[\r\n]+`,
		`[` + space + `]+`,
	}, `|`) + `)`)
})

// nextPiece returns the length of the piece at the start of s. White space before other
// characters leaves its last rune to them, as \s+(?!\S) does.
func nextPiece(s string) int {
	end := len(pieces().FindString(s))
	if last, size := utf8.DecodeLastRuneInString(s[:end]); end < len(s) && size < end && unicode.IsSpace(last) && last != '\n' && last != '\r' {
		end -= size
	}
	return max(end, 1)
}

// tokens returns the lengths in bytes of the tokens of s, which is valid UTF-8.
func tokens(s string) []int {
	var out []int
	for s != "" {
		piece := s[:nextPiece(s)]
		if _, ok := ranks()[piece]; ok {
			out = append(out, len(piece))
		} else {
			out = append(out, merge(piece)...)
		}
		s = s[len(piece):]
	}
	return out
}

// merge returns the lengths of the tokens of a piece: its bytes, whose neighbours are joined as
// long as there is a token of both, the lowest rank first.
func merge(piece string) []int {
	known := ranks()
	starts := make([]int, len(piece)+1) // of the tokens, and the end of the last one
	for i := range starts {
		starts[i] = i
	}
	joined := func(i int) int32 { // the rank of tokens i and i+1 as one
		if i+2 < len(starts) {
			if rank, ok := known[piece[starts[i]:starts[i+2]]]; ok {
				return rank
			}
		}
		return vocabularySize
	}
	pairs := make([]int32, len(piece))
	for i := range pairs {
		pairs[i] = joined(i)
	}
	for {
		at := 0
		for i, rank := range pairs {
			if rank < pairs[at] {
				at = i
			}
		}
		if pairs[at] == vocabularySize {
			break
		}
		starts, pairs = slices.Delete(starts, at+1, at+2), slices.Delete(pairs, at+1, at+2)
		pairs[at] = joined(at)
		if at > 0 {
			pairs[at-1] = joined(at - 1)
		}
	}
	sizes := make([]int, len(pairs))
	for i := range sizes {
		sizes[i] = starts[i+1] - starts[i]
	}
	return sizes
}
