package text_test

import (
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
