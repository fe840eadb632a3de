package text_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     int
	}{
		{"empty", "", 0},
		{"words", "hello world", 2},
		{"special tokens are text", "<|endoftext|>", 7},
		{"invalid bytes", "a\xffb", text.Count("a\uFFFDb")},
	} {
		if got := text.Count(tt.in); got != tt.want {
			t.Errorf("%s: Count(%q) = %d, want %d", tt.name, tt.in, got, tt.want)
		}
	}
}

// A long text is counted in pieces; pieces must add up.
func TestCountLong(t *testing.T) {
	s := strings.Repeat("the quick brown fox. ", 4000) // 84 kB, 5 tokens each
	if got, want := text.Count(s), 5*4000+1; got != want {
		t.Errorf("Count = %d, want %d", got, want)
	}
	if got := text.Count(strings.Repeat("x", 1<<19)); got < 1<<16 || got > 1<<18 {
		t.Errorf("one word of half a megabyte: Count = %d", got)
	}
}

func TestCountConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := text.Count("hello world"); got != 2 {
				t.Errorf("Count = %d, want 2", got)
			}
		})
	}
	wg.Wait()
}

func TestTrim(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		n        int
		want     string
	}{
		{"fits", "hello world", 2, "hello world"},
		{"cut", "hello brave new world", 2, "hello brave"},
		{"none", "hello", 0, ""},
		{"negative", "hello", -1, ""},
		{"no half rune", "🐳🐳🐳", 1, ""},
	} {
		if got := text.Trim(tt.in, tt.n); got != tt.want {
			t.Errorf("%s: Trim(%q, %d) = %q, want %q", tt.name, tt.in, tt.n, got, tt.want)
		}
	}
	long := strings.Repeat("the quick brown fox. ", 20_000)
	if got := text.Count(text.Trim(long, 50_000)); got != 50_000 {
		t.Errorf("a long text cut at 50000 tokens has %d", got)
	}
}

func TestEstimate(t *testing.T) {
	var sum, guess float64
	for _, p := range docs(t) {
		if len(p) > 20_000 {
			continue
		}
		sum += float64(text.Count(p))
		guess += float64(text.Estimate(p))
	}
	if off := math.Abs(guess/sum - 1); off > 0.2 {
		t.Errorf("Estimate is off by %.0f%% over the corpus (%.0f for %.0f)", off*100, guess, sum)
	}
}

func FuzzTrim(f *testing.F) {
	f.Add("hello 🐳 world\xff", 3)
	f.Add("việt nam", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n %= 50
		got := text.Trim(s, n)
		if !utf8.ValidString(got) || !strings.HasPrefix(strings.ToValidUTF8(s, "\uFFFD"), got) {
			t.Fatalf("Trim(%q, %d) = %q: not a beginning of it", s, n, got)
		}
		if c := text.Count(got); c > max(n, 0) {
			t.Fatalf("Trim(%q, %d) = %q: %d tokens", s, n, got, c)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	s := strings.Join(docs(b)[:200], "\n")
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		text.Count(s)
	}
}
