package model

import (
	"context"
	"errors"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

// Limits of what is asked for, in tokens.
const (
	AnswerTokens  = 2000
	rewriteTokens = 200
	gradeTokens   = 160
	summaryTokens = 400
)

// AnswerTemperature leaves an answer a little freedom of wording. Everything
// else is asked for at 0.
const AnswerTemperature = 0.3

// Stats is what a skill asks the index about words.
type Stats interface {
	Analyzer() text.Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that hold a term, as the index writes it
}

// ask puts one prompt to a model. A reply that runs into the boundary repeats
// the prompt, so it ends there. schema may be nil.
func ask(ctx context.Context, c llm.Chat, p prompts.Rendered, boundary string, tokens int, schema *llm.Schema) (string, error) {
	r, err := c.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}},
		MaxTokens: tokens,
		Stop:      []string{boundary},
		Schema:    schema,
	}, nil)
	return before(r.Text, boundary), err
}

// askForm puts a prompt whose reply has a form. Small models miss it, or say
// nothing: such a reply is asked for once more, as JSON that the provider holds the model to.
// If that does not help, the error is that of the first reply.
func askForm[T any](
	ctx context.Context, c llm.Chat, p prompts.Rendered, boundary string, tokens int, schema llm.Schema, parse func(string) (T, error),
) (T, error) {
	var none T
	reply, missed := ask(ctx, c, p, boundary, tokens, nil)
	if missed == nil {
		parsed, err := parse(reply)
		if err == nil {
			return parsed, nil
		}
		missed = err
	} else if e, ok := errors.AsType[*llm.Error](missed); !ok || !e.Empty {
		return none, missed
	}
	if reply, err := ask(ctx, c, p, boundary, tokens, &schema); err == nil {
		if parsed, err := parse(reply); err == nil {
			return parsed, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	return none, missed
}

// before cuts a reply at the boundary, for providers that know no stop words.
func before(reply, boundary string) string {
	reply, _, _ = strings.Cut(reply, boundary)
	return reply
}
