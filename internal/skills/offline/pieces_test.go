package offline_test

import (
	"strings"
	"testing"
)

// TestLikeliestSentenceInWeakSource checks that something is shown if the likeliest sentence is in a source that the
// search has found too weak.
func TestLikeliestSentenceInWeakSource(t *testing.T) {
	l := library{page("a", "Which ferry leaves? All of them do. Pier four is the one of Hel."), page("b", "The ferry to Hel leaves from pier nine.")}
	question := task("From which pier does the ferry to Hel leave?", 0.9, l...)
	question.Sources[1].Score = 0.01
	if got := answer(t, l, question).Text; !strings.Contains(got, "Pier four") {
		t.Errorf("shown is:\n%s", got)
	}
}

// TestNumbersInColumnNames checks that a row that has the numbers of a question only in the names of its columns does
// not precede the answer.
func TestNumbersInColumnNames(t *testing.T) {
	l := library{
		page("a", "Item: Cork; from 1: 5.60; from 20: 5.20\n\nItem: Twine; from 1: 4.10; from 20: 3.90"),
		page("b", "A wagon of 20 feet with 1 barrel: the freight is 410 pounds."),
	}
	if got := answer(t, l, task("freight of 1 barrel on a wagon of 20 feet", 0.9, l...)).Text; !strings.Contains(got, "410 pounds") {
		t.Errorf("shown is:\n%s", got)
	}
}

// TestContactWithTheNumber checks that the source with a number of the person is shown before one that only names the
// person, whatever the grade.
func TestContactWithTheNumber(t *testing.T) {
	l := library{
		page("a", "Minutes of the board.\n\nMobile numbers were exchanged. Minutes taken by: Ann Lis"),
		page("b", "Name: Ann Lis; Organisation: Boats; Phone (work): +48 22 555 01 21; Phone (mobile): +48 600 555 012\n\nName: Bob Ham; Phone (mobile): +48 600 555 013"),
	}
	for _, grade := range []float64{0.9, 0.6} {
		got := answer(t, l, task("mobile number of ann lis", grade, l...))
		if len(got.Order) == 0 || got.Order[0] != 2 || got.Grade != nil || !strings.Contains(got.Text, "+48 600 555 012") {
			t.Errorf("grade %v: %v, %+v:\n%s", grade, got.Order, got.Grade, got.Text)
		}
	}
}

// TestNoNumberOfThePerson checks that a question for a mobile number is not answered without one.
func TestNoNumberOfThePerson(t *testing.T) {
	l := library{page("b", "Name: Ann Lis; Organisation: Boats; Phone (work): +48 22 555 01 21\n\nName: Bob Ham; Phone (mobile): +48 600 555 013")}
	if got := answer(t, l, task("mobile number of ann lis", 0.9, l...)); !got.Abstained || !strings.Contains(got.Text, "+48 22 555 01 21") {
		t.Errorf("declined %v:\n%s", got.Abstained, got.Text)
	}
}

// TestSentenceWithTheDate checks that a sentence with a date answers in place of a likelier one without.
func TestSentenceWithTheDate(t *testing.T) {
	l := library{page("a", "The bill of the harbour is always paid."), page("b", "The new bill of the harbour, to be paid on or before 9 July, was sent to the keeper.")}
	for _, grade := range []float64{0.9, 0.6} {
		got := answer(t, l, task("When is the bill of the harbour paid?", grade, l...))
		if got.Grade != nil || got.Order[0] != 2 || !strings.Contains(got.Text, "9 July") {
			t.Errorf("grade %v: %v, %+v:\n%s", grade, got.Order, got.Grade, got.Text)
		}
	}
}

// TestLanguageOfTheDocuments checks that a question of nouns is answered in the language of its documents.
func TestLanguageOfTheDocuments(t *testing.T) {
	l := library{page("a", "Die Kosten der Fähre nach Hel: ein Hinweg kostet 12 Euro, und Kinder fahren ohne Karte.")}
	for question, want := range map[string]string{"Fähre Hel": "Das beantwortet es", "ferry Hel": "Das beantwortet es", "the ferry to Hel": "This answers it"} {
		if got := answer(t, l, task(question, 0.9, l...)).Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", question, got)
		}
	}
}

// TestNumberAndUnitTogether checks that "2kg" finds the row of "2 kg".
func TestNumberAndUnitTogether(t *testing.T) {
	l := library{page("a", "Item: Cork; Size: 500 g; from 1: 5.60; from 9: 5.20\n\nItem: Cork; Size: 2 kg; from 1: 18.10; from 9: 17.90\n\nItem: Twine; Size: 2 m; from 1: 4.10; from 9: 3.90")}
	if got := answer(t, l, task("what is the price of cork 2kg", 0.9, l...)).Text; !strings.Contains(got, "Size: 2 kg") || strings.Contains(got, "**Item: Cork; Size: 500 g") {
		t.Errorf("shown is:\n%s", got)
	}
}

// TestNumberOfTheSection checks that a numbered clause is shown below the heading with the number of its section.
func TestNumberOfTheSection(t *testing.T) {
	l := library{page("a", "## § 7 Harbour fee\n\n1. The fee is paid in May.\n2. It is paid by the keeper.\n\n## § 8 Ice\n\n1. In winter the boats leave the water.\n2. "+strings.Repeat("long ", 150)+"\n3. The rudder is kept by the keeper.\n\n## Notes\n\n1. The mast is red.")}
	for question, want := range map[string]string{
		"In which paragraph does it say when the fee is paid?": ":\n\n§ 7 Harbour fee\n\n1. **The fee is paid in May.**\n",
		"Who keeps the rudder?":                                ":\n\n§ 8 Ice\n\n3. The rudder is kept by the keeper. [",
		"What colour is the mast?":                             ":\n\n1. The mast is red. [",
	} {
		if got := answer(t, l, task(question, 0.9, l...)).Text; !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", question, got)
		}
	}
}
