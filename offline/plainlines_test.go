package offline_test

import (
	"strings"
	"testing"
)

// TestPlainLines asks a text file whose lines each say something of their own.
func TestPlainLines(t *testing.T) {
	guide := page("boiler", "Boiler", "QUICK GUIDE\n\n1. SWITCHING ON\nTurn the main switch to I. Wait for the display.\n\n"+
		"2. FAULT CODES\nF.22  Water pressure too low. Refill with the filling tap.\nF.28  No ignition. Press RESET for 3 seconds.\n\n"+
		"3. MAINTENANCE\nHave the boiler serviced once a year, and the filter of its\nreturn pipe cleaned every 6 months.\n")
	guide.Source = "boiler.txt"
	for question, want := range map[string]string{
		"What does F.28 mean?":                 "F.28 No ignition. Press RESET for 3 seconds. [Source 1]",
		"How do I switch the boiler on?":       "Turn the main switch to I.",
		"How often must the filter be cleaned": "Have the boiler serviced once a year, and the filter of its return pipe cleaned every 6 months. [Source 1]",
	} {
		got := answer(t, library{guide}, task(question, 0.8, guide))
		if !strings.Contains(got.Text, want) || strings.Contains(got.Text, "MAINTENANCE") || strings.Contains(got.Text, "SWITCHING") {
			t.Errorf("%s: %q, want %q and no titles", question, got.Text, want)
		}
	}
}
