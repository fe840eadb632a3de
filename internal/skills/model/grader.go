package model

import (
	"context"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// GradedRunes is how much of a passage the model is shown.
const GradedRunes = 80

// gradedChunks is how many passages it is shown.
const gradedChunks = 3

// Grader lets a model say how well passages fit the question. It sees the title
// and the first [GradedRunes] characters of each.
type Grader struct {
	Custom    prompts.Set  // custom prompts
	Offline   nodes.Grader // grades if the model fails; nil: the error is returned
	Threshold float64      // a worse grade without a refined query gets that of Offline
	chat      llm.Chat
}

// NewGrader returns a grader that asks chat.
func NewGrader(chat llm.Chat) *Grader { return &Grader{chat: chat} }

// Grade implements the grader of package nodes. queries are what was searched
// for, the raw turn first; the heaviest is what the model is asked about, for a
// follow-up says little by itself.
func (g *Grader) Grade(ctx context.Context, queries []state.Query, best []state.Source) (state.Grade, error) {
	chat := track(g.chat)
	grade, err := g.grade(ctx, chat, queries, best)
	if g.Offline == nil || err == nil && (grade.Score >= g.Threshold || grade.Refined != nil) {
		return grade, err
	}
	if err != nil {
		return orElse(ctx, chat.Model(), err, func() (state.Grade, error) { return g.Offline.Grade(ctx, queries, best) })
	}
	plain, err := g.Offline.Grade(ctx, queries, best)
	grade.Refined = plain.Refined
	return grade, err
}

func (g *Grader) grade(ctx context.Context, chat llm.Chat, queries []state.Query, best []state.Source) (state.Grade, error) {
	var q state.Query
	for i, c := range queries {
		if i == 0 || c.Weight > q.Weight {
			q = c
		}
	}
	p := prompts.CheckAndRefine{Question: q.Text, Boundary: prompts.NewBoundary(), Custom: g.Custom}
	for i, c := range best[:min(len(best), gradedChunks)] {
		p.Passages = append(p.Passages, prompts.Passage{N: i + 1, Title: oneLine(c.Title), Text: beginning(c.Text)})
	}
	v, err := askForm(ctx, chat, p.Render(text.Language(q.Text)), p.Boundary, gradeTokens,
		llm.Schema{Name: "verdict", JSON: p.Schema()}, prompts.ParseCheckAndRefine)
	if err != nil {
		return state.Grade{}, err
	}
	grade := state.Grade{Score: v.Score, By: chat.Model(), Why: "the model's verdict"}
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
