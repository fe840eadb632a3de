package load

import (
	"reflect"
	"strings"
	"testing"
)

// TestParagraph compares the short way with the long one.
func TestParagraph(t *testing.T) {
	short := 0
	for _, s := range []string{
		"", " ", "\n", "\n\n", "a", "One paragraph.", "Ends so:", " indented", "\tcode", "behind \t\r\n\n ", "\nin front", "two\nlines", "two\n\nparagraphs",
		"---", "***\n", "{{< note >}}", "{{< /note >}}\n", "<!-- said -->", "| a | b |", "# no heading", "\u00a0", "ế", "日本語", "\xff\xfe", "a\v", "\v\n",
		strings.Repeat("word ", 300), strings.Repeat("word ", 410), strings.Repeat("x", 2047), strings.Repeat("x", 2048), strings.Repeat("x", 2049), strings.Repeat("-", 3000),
	} {
		for from := range min(len(s), 2) {
			p := packer{s: s, size: 512, least: 96, deepest: 3}
			got, ok := p.paragraph(from)
			if !ok {
				continue
			}
			short++
			if want := p.pack(plainBlocks(s, from)); !reflect.DeepEqual(got, want) {
				t.Errorf("%q from %d: %+v, want %+v", s, from, got, want)
			}
		}
	}
	if short < 20 {
		t.Errorf("%d texts took the short way", short)
	}
}
