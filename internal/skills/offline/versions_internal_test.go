package offline

import (
	"regexp"
	"testing"

	"example.com/ragflow/state"
)

func TestDateOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, text string
		ordinal      int
		want         string
	}{
		{"a.md", "Valid from January 2026.", 0, "2026-01"},
		{"2019/a.md", "Price list of 2024. Gültig ab 1.3.2025.", 3, "2025-03-01"},
		{"a.md", "Stand: 31. März 2025", 0, "2025-03-31"},
		{"a.md", "Obowiązuje od 5 stycznia 2026 r.", 0, "2026-01-05"},
		{"a.md", "Có hiệu lực từ ngày 15 tháng 2 năm 2026", 0, "2026-02-15"},
		{"a.md", "Minutes of May 3rd, 2024\n\nNext meeting: 2024-06-01", 0, "2024-05-03"},
		{"2023-07-01_notes.md", "The roof, 4.5.2020", 2, "2023-07-01"},
		{"2026/prices.md", "Prices", 1, "2026"},
		{"a.md", "On 31/12/2025 and 45.13.2025", 0, "2025-12-31"},
		{"a.md", "Marble 12345, room 1999a", 1, ""},
		{"a.md", "1\n2\n3\n4\n5\nin 2024", 0, ""},
		{"a.md", "In May 2024 the board met in the boathouse again.", 0, ""},
		{"", "", 0, ""},
	} {
		if got := dateOf(state.Chunk{Source: c.source, Text: c.text, Ordinal: c.ordinal}); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.text, c.source, got, c.want)
		}
	}
}

var isDate = regexp.MustCompile(`^(?:(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?$`)

// FuzzDateOf: no text makes it panic, and a date is one of a calendar.
func FuzzDateOf(f *testing.F) {
	f.Add("valid from January 31, 2026", "2026/a.md")
	f.Add("ngày 45 tháng 99 năm 2026", "")
	f.Fuzz(func(t *testing.T, text, source string) {
		if d := dateOf(state.Chunk{Source: source, Text: text}); !isDate.MatchString(d) {
			t.Errorf("%+v", d)
		}
	})
}
