package model

import (
	"context"

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

func ask(ctx context.Context, c llm.Chat, p prompts.Rendered, tokens int) (llm.Response, error) {
	return c.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}},
		MaxTokens: tokens,
	}, nil)
}
