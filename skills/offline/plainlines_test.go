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
		if !strings.Contains(got.Text, want) || strings.Contains(got.Text, "MAINTENANCE") || strings.Contains(got.Text, "SWITCHING") || strings.Contains(question, "F.28") && strings.Contains(got.Text, "F.22") {
			t.Errorf("%s: %q, want %q and no titles", question, got.Text, want)
		}
	}
}

// TestAnnounced leaves out what only tells that something will be told.
func TestAnnounced(t *testing.T) {
	p := page("tests", "Tests", "Now that you know how to write a test, let’s look at how to run tests with `cargo test`.\n\nTo write a test, put `#[test]` above a function.\n\nWe’ll talk about how to write a test of a whole program later.\n")
	got := answer(t, library{p}, task("How do I write a test?", 0.8, p))
	if !strings.Contains(got.Text, "above a function") || strings.Contains(got.Text, "look at") || strings.Contains(got.Text, "talk about") {
		t.Errorf("%q", got.Text)
	}
}
