package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// unlikely is the grade below which a model that cannot decline is not asked. It was chosen on the half "look" of
// eval/field: few questions whose sources hold the answer are below.
const unlikely = 0.08

// outcome is the answer to a question.
type outcome struct {
	state.Answer

	sources []state.Source // as the answer numbers them
	quality state.Quality
}

// answer decides who answers a question, and what becomes of the answer:
//
//   - Nothing found: it says so.
//   - Small talk, or no model: quotes, as sure as the grade of the turn is.
//   - A model that cannot decline, and sources that do not look like an answer: quotes.
//   - A model fails: quotes, as sure as a grade without a model is. If words were shown
//     for good, the answer ends after them.
//   - A model declines: its refusal, above the closest passages.
//   - A model answers: its answer is checked and repaired; see [Answering.conclude].
//
// The grade of the turn does not keep a model from answering: it was given on a part of
// the sources, and the model reads all of them and may decline.
func (o Answering) answer(ctx context.Context, s state.State) (outcome, error) {
	t := o.Task(s)
	if t.Route == state.RouteSearch && len(t.Sources) == 0 {
		graph.Skip(ctx, SkippedNoDocs)
		return o.shown(ctx, t, outcome{
			Answer: state.Answer{Text: o.nothingFound(s.Turn), Abstained: true, Model: offlineMaker}, quality: quality(verdict{}),
		})
	}
	noteTask(ctx, t, o.Context)
	if t.Route == state.RouteSearch && o.Writer != nil {
		return o.write(ctx, t, s.Turn.Ranking.Judged)
	}
	return o.quote(ctx, t)
}

