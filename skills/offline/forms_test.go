package offline_test

import (
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestForms tells words apart that have one stem, and knows irregular forms of a word.
func TestForms(t *testing.T) {
	car := page("car", "Car", "The car was bought in May 2019 from a dealer.\n\nIts engine was found to be leaking, and an engineer repaired it.")
	school := page("school", "Universe", "The universe is large.\n\nOrganic matter was found on a comet of the universe.")
	for _, tt := range []struct {
		name, question string
		chunk          state.Chunk
		passes         bool
	}{
		{"found is not founded", "Who founded the car?", car, false},
		{"a universe is no university", "How large is the university?", school, false},
		{"nor is organic organized", "Where was the comet organized?", school, false},
		{"founded and founding are one", "Who was founding the club?", page("club", "Club", "The club was founded by Karl Riedl in 1962."), true},
		{"buy and bought are one", "When did they buy the car?", car, true},
		{"find and found are one", "Where did they find organic matter?", school, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library{tt.chunk, page("other", "Other", "Bread is baked at 250 degrees for forty minutes.")}
			grade, err := offline.NewGrader(l).Grade(t.Context(), ask(tt.question), []state.Chunk{tt.chunk})
			if err != nil {
				t.Fatal(err)
			}
			got := answer(t, l, task(tt.question, grade.Score, tt.chunk))
			if got.Abstained == tt.passes {
				t.Errorf("grade %.2f, answer %q", grade.Score, got.Text)
			}
		})
	}
	t.Run("what is said everywhere tells of nobody", func(t *testing.T) {
		l := library{}
		for range 60 {
			l = append(l, page("manual", "Box", "You create a box with one command."))
		}
		if got := answer(t, l, task("Who founded Box?", 0.9, l[0])); !got.Abstained {
			t.Errorf("answers %q", got.Text)
		}
	})
}
