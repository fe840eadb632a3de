package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// Transforms of a question, by the names that people choose them by.
const (
	MultiQuery = "multi_query" // three other ways to ask it are searched too
	HyDE       = "hyde"        // the dense search looks for passages like an invented answer
	Decompose  = "decompose"   // its parts are searched and answered one by one
)

// Transforms lists the transforms.
func Transforms() []string { return []string{MultiQuery, HyDE, Decompose} }

// CheckTransforms returns the first fault of a choice of transforms. HyDE needs an
// embedding model.
func CheckTransforms(names []string, embeds bool) error {
	for _, name := range names {
		switch {
		case !slices.Contains(Transforms(), name):
			return fmt.Errorf("transform %q is not one of %s", name, strings.Join(Transforms(), ", "))
		case name == HyDE && !embeds:
			return fmt.Errorf("transform %s searches by meaning and needs an embedding model: set EMBEDDING_MODEL", HyDE)
		}
	}
	return nil
}

// Requests of the transforms.
const (
	alternatives            = 3
	alternativeWeight       = 0.5
	alternativeTemperature  = 0.7
	hypotheticalTokens      = 500
	hypotheticalTemperature = 0.3
	transformTokens         = 400
)

// Transformer adds the queries of transforms to the plan of another rewriter.
type Transformer struct {
	Custom prompts.Set // custom prompts
	chat   llm.Chat
	first  nodes.Rewriter
	names  []string
}

// NewTransformer returns a rewriter that asks chat once for each transform. first makes
// the plan.
func NewTransformer(chat llm.Chat, first nodes.Rewriter, names []string) *Transformer {
	return &Transformer{chat: chat, first: first, names: names}
}

// Rewrite implements nodes.Rewriter. A transform that fails is a warning.
func (t *Transformer) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, failed, err := t.Plan(ctx, question, m)
	if err == nil && failed != nil {
		if err := ctx.Err(); err != nil {
			return plan, err
		}
		graph.Warn(ctx, fmt.Sprintf("The question was searched without a transform: %v.", failed))
	}
	return plan, err
}

// Plan makes the plan. failed are the transforms that did not work, for a warning; the
// plan holds what the others added. err is that of the first rewriter.
func (t *Transformer) Plan(ctx context.Context, question string, m state.Memory) (plan state.Plan, failed, err error) {
	plan, err = t.first.Rewrite(ctx, question, m)
	if err != nil || plan.Route != state.RouteSearch {
		return plan, nil, err
	}
	if len(plan.Queries) == 0 {
		plan.Queries = []state.Query{{Text: question, Weight: 1, Why: "raw turn", Attempt: 1}}
	}
	asked, before := heaviest(plan.Queries), len(plan.Queries)
	var faults []error
	chat := track(t.chat)
	for _, name := range t.names {
		if err := t.transform(ctx, chat, name, asked.Text, &plan); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
		plan.By = cmp.Or(plan.By, chat.Model())
	}
	plan.Added += len(plan.Queries) - before
	return plan, errors.Join(faults...), nil
}

func (t *Transformer) transform(ctx context.Context, chat llm.Chat, name, question string, plan *state.Plan) error {
	boundary := prompts.NewBoundary()
	question = cite.Escape(oneLine(question))
	switch name {
	case MultiQuery:
		p := prompts.MultiQuery{Question: question, N: alternatives, Boundary: boundary, Custom: t.Custom}
		reply, err := askText(ctx, chat, p.Render(), boundary, alternativeTemperature, transformTokens)
		if err != nil {
			return err
		}
		others, err := prompts.ParseMultiQuery(reply, alternatives)
		for _, q := range others {
			plan.Queries = append(plan.Queries, state.Query{Text: q, Weight: alternativeWeight, Why: "another way to ask it", Attempt: 1})
		}
		return err
	case HyDE:
		p := prompts.Hypothetical{Question: question, Boundary: boundary, Custom: t.Custom}
		passage, err := askText(ctx, chat, p.Render(), boundary, hypotheticalTemperature, hypotheticalTokens)
		if passage = strings.TrimSpace(passage); err == nil && passage != "" {
			plan.Queries[0].Passage = passage
		}
		return err
	default: // Decompose
		p := prompts.Decompose{Question: question, Boundary: boundary, Custom: t.Custom}
		reply, err := askText(ctx, chat, p.Render(), boundary, 0, transformTokens)
		if err != nil {
			return err
		}
		parts, err := prompts.ParseDecompose(reply)
		for i, part := range parts {
			q := state.Query{Text: oneLine(part.Question), Weight: 1, Why: fmt.Sprintf("part %d of the question", i+1), Attempt: 1, Part: i + 1}
			if part.Dependency != nil {
				q.After = *part.Dependency + 1
			}
			plan.Queries = append(plan.Queries, q)
		}
		return err
	}
}

func askText(ctx context.Context, chat llm.Chat, p prompts.Rendered, boundary string, temperature float64, tokens int) (string, error) {
	reply, err := chat.Complete(ctx, llm.Request{
		Messages:    []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}},
		Temperature: temperature, MaxTokens: tokens, Stop: []string{boundary},
	}, nil)
	return before(reply.Text, boundary), err
}

// heaviest returns the query with the greatest weight, the first of equals.
func heaviest(queries []state.Query) state.Query {
	return slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
}
