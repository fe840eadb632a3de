package offline

import (
	"testing"

	"example.com/ragflow/state"
)

func TestDateOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, text string
		ordinal      int
		want         string
		valid        bool
	}{
		{"a.md", "Valid from January 2026.", 0, "2026-01", true},
		{"2019/a.md", "Price list of 2024. Gültig ab 1.3.2025.", 3, "2025-03-01", true},
		{"a.md", "Stand: 31. März 2025", 0, "2025-03-31", true},
		{"a.md", "Obowiązuje od 5 stycznia 2026 r.", 0, "2026-01-05", true},
		{"a.md", "Có hiệu lực từ ngày 15 tháng 2 năm 2026", 0, "2026-02-15", true},
		{"a.md", "Minutes of May 3rd, 2024\n\nNext meeting: 2024-06-01", 0, "2024-05-03", false},
		{"2023-07-01_notes.md", "The roof, 4.5.2020", 2, "2023-07-01", false},
		{"2026/prices.md", "Prices", 1, "2026", false},
		{"a.md", "On 31/12/2025 and 45.13.2025", 0, "2025-12-31", false},
		{"a.md", "Marble 12345, room 1999a", 1, "0", false},
		{"a.md", "1\n2\n3\n4\n5\nin 2024", 0, "0", false},
		{"a.md", "In May 2024 the board met in the boathouse again.", 0, "0", false},
		{"", "", 0, "0", false},
	} {
		d := dateOf(state.Chunk{Source: c.source, Text: c.text, Ordinal: c.ordinal})
		if d.String() != c.want || d.valid != c.valid {
			t.Errorf("%q in %q: %v, valid %v, want %s", c.text, c.source, d, d.valid, c.want)
		}
	}
}

// FuzzDateOf: no text makes it panic, and a date is one of a calendar.
func FuzzDateOf(f *testing.F) {
	f.Add("valid from January 31, 2026", "2026/a.md")
	f.Add("ngày 45 tháng 99 năm 2026", "")
	f.Fuzz(func(t *testing.T, text, source string) {
		if d := dateOf(state.Chunk{Source: source, Text: text}); d.month > 12 || d.day > 31 || d.year != 0 && (d.year < 1900 || d.year > 2099) {
			t.Errorf("%+v", d)
		}
	})
}
