package text_test

import (
	"testing"

	"example.com/ragflow/internal/text"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{
			"a price that changed", "Valid from January 2025. A night in the dormitory costs 24 euros. Breakfast costs 7 euros.",
			"Valid from January 2026. A night in the dormitory costs 29 euros. Breakfast costs 8 euros.", true,
		},
		{
			"a version that says more", "A night in the dormitory costs 24 euros. Breakfast costs 7 euros.",
			"A night in the dormitory costs 29 euros. Breakfast costs 8 euros. Guests pay in advance, by card. Children below four stay for nothing.", true,
		},
		{"a copy", "A night costs 24 euros.", "A night  costs 24 euros.", false},
		{"another good", "A night in the dormitory costs 24 euros.", "A loaf of rye bread costs 4 euros.", false},
		{"another good, short", "Breakfast costs 8 euros.", "Dinner costs 12 euros.", false},
		{"another good in one sentence of a form", "The price of one kilo of apples is 3 euros.", "The price of one litre of milk is 2 euros.", false},
		{"nothing", "", "", false},
	} {
		if got := text.Versions(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Team meeting, 14 January 2025", "Team meeting, 18 February 2025", true},
		{"Protokoll vom 3. März 2025", "Protokoll vom 7. April 2025", true},
		{"Your staircase", "Re: Your staircase", true},
		{"Minutes", "Minutes", true},
		{"Team meeting, 14 January 2025", "Board meeting, 18 February 2025", false},
		{"Marketing plan", "Decision plan", false},
		{"2024", "2025", false},
		{"", "", false},
	} {
		if got := text.Series(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
