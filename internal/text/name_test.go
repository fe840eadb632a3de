package text_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/text"
)

func TestNameWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"nordwind-2026":           "nordwind 2026",
		"MietvertragNordwind2026": "Mietvertrag Nordwind 2026",
		"2026_03.minutes v2 Q3":   "2026 03 minutes v2 Q3",
		"2026minutes":             "2026 minutes",
		"Gebühren":                "Gebühren Gebuehren",
		"gebuehren":               "gebuehren gebühren",
		"hợp đồng":                "hợp đồng",
		"...":                     "",
		"":                        "",
	} {
		if got := strings.Join(text.NameWords(name), " "); got != want {
			t.Errorf("NameWords(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestTitled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, source, want string }{
		{"Price list", "offers/nordwind-2026.pdf", "Price list\nnordwind-2026 nordwind 2026"},
		{"nordwind-2026", "nordwind-2026.md", "nordwind-2026"},
		{"Notes", "a/b/release-1.2", "Notes\nrelease-1.2 release 1 2"},
		{"", ".env", "\n.env env"},
	} {
		if got := text.Titled(c.title, c.source); got != c.want {
			t.Errorf("Titled(%q, %q) = %q, want %q", c.title, c.source, got, c.want)
		}
	}
}
