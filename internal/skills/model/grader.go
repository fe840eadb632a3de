package model

import (
	"context"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// GradedRunes is how much of a passage the model is shown.
const GradedRunes = 80

// gradedChunks is how many passages it is shown.
const gradedChunks = 3

// Grader lets a model say how well passages fit the question. It sees the title
// and the first [GradedRunes] characters of each.
type Grader struct {
	Own  prompts.Set // prompts of one's own
	chat llm.Chat
}

// NewGrader returns a grader that asks chat.
func NewGrader(chat llm.Chat) *Grader { return &Grader{chat: chat} }

// Grade implements the grader of package nodes. queries are what was searched
// for, the raw turn first; the heaviest is what the model is asked about, for a
// follow-up says little by itself.
func (g *Grader) Grade(ctx context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error) {
	var q state.Query
	for i, c := range queries {
		if i == 0 || c.Weight > q.Weight {
			q = c
		}
	}
	p := prompts.CheckAndRefine{Question: q.Text, Boundary: prompts.NewBoundary(), Own: g.Own}
	for i, c := range best[:min(len(best), gradedChunks)] {
		p.Passages = append(p.Passages, prompts.Passage{N: i + 1, Title: oneLine(c.Title), Text: beginning(c.Text)})
	}
	v, err := askForm(ctx, g.chat, p.Render(text.Language(q.Text)), p.Boundary, gradeTokens,
		llm.Schema{Name: "verdict", JSON: p.Schema()}, prompts.ParseCheckAndRefine)
	if err != nil {
		return state.Grade{}, err
	}
	grade := state.Grade{Score: v.Score, By: g.chat.Model(), Why: "the model's verdict"}
	for _, c := range queries {
		if strings.EqualFold(c.Text, v.Refined) {
			return grade, nil // searched for already
		}
	}
	if v.Refined != "" {
		grade.Refined = &state.Query{Text: v.Refined, Boosts: q.Boosts, Weight: 1, Why: "refined by the model", Attempt: 2}
	}
	return grade, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// beginning is the start of a passage on one line.
func beginning(s string) string {
	return text.First(oneLine(s), GradedRunes)
}
