package model

import (
	"context"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/prompts"
	"example.com/ragflow/text"
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
// the prompt, so it ends there.
func ask(ctx context.Context, c llm.Chat, p prompts.Rendered, boundary string, tokens int) (string, error) {
	r, err := c.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}},
		MaxTokens: tokens,
		Stop:      []string{boundary},
	}, nil)
	return before(r.Text, boundary), err
}

// before cuts a reply at the boundary, for providers that know no stop words.
func before(reply, boundary string) string {
	reply, _, _ = strings.Cut(reply, boundary)
	return reply
}
