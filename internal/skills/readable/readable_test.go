package readable_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/skills/readable"
)

// TestLineIsLinear counts allocations, which grow with the matches of regular expressions: four times the
// inline code may take about four times the work.
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

// TestLineKeepsWhatIsSeen checks text that looks like markup, and markup itself.
func TestLineKeepsWhatIsSeen(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"> quoted\n> text", "quoted text"},
		{"> 40 °C", `\> 40 °C`},
		{"> -5 °C", `\> -5 °C`},
		{"as in [1][2], [RFC2119][two]", "as in [1][2], RFC2119"},
		{"a[i][j] = 3", "a[i][j] = 3"},
		{"[`code`][x] and [text][]", "`code` and text"},
		{"a note[^1] and [^a-z]", "a note and [^a-z]"},
		{"[^1]: its text", "its text"},
		{"{{ .Values.port }} is {.5} or {:a => 1}", "{{ .Values.port }} is {.5} or {:a => 1}"},
		{"Title {#id} {.big .red} {: target=\"_blank\"}{:toc}", "Title"},
		{"3 <!-- hidden --> apples", "3 apples"},
		{"4 <!-- 5", `4 <!-- 5`},
	} {
		if got := readable.Line(tt.in); got != tt.want {
			t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if lines, _ := readable.Code("> ```\n> 5 apples\n>   6\n> ```"); strings.Join(lines, "|") != "5 apples|  6" {
		t.Errorf("a quoted block of code reads %q", lines)
	}
}
