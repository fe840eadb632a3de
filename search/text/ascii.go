package text

import (
	"math/bits"
	"unicode/utf8"
)

// Bits of eight bytes.
const (
	eachByte  = 0x0101010101010101
	highOfAll = 0x80 * eachByte
)

// eight returns the eight bytes of s from i on, the first as the lowest.
func eight(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// noSmall has the highest bit of each of eight bytes that is no letter from a to z, once
// or is put on each: 0x20 makes small letters of large ones.
func noSmall(bytes uint64, or byte) uint64 {
	low := bytes&^highOfAll | uint64(or)*eachByte // so that no sum below reaches the next byte
	fromA, behindZ := low+(0x80-'a')*eachByte, low+(0x80-'z'-1)*eachByte
	return (^fromA | behindZ | bytes) & highOfAll
}

// LettersEnd returns where the run of ASCII letters ends that s[i:] begins with. It looks at
// eight bytes at a time.
func LettersEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if other := noSmall(eight(s, i), 0x20); other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	for i < len(s) && isLetterByte(s[i]) {
		i++
	}
	return i
}

// smallEnd is LettersEnd for letters from a to z.
func smallEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if other := noSmall(eight(s, i), 0); other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	for i < len(s) && isLower(s[i]) {
		i++
	}
	return i
}

// asciiEnd returns where the first byte beyond ASCII stands from i on, len(s) where
// there is none. It looks at eight bytes at a time.
func asciiEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if beyond := eight(s, i) & highOfAll; beyond != 0 {
			return i + bits.TrailingZeros64(beyond)/8
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}
