package offline_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestBestStatementAhead: where one of many passages has a sentence that answers
// better than those of the others, that speaks for an answer, and where all hold about
// as little of the question, against it.
func TestBestStatementAhead(t *testing.T) {
	at := slices.Index(offline.Features(), "best statement ahead")
	var d library
	for i := range 9 {
		d = append(d, page(fmt.Sprintf("a%d", i), "", fmt.Sprintf("Gardens of town %d. A gardener waters the roses of the park every morning.", i)))
	}
	question := state.Query{Text: "When was the greenhouse of the park opened?", Weight: 1}
	absent := offline.NewGrader(d).Measure(question, d)[at]
	d = append(library{page("b", "", "Gardens of town 9. The greenhouse of the park was opened in 1893.")}, d...)
	if got := offline.NewGrader(d).Measure(question, d)[at]; got < absent+0.3 {
		t.Errorf("ahead by %.2f with a sentence that answers, %.2f without", got, absent)
	}
}

// TestStatementInOtherWords: a sentence that says in other words what is asked, or a
// name as it is spelled and not as the question does, stands out as well.
func TestStatementInOtherWords(t *testing.T) {
	at := slices.Index(offline.Features(), "best statement ahead")
	for _, tt := range []struct{ question, says, doesNot string }{
		{"When did the painter of the town hall die?", "The painter perished in 1893.", "The painter travelled in 1893."},
		{"Who paid Rodriguez for the town hall?", "Rodrigues was paid by Ann Hill.", "Fernandes was paid by Ann Hill."},
	} {
		ahead := func(sentence string) float64 {
			d := library{page("b", "", sentence)}
			for i := range 9 {
				d = append(d, page(fmt.Sprintf("a%d", i), "", fmt.Sprintf("The painter of house %d liked red walls.", i)))
			}
			return offline.NewGrader(d).Measure(state.Query{Text: tt.question, Weight: 1}, d)[at]
		}
		if with, without := ahead(tt.says), ahead(tt.doesNot); with < without+0.1 {
			t.Errorf("%q: ahead by %.2f with %q, by %.2f with %q", tt.question, with, tt.says, without, tt.doesNot)
		}
	}
}

// TestCopiesPass: that every passage found says the same does not speak against an
// answer which one sentence of theirs holds.
func TestCopiesPass(t *testing.T) {
	var d library
	for i := range 10 {
		d = append(d, page(fmt.Sprintf("v%d", i), "", "Basil in pots is watered twice a week."))
	}
	for i := range 50 {
		d = append(d, page(fmt.Sprintf("o%d", i), "", fmt.Sprintf("Note %d about tools, soil and seeds.", i)))
	}
	g, err := offline.NewGrader(d).Grade(t.Context(), ask("Is basil in pots watered twice a week?"), d[:10])
	if err != nil || g.Score < offline.DefaultThreshold {
		t.Errorf("ten copies of the answer: grade %.2f (%s), %v; want at least %.2f", g.Score, g.Why, err, offline.DefaultThreshold)
	}
}

// TestOtherWords: what a passage says in other words, or what a question misspells,
// speaks for an answer; a word for another thing does not.
func TestOtherWords(t *testing.T) {
	at := slices.Index(offline.Features(), "in other words")
	for _, tt := range []struct {
		question, passage string
		says              bool
	}{
		{"Why did the gardener quit his job?", "The gardener gave up his profession after the flood.", true},
		{"Who planted the rododendron?", "Ann planted the rhododendron in May.", true},
		{"Ông ấy qua đời ở đâu?", "Ông mất tại Hà Nội.", true},
		{"Why did the gardener paint the fence?", "The gardener gave up his profession after the flood.", false},
	} {
		d := library{page("a", "", tt.passage)}
		if got := offline.NewGrader(d).Measure(state.Query{Text: tt.question, Weight: 1}, d)[at]; got > 0 != tt.says {
			t.Errorf("%q, %q: %.2f in other words, want some: %v", tt.question, tt.passage, got, tt.says)
		}
	}
}
