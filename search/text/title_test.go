package text_test

import (
	"slices"
	"testing"

	"example.com/ragflow/search/text"
)

func TestTitle(t *testing.T) {
	for _, c := range []struct {
		line, next string
		level      int
		title      string
	}{
		{"QUICK GUIDE", "", 1, "QUICK GUIDE"},
		{"2. FAULT CODES", "F.22  Pressure too low.", 2, "FAULT CODES"},
		{"2.1 Faults of the pump", "When the pump does not run, call for help.", 3, "Faults of the pump"},
		{"ZASADY ŻYCIA", "Tekst.", 1, "ZASADY ŻYCIA"},
		{"1. Buy milk", "2. Call Bob", 0, ""},
		{"1. Buy milk", "", 0, ""},
		{"1. Open the tap", "and wait until the water is warm enough to drink.", 0, ""},
		{"1. Open it.", "Then wait until the water is warm.", 0, ""},
		{"TOTAL 30.00", "VAT 6.90", 0, ""},
		{"TOTAL: ALL", "", 0, ""},
		{"THIS TEXT IS ALL", "IN CAPITALS", 0, ""},
		{"USA", "", 0, ""},
		{"A-1 B-2 3 4 5 6", "", 0, ""},
		{"Normal text", "goes on", 0, ""},
		{"", "", 0, ""},
	} {
		if level, title := text.Title(c.line, c.next); level != c.level || title != c.title {
			t.Errorf("%q, %q: %d %q, want %d %q", c.line, c.next, level, title, c.level, c.title)
		}
	}
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct {
		s    string
		want []string
	}{
		"wrapped": {"This line has no room left for the next word of its\nsentence, and this one has. The next\nLine begins with a capital.\n", []string{
			"This line has no room left for the next word of its\nsentence, and this one has. The next", "Line begins with a capital.",
		}},
		"a list":        {"milk\nbread\n eggs \n\ncheese", []string{"milk", "bread", "eggs", "cheese"}},
		"codes":         {"F.22  Pressure too low. Refill to 1.5 bar with the tap.\nF.28  No ignition.\n", []string{"F.22  Pressure too low. Refill to 1.5 bar with the tap.", "F.28  No ignition."}},
		"never wrapped": {"A paragraph on one line that goes on and on, wider than any text that is wrapped would ever be, because its writer let the editor do that.\nthe next\n", []string{"A paragraph on one line that goes on and on, wider than any text that is wrapped would ever be, because its writer let the editor do that.", "the next"}},
		"nothing":       {" \n\t\n", nil},
	} {
		var got []string
		for _, span := range text.Lines(c.s) {
			got = append(got, c.s[span.Start:span.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
