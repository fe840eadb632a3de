package text_test

import (
	"testing"

	"example.com/ragflow/internal/text"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	sources := []string{
		"minutes-2026-03.md", "minutes-2026-04.md", "contract.pdf", "offers/nordwind-2026.pdf", "VertragMueller.docx", "umowa-nordwind.odt",
		"hop-dong-thue-nha.docx", "boats.md", "suedwerk.txt", "a/prices-year.md", "b/prices-year.md",
	}
	var names []text.FileName
	for _, s := range sources {
		names = append(names, text.NewFileName(s))
	}
	for _, c := range []struct{ question, want string }{
		{"summarise minutes-2026-03", "minutes-2026-03.md"},
		{"What does contract.pdf say?", "contract.pdf"},
		{"What does the contract say?", ""},
		{"What does the Nordwind offer of 2026 say about delivery?", "offers/nordwind-2026.pdf"},
		{"What does the Nordwind offer say about delivery?", "offers/nordwind-2026.pdf"},
		{"What does the Nordwind offer of 2025 say about delivery?", ""},
		{"What did Nordwind say about boats?", ""},
		{"What is in the invoice from Suedwerk?", "suedwerk.txt"},
		{"How much was discussed in the minutes?", ""},
		{"Was steht im Vertrag mit Müller zur Miete?", "VertragMueller.docx"},
		{"Co mówi umowa z Nordwindem?", "umowa-nordwind.odt"},
		{"hợp đồng thuê nhà nói gì?", "hop-dong-thue-nha.docx"},
		{"Where are the boats?", ""},
		{"minutes-2026-034", ""},
		{"prices of the year", ""}, // two files
		{"", ""},
	} {
		at := text.NewAsked(c.question).Named(names, func(int) bool { return true })
		got := ""
		if at >= 0 {
			got = sources[at]
		}
		if got != c.want {
			t.Errorf("%q names %q, want %q", c.question, got, c.want)
		}
	}
}
