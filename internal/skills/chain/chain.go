// Package chain puts language models before the skills that need none. Each task has models;
// where the first fails, the next one does the work, at last the skill without a model,
// and the run says so. Calls to models are noted with the task under way, so that traces
// and usage show them.
//
//	s := chain.Skills{Rewriter: …, Grader: …, Summarizer: …, Answerer: …}.WithModels(chain.Options{Models: chain.Models{Chats: chats}})
//
// An [Answerer] also makes the node in which an agent searches before it answers; see
// [Answerer.Agent].
package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/state"
)

// Skills are those that a model can do.
type Skills struct {
	Rewriter   nodes.Rewriter
	Grader     nodes.Grader
	Summarizer nodes.Summarizer
	Answerer   nodes.Answerer
	Verifier   nodes.Verifier // nil: none
}

// Options are the models and what they need.
type Options struct {
	Models      Models
	PlainGrades bool     // no model grades
	Verify      bool     // a model reads each statement of an answer again
	Threshold   float64  // grades from which on what was found is good
	Transforms  []string // names of [model.Transforms]
	Answers     model.Options
	Stats       model.Stats
	Own         prompts.Set // prompts of one's own
}

// WithModels returns skills that ask models first. Those of s need no model.
func (s Skills) WithModels(o Options) Skills {
	out := s
	o.Models.each(Rewrite, func(chat llm.Chat, next string) {
		r := model.NewRewriter(chat, s.Rewriter, o.Stats)
		r.Own = o.Own
		out.Rewriter = rewriter{r, out.Rewriter, chat.Model(), next}
	})
	o.Models.each(Grade, func(chat llm.Chat, next string) {
		g := model.NewGrader(chat)
		g.Own = o.Own
		if !o.PlainGrades {
			out.Grader = grading{g, out.Grader, s.Grader, chat.Model(), next, o.Threshold}
		}
	})
	o.Models.each(Summarise, func(chat llm.Chat, next string) {
		z := model.NewSummarizer(chat)
		z.Own = o.Own
		out.Summarizer = summarizer{z, out.Summarizer, chat.Model(), next}
	})
	o.Models.each(Write, func(chat llm.Chat, next string) {
		out.Answerer = Answerer{model.NewAnswerer(chat, o.Own, o.Answers), out.Answerer, quoter{s.Grader, s.Answerer}, chat.Model(), next, o}
	})
	if o.Verify {
		v := model.NewVerifier(o.Models.Chat(Verify))
		v.Own = o.Own
		out.Verifier = verifier{v}
	}
	for _, name := range o.Transforms {
		t := model.NewTransformer(o.Models.Chat(name, Transform), out.Rewriter, []string{name})
		t.Own = o.Own
		out.Rewriter = transformer{t}
	}
	return out
}

// transformer adds the queries of transforms to a plan. A transform that fails is a
// warning.
type transformer struct{ *model.Transformer }

// Rewrite implements nodes.Rewriter.
func (t transformer) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, failed, err := t.Plan(ctx, question, m)
	if err == nil && failed != nil {
		if err := ctx.Err(); err != nil {
			return plan, err
		}
		graph.Warn(ctx, fmt.Sprintf("The question was searched without a transform: %v.", failed))
	}
	return plan, err
}

// verifier leaves the verdicts of the rules where the model fails.
type verifier struct{ *model.Verifier }

// Verify implements nodes.Verifier.
func (v verifier) Verify(ctx context.Context, statements, passages []string) ([]bool, error) {
	holds, err := v.Verifier.Verify(ctx, statements, passages)
	if err == nil {
		return holds, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	graph.Warn(ctx, fmt.Sprintf("Rules alone checked the answer, no model: %v.", err))
	return nil, nil
}

// fellBack says that a model failed and that next does its work. It returns the
// error where there is nobody to do it for: the run has ended.
func fellBack(ctx context.Context, name, next, work string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	graph.Note(ctx, "fallback", fmt.Sprintf("%s → %s: %v", name, next, err))
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Skipped {
		return nil // the failure was reported when it happened
	}
	if next != offline.Name {
		work += " by " + next
	} else {
		work += " " + next
	}
	graph.Warn(ctx, fmt.Sprintf("The model %q failed, so ragflow went on without it and %s: %v.", name, work, err))
	return nil
}

// NoteMaker says what did a task's work, which only the task itself knows.
func NoteMaker(ctx context.Context, name string) { graph.Note(ctx, "by", name) }

type rewriter struct {
	model, next    nodes.Rewriter
	name, nextName string
}

// Rewrite implements nodes.Rewriter.
func (r rewriter) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, err := r.model.Rewrite(ctx, question, m)
	if err == nil {
		NoteMaker(ctx, cmp.Or(plan.By, offline.Name))
		return plan, nil
	}
	if err := fellBack(ctx, r.name, r.nextName, "the question was rewritten", err); err != nil {
		return state.Plan{}, err
	}
	if r.nextName == offline.Name {
		NoteMaker(ctx, offline.Name)
	}
	return r.next.Rewrite(ctx, question, m)
}

type grading struct {
	model, next, offline nodes.Grader
	name, nextName       string
	threshold            float64
}

// Grade implements nodes.Grader. Where the model finds what was found poor and
// knows nothing better to search for, offline's refined query is tried.
func (g grading) Grade(ctx context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error) {
	grade, err := g.model.Grade(ctx, queries, best)
	if err != nil {
		if err := fellBack(ctx, g.name, g.nextName, "what was found was graded", err); err != nil {
			return state.Grade{}, err
		}
		return g.next.Grade(ctx, queries, best)
	}
	if grade.Score < g.threshold && grade.Refined == nil {
		plain, err := g.offline.Grade(ctx, queries, best)
		if err != nil {
			return state.Grade{}, err
		}
		grade.Refined = plain.Refined
	}
	return grade, nil
}

type summarizer struct {
	model, next    nodes.Summarizer
	name, nextName string
}

// Summarize implements nodes.Summarizer.
func (z summarizer) Summarize(ctx context.Context, summary string, older []state.Message) (string, error) {
	longer, err := z.model.Summarize(ctx, summary, older)
	if err == nil {
		NoteMaker(ctx, z.name)
		return longer, nil
	}
	if err := fellBack(ctx, z.name, z.nextName, "the conversation was summarised", err); err != nil {
		return "", err
	}
	if z.nextName == offline.Name {
		NoteMaker(ctx, offline.Name)
	}
	return z.next.Summarize(ctx, summary, older)
}
