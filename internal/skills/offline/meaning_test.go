package offline_test

import (
	"context"
	"strconv"
	"testing"

	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/state"
)

// judging is a reader to which the first passage is nearest.
type judging struct{ logit float64 }

func (judging) Near(_ context.Context, _ string, passages []state.Source) ([]float64, error) {
	out := make([]float64, len(passages))
	out[0] = 0.02
	return out, nil
}

func (j judging) Judge(context.Context, string, state.Source) (float64, error) { return j.logit, nil }

// TestGradeAcrossLanguages: a question in another language than the documents is graded by meaning, others by words.
func TestGradeAcrossLanguages(t *testing.T) {
	var l library
	for i, s := range []string{"The volume keeps the data of a container when it is removed.", "The registry holds images that you can pull.", "A network connects the containers with each other.", "The logs are written by the driver that you choose."} {
		l = append(l, page(strconv.Itoa(i), s))
	}
	var best []state.Source
	for _, c := range l {
		best = append(best, state.Source{Chunk: c, Score: 1})
	}
	for _, tt := range []struct {
		name, question string
		logit          float64
		want           bool
	}{
		{"it answers", "Gdzie są zapisywane moje dane, kiedy to zostanie usunięte?", -3, true},
		{"it does not", "Gdzie są zapisywane moje dane, kiedy to zostanie usunięte?", -9, false},
		{"in the language of the documents", "Which parliament was elected in the spring of that year?", 5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			grader := offline.New(l, 0).Grader
			grader.Reader = judging{tt.logit}
			grade, err := grader.Grade(t.Context(), []state.Query{{Text: tt.question, Weight: 1}}, best)
			if err != nil || grade.Score >= offline.DefaultThreshold != tt.want {
				t.Errorf("grade %.2f (%s), %v", grade.Score, grade.Why, err)
			}
		})
	}
}
