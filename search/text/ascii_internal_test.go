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

// TestRuns compares the runs of a reading with those found byte by byte, and its votes
// where a text is cut.
func TestRuns(t *testing.T) {
	v := NewVocabulary(englishAnalyzer)
	long := strings.Repeat("que les naïve and der die, ", 200)
	for _, s := range []string{
		"", "a", "The mice", "abcdefg abcdefgh, abcdefghijklmnop abcdefghijklmnopq.", "x\u00e9y \xff\xfe z1z", strings.Repeat("x", 300), long,
		strings.Repeat("x", maxLanguage-3) + " und", strings.Repeat("x", maxLanguage-3) + " understood", strings.Repeat("x", maxLanguage-3) + " un\u00e9", strings.Repeat("x", maxLanguage-3) + "\u00e9\u00e9 und",
	} {
		r, _ := v.Read(nil, s)
		for i, again := 0, r; i < len(s); {
			end := i
			for end < len(s) && isLetterByte(s[end]) {
				end++
			}
			for end == i && i < len(s) && s[i] >= 0x80 || end > i && end < len(s) && s[i] >= 0x80 && s[end] >= 0x80 {
				end++
			}
			if end == i {
				i++
				continue
			}
			if len(r.Runs) == 0 || int(r.Runs[0].Start) != i || int(r.Runs[0].End) != end {
				t.Fatalf("runs of %q: %v, want %d to %d next", s, again.Runs, i, end)
			}
			if known := r.Runs[0].Word > 0; known != (s[i] < 0x80 && end-i <= 16) {
				t.Errorf("%q has a number: %v", s[i:end], known)
			}
			r.Runs, i = r.Runs[1:], end
		}
		var want, got ballot
		want.vote(s)
		r, _ = v.Read(nil, s)
		if got.read(&r); got != want {
			t.Errorf("votes of %q: %v, want %v", s, got, want)
		}
	}
}
