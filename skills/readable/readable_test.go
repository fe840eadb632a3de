package readable_test

import (
	"strings"
	"testing"

	"example.com/ragflow/skills/readable"
)

// TestLineIsLinear counts allocations, which grow with the matches that regular
// expressions return: four times the inline code may take about four times the work.
func TestLineIsLinear(t *testing.T) {
	for _, pattern := range []string{"`a` ", "` ``", "`` ` ", "[`a`](b) "} {
		work := func(n int) float64 {
			s := strings.Repeat(pattern, n)
			return testing.AllocsPerRun(1, func() { readable.Line(s) })
		}
		if few, many := work(100), work(400); many > 6*few {
			t.Errorf("Line of 100 times %q allocates %v times, of 400 times %v", pattern, few, many)
		}
	}
}

func TestLineKeepsInlineCode(t *testing.T) {
	for in, want := range map[string]string{
		"a `b` and ``c ` d`` e":             "a `b` and ``c ` d`` e",
		"[`--mount`](x.md) is `new`":        "`--mount` is `new`",
		"`<tag>` and <b>bold</b> `[a](b)`.": "`<tag>` and bold `[a](b)`.",
	} {
		if got := readable.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}
