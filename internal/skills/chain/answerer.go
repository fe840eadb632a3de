package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/state"
)

// Answerer writes answers with a model.
type Answerer struct {
	model          *model.Answerer
	next           nodes.Answerer
	quotes         quoter
	name, nextName string
	options        Options
}

var _ nodes.StreamAnswerer = Answerer{}

// Answer implements nodes.Answerer.
func (a Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	return a.AnswerStream(ctx, t, func(nodes.Token) {})
}

// AnswerStream implements nodes.StreamAnswerer. Small talk is answered offline. The grade of the
// node check_and_refine does not keep the model from answering: it was given on the first
// characters of three chunks, and the model reads all sources and may decline. A model that is
// not told how to decline is not asked where a grade of all sources is below [unlikely].
func (a Answerer) AnswerStream(ctx context.Context, t state.Task, token func(nodes.Token)) (state.Answer, error) {
	if t.Route != state.RouteSearch || len(t.Sources) == 0 {
		return a.quotes.answerer.Answer(ctx, t)
	}
	if a.options.Answers.NoRefusals {
		grade, err := a.quotes.grade(ctx, t)
		if err != nil {
			return state.Answer{}, err
		}
		if grade.Score < unlikely {
			graph.Note(ctx, "not asked", fmt.Sprintf("%s: the grade without a model is below %.2f", a.name, unlikely))
			return a.quotes.Answer(ctx, t)
		}
	}
	told := false
	write := func(t state.Task) (state.Answer, error) {
		tell := func(piece string) {
			told = true
			token(nodes.Token{Text: piece})
		}
		if a.options.Answers.NoRefusals {
			tell = a.supported(t, tell)
		}
		return a.model.AnswerStream(ctx, t, tell)
	}
	answer, err := write(t)
	for fewer := t; errors.Is(err, llm.ErrContextLength) && len(fewer.Sources) > 1; {
		fewer.Sources = fewer.Sources[:len(fewer.Sources)/2]
		fewer.Messages = fewer.Messages[max(0, len(fewer.Messages)-1):] // the question alone
		graph.Warn(ctx, fmt.Sprintf("The context window of the model %q is too small for all sources and messages, so it answers from the first %d of %d sources. LLM_CONTEXT_TOKENS sets its size.",
			a.name, len(fewer.Sources), len(t.Sources)))
		answer, err = write(fewer)
	}
	if err == nil && !answer.Abstained {
		return a.withTerms(answer), nil
	}
	if told {
		token(nodes.Token{Void: true})
	}
	if err != nil {
		if err := fellBack(ctx, a.name, a.nextName, "the answer was written", err); err != nil {
			return state.Answer{}, err
		}
		if next, ok := a.next.(nodes.StreamAnswerer); ok {
			return next.AnswerStream(ctx, t, token)
		}
		return a.quotes.Answer(ctx, t)
	}
	return a.closest(ctx, t, answer)
}

// supported passes an answer on once a source supports a statement of it. Until then it may
// be withdrawn: see [nodes.Generate]. The whole is checked each time it has grown by half, so that the cost
// grows as its length does.
func (Answerer) supported(t state.Task, tell func(string)) func(string) {
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

// quoter answers without a model, as sure as a grade without a model is.
type quoter struct {
	grader   nodes.Grader
	answerer nodes.Answerer
}

// grade grades all sources of a task. The node check_and_refine may not have graded them yet:
// the model can begin before.
func (q quoter) grade(ctx context.Context, t state.Task) (state.Grade, error) {
	best := make([]state.Chunk, len(t.Sources))
	for i, s := range t.Sources {
		best[i] = s.Chunk
	}
	grade, err := q.grader.Grade(ctx, t.Queries, best)
	grade.Refined = nil
	return grade, err
}

// Answer implements nodes.Answerer. The answer has the grade.
func (q quoter) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	grade, err := q.grade(ctx, t)
	if err != nil {
		return state.Answer{}, err
	}
	t.Grade = grade
	answer, err := q.answerer.Answer(ctx, t)
	answer.Grade = &grade
	return answer, err
}

// withTerms adds the words of a model's answer that later questions may lean on.
func (a Answerer) withTerms(answer state.Answer) state.Answer {
	answer.Terms = offline.Terms(a.options.Stats, cite.Strip(answer.Text))
	return answer
}

// closest adds to a model's refusal the passage that comes nearest, which is
// found offline.
func (a Answerer) closest(ctx context.Context, t state.Task, refusal state.Answer) (state.Answer, error) {
	t.Grade.Score = 0 // the model has looked: the answer is not there
	nearest, err := a.quotes.answerer.Answer(ctx, t)
	if err != nil {
		return state.Answer{}, err
	}
	rest := strings.Replace(nearest.Text, prompts.Say(prompts.NotFound, t.Language), "", 1)
	refusal.Text += "\n\n" + strings.TrimSpace(rest)
	refusal.Citations, refusal.Order = nearest.Citations, nearest.Order
	graph.Note(ctx, "closest passage", "chosen "+offline.Name)
	return refusal, nil
}
