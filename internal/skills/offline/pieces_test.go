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