// write lets the model answer, or quotes in its place. judged is that of the ranking.
func (o Answering) write(ctx context.Context, t state.Task, judged *float64) (outcome, error) {
	if o.NoRefusals {
		grade, err := o.grade(ctx, t, judged)
		if err != nil {
			return outcome{}, err
		}
		if grade.Score < unlikely {
			graph.Note(ctx, "not asked", fmt.Sprintf("the grade without a model is below %.2f", unlikely))
			return o.quoteAs(ctx, t, grade)
		}
	}
	d := o.draft(ctx, t)
	answer, err := o.Writer.Write(ctx, t, d)
	if failed, ok := errors.AsType[*WriterError](err); ok {
		if ctx.Err() != nil { // nobody waits for an answer
			return outcome{}, failed.Err
		}
		shown := !d.Restart()
		noteFailure(ctx, failed, shown)
		if !shown {
			grade, err := o.grade(ctx, t, judged)
			if err != nil {
				return outcome{}, err
			}
			return o.quoteAs(ctx, t, grade)
		}
		answer, err = state.Answer{Model: failed.Model}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	if answer.Abstained && d.Restart() {
		t.Declined = answer.Text
		return o.closest(ctx, t, answer, verdict{})
	}
	answer.Abstained = false // words were shown for good
	v, err := d.end(answer)
	if err != nil {
		return outcome{}, err
	}
	return o.conclude(ctx, t, answer, v)
}

func noteFailure(ctx context.Context, failed *WriterError, shown bool) {
	graph.Note(ctx, "fallback", fmt.Sprintf("%s → %s: %v", failed.Model, offlineMaker, failed.Err))
	switch {
	case shown:
		graph.Warn(ctx, fmt.Sprintf("The model %q failed, so the answer ends early: %v.", failed.Model, failed.Err))
	case !failed.Reported: // in the words of other work that a model failed at, so that a reply says it once
		graph.Warn(ctx, fmt.Sprintf("The model %q failed, so ragflow went on without it: %v. Check it with \"ragflow doctor\".", failed.Model, failed.Err))
	}
}

// conclude decides what becomes of a model's answer that was checked. An answer that no
// source supports in any part is withdrawn: the closest passages take its place.
func (o Answering) conclude(ctx context.Context, t state.Task, a state.Answer, v verdict) (outcome, error) {
	if v.unsupported() {
		graph.Warn(ctx, "What the model wrote was withdrawn, since no source supports it.")
		a.Abstained, a.Text, a.Terms = true, prompts.Say(prompts.NotFound, t.Language), nil
		return o.closest(ctx, t, a, v)
	}
	picked, err := cite.Build(t.Sources, v.Picks...)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{Answer: a, sources: t.Sources, quality: quality(v)}
	out.Text = v.Text
	return out, out.cite(picked)
}

// closest shows the passages that come nearest to a question that a model has not
// answered: it has read the sources, so they do not hold the answer.
func (o Answering) closest(ctx context.Context, t state.Task, a state.Answer, v verdict) (outcome, error) {
	t.Grade.Score, t.Abstain = 0, true
	v.Report = cite.Report{}
	out := outcome{Answer: a, quality: quality(v)}
	if o.Quotes != nil {
		nearest, err := o.Quotes.Answer(ctx, t)
		if err != nil {
			return outcome{}, fmt.Errorf("closest passages: %w", err)
		}
		graph.Note(ctx, "closest passage", "chosen "+offlineMaker)
		out.Text, out.Citations, out.Order = nearest.Text, nearest.Citations, nearest.Order
	}
	return o.shown(ctx, t, out)
}

// quote answers without a model, as sure as the grade of the task is. Below the threshold
// the quotes are only the closest passages.
func (o Answering) quote(ctx context.Context, t state.Task) (outcome, error) {
	t.Abstain = t.Grade.Score < o.Threshold
	answer, err := o.Quotes.Answer(ctx, t)
	if err != nil {
		return outcome{}, err
	}
	return o.shown(ctx, t, outcome{Answer: answer, quality: quality(verdict{})})
}

// quoteAs is quote with another grade, which becomes that of the turn.
func (o Answering) quoteAs(ctx context.Context, t state.Task, grade state.Grade) (outcome, error) {
	t.Grade = grade
	out, err := o.quote(ctx, t)
	out.Grade = &grade
	return out, err
}

// grade grades all sources of a task without a model. The turn may have no grade yet: the
// answer can begin before.
func (o Answering) grade(ctx context.Context, t state.Task, judged *float64) (state.Grade, error) {
	grade, err := o.Grader.Grade(ctx, t.Queries, t.Sources)
	grade.Refined = nil
	return certain(grade, judged), err
}

// shown completes an answer that no model wrote. Its statements are quotes, so only their
// marks are checked. They hold what the documents do, so they are made harmless.
func (o Answering) shown(ctx context.Context, t state.Task, out outcome) (outcome, error) {
	out.sources = inOrderOfUse(slices.Concat(t.Sources, out.Added), out.Order)
	out.Text = new(sanitize.Filter).All(cite.Validate(out.Text, len(out.sources)).Text)
	if o.Checked {
		graph.Emit(ctx, Token{Text: out.Text})
	}
	if t.Route != state.RouteSearch {
		return out, nil
	}
	return out, out.cite(out.Citations)
}

// cite sets the citations of an answer; given are those that are known.
func (out *outcome) cite(given []state.Citation) (err error) {
	out.Citations, err = citations(given, out.sources, cite.Validate(out.Text, len(out.sources)).Cited)
	return err
}

// quality is the quality of an answer with a verdict.
func quality(v verdict) state.Quality {
	if v.Report.Claims == 0 {
		v.Report.Precision, v.Report.Recall, v.Report.Faithfulness = 1, 1, 1
	}
	return state.Quality{
		Faithfulness: v.Report.Faithfulness, CitationPrecision: v.Report.Precision, CitationRecall: v.Report.Recall,
		Claims: v.Report.Claims, Unchecked: v.Report.Unchecked,
		Invalid: v.invalid, Reattached: v.Reattached, Unsupported: v.Unsupported, Dropped: v.Dropped,
	}
}

// maxOpinion limits what one judge of [certain] can contribute, so that none overrules
// the other alone.
const maxOpinion = 0.99

// certain adds to a grade the opinion of a reranking model that read the passages: its
// score of the best one counts as much as the grade, in log odds. judged is nil if no
// such model ranked.
func certain(grade state.Grade, judged *float64) state.Grade {
	if judged == nil {
		return grade
	}
	logit := func(p float64) float64 {
		p = min(max(p, 1-maxOpinion), maxOpinion)
		return math.Log(p / (1 - p))
	}
	grade.Why = fmt.Sprintf("%.2f by the grader (%s), %.2f by the reranker", grade.Score, grade.Why, *judged)
	p := 1 / (1 + math.Exp(-(logit(grade.Score)+logit(*judged))/2))
	grade.Score = math.Round(p*1e6) / 1e6
	return grade
}
