package text

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestASCIIRuns compares what looks at eight bytes at a time with what looks at each.
func TestASCIIRuns(t *testing.T) {
	end := func(s string, i int, in func(c byte) bool) int {
		for i < len(s) && in(s[i]) {
			i++
		}
		return i
	}
	check := func(s string) {
		t.Helper()
		for i := range len(s) + 1 {
			if got, want := LettersEnd(s, i), end(s, i, isLetterByte); got != want {
				t.Fatalf("LettersEnd(%q, %d) = %d, want %d", s, i, got, want)
			}
			if got, want := smallEnd(s, i), end(s, i, isLower); got != want {
				t.Fatalf("smallEnd(%q, %d) = %d, want %d", s, i, got, want)
			}
			if got, want := asciiEnd(s, i), end(s, i, func(c byte) bool { return c < 0x80 }); got != want {
				t.Fatalf("asciiEnd(%q, %d) = %d, want %d", s, i, got, want)
			}
		}
	}
	for c := range 256 {
		for at := range 9 {
			check(strings.Repeat("q", at) + string([]byte{byte(c)}) + strings.Repeat("Z", 9-at))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, r.IntN(30))
		for i := range b {
			if b[i] = byte(r.IntN(256)); r.IntN(4) > 0 {
				b[i] = "azAZmM"[r.IntN(6)]
			}
		}
		check(string(b))
	}
}
