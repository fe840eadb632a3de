package model

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/state"
)

// Quoting writes answers with a model and quotes passages if the model fails or declines.
type Quoting struct {
	Model  *Answerer
	Quotes nodes.Answerer // answers without a model
	Grader nodes.Grader   // grades without a model
	Stats  Stats
}

var _ nodes.StreamAnswerer = Quoting{}

// Answer implements nodes.Answerer.
func (a Quoting) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	return a.AnswerStream(ctx, t, func(nodes.Token) {})
}

// AnswerStream implements nodes.StreamAnswerer. Small talk is answered without a model. The grade of the
// node check_and_refine does not keep the model from answering: it was given on the first
// characters of three chunks, and the model reads all sources and may decline. A model that
// cannot decline is not asked if the grade of all sources is below [unlikely].
func (a Quoting) AnswerStream(ctx context.Context, t state.Task, token func(nodes.Token)) (state.Answer, error) {
	if t.Route != state.RouteSearch || len(t.Sources) == 0 {
		return a.Quotes.Answer(ctx, t)
	}
	if a.Model.noRefusals {
		grade, err := a.grade(ctx, t)
		if err != nil {
			return state.Answer{}, err
		}
		if grade.Score < unlikely {
			graph.Note(ctx, "not asked", fmt.Sprintf("%s: the grade without a model is below %.2f", a.Model.chat.Model(), unlikely))
			return a.quote(ctx, t)
		}
	}
	d := &draft{token: token, unchecked: !a.Model.noRefusals}
	answer, by, err := a.Model.stream(ctx, t, d.begin(t), d.fall(t))
	for fewer := t; errors.Is(err, llm.ErrContextLength) && len(fewer.Sources) > 1; {
		fewer.Sources = fewer.Sources[:len(fewer.Sources)/2]
		fewer.Messages = fewer.Messages[max(0, len(fewer.Messages)-1):] // the question alone
		graph.Warn(ctx, fmt.Sprintf("The context window of the model %q is too small for all sources and messages, so it answers from the first %d of %d sources. LLM_CONTEXT_TOKENS sets its size.",
			by, len(fewer.Sources), len(t.Sources)))
		answer, by, err = a.Model.stream(ctx, fewer, d.begin(fewer), d.fall(fewer))
	}
	if err == nil && !answer.Abstained {
		return a.withTerms(answer), nil
	}
	d.void()
	if err != nil {
		return orElse(ctx, by, "the answer was written", err, func() (state.Answer, error) { return a.quote(ctx, t) })
	}
	return a.closest(ctx, t, answer)
}

// draft is the part of an answer that was streamed.
type draft struct {
	token     func(nodes.Token)
	unchecked bool // pieces are passed on before a source supports them
	told      bool // some pieces were
}

func (d *draft) begin(t state.Task) func() func(string) {
	return func() func(string) {
		tell := func(piece string) {
			d.told = true
			d.token(nodes.Token{Text: piece})
		}
		if d.unchecked {
			return tell
		}
		return supported(t, tell)
	}
}

// fall lets the next model begin again, except for a prompt that can be shortened.
func (d *draft) fall(t state.Task) func(llm.Fall) bool {
	return func(f llm.Fall) bool {
		if errors.Is(f.Err, llm.ErrContextLength) && len(t.Sources) > 1 {
			return false
		}
		d.void()
		return true
	}
}

func (d *draft) void() {
	if d.told {
		d.token(nodes.Token{Void: true})
	}
	d.told = false
}

// supported passes an answer on once a source supports a statement of it. Until then it may
// be withdrawn: see [nodes.Generate]. The whole is checked each time it has grown by half, so that the cost
// grows as its length does.
func supported(t state.Task, tell func(string)) func(string) {
	var said strings.Builder
	passing, next := false, 0
	return func(piece string) {
		if passing {
			tell(piece)
			return
		}
		said.WriteString(piece)
		if said.Len() < next || !strings.ContainsAny(piece, ".!?。\n") { // no sentence ends
			return
		}
		next = said.Len() + said.Len()/2
		report := cite.Check(said.String(), t.Sources, cite.Options{Language: t.Language})
		if passing = report.Grounded > 0; passing {
			tell(said.String())
		}
	}
}

// unlikely is the grade below which a model that cannot decline is not asked. Of the half
// "look" of eval/field, 2 of 58 questions whose sources hold the answer are below, and 12 of 21
// that the documents do not answer.
const unlikely = 0.08

// grade grades all sources of a task. The node check_and_refine may not have graded them yet:
// the model can begin before.
func (a Quoting) grade(ctx context.Context, t state.Task) (state.Grade, error) {
	grade, err := a.Grader.Grade(ctx, t.Queries, t.Sources)
	grade.Refined = nil
	return grade, err
}

// quote answers without a model. It also sets Answer.Grade.
func (a Quoting) quote(ctx context.Context, t state.Task) (state.Answer, error) {
	grade, err := a.grade(ctx, t)
	if err != nil {
		return state.Answer{}, err
	}
	t.Grade = grade
	answer, err := a.Quotes.Answer(ctx, t)
	answer.Grade = &grade
	return answer, err
}

// Written makes an answer to t of a text that the model of the given name has written.
func (a Quoting) Written(ctx context.Context, said, model string, t state.Task) (state.Answer, error) {
	answer := Written(said, model, t)
	if answer.Abstained && len(t.Sources) > 0 {
		return a.closest(ctx, t, answer)
	}
	return a.withTerms(answer), nil
}

// withTerms adds the words of a model's answer to which later questions may refer.
func (a Quoting) withTerms(answer state.Answer) state.Answer {
	answer.Terms = offline.Terms(a.Stats, cite.Strip(answer.Text))
	return answer
}

// closest adds to a model's refusal the closest passage, which is
// found without a model.
func (a Quoting) closest(ctx context.Context, t state.Task, refusal state.Answer) (state.Answer, error) {
	t.Grade.Score = 0 // the model has looked: the answer is not there
	nearest, err := a.Quotes.Answer(ctx, t)
	if err != nil {
		return state.Answer{}, err
	}
	rest := strings.Replace(nearest.Text, prompts.Say(prompts.NotFound, t.Language), "", 1)
	refusal.Text += "\n\n" + strings.TrimSpace(rest)
	refusal.Citations, refusal.Order = nearest.Citations, nearest.Order
	graph.Note(ctx, "closest passage", "chosen "+offline.Name)
	return refusal, nil
}
