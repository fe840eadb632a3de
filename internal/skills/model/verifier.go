package model

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/llm"
)

// verifyTokens is the most that is asked for: a word for each statement.
const verifyTokens = 200

// Verifier lets a model read again whether passages say what statements say.
type Verifier struct {
	Custom prompts.Set // custom prompts
	chat   llm.Chat
}

// NewVerifier returns a verifier that asks chat.
func NewVerifier(chat llm.Chat) *Verifier { return &Verifier{chat: chat} }

// Verify reports for each statement whether the passage with the same index says it, in one
// call. If the model fails, it warns and returns nil: the rules decide.
func (v *Verifier) Verify(ctx context.Context, statements, passages []string) ([]bool, error) {
	holds, err := v.verify(ctx, statements, passages)
	if err == nil || ctx.Err() != nil {
		return holds, err
	}
	graph.Warn(ctx, fmt.Sprintf("Rules alone checked the answer, no model: %v.", err))
	return nil, nil
}

// verify is Verify without the rules. A reply with another number of verdicts is a [*prompts.ParseError].
func (v *Verifier) verify(ctx context.Context, statements, passages []string) ([]bool, error) {
	p := prompts.Verify{Boundary: prompts.NewBoundary(), Custom: v.Custom}
	var shown []string
	for i, s := range statements {
		n := slices.Index(shown, passages[i])
		if n < 0 {
			n, shown = len(shown), append(shown, passages[i])
			p.Passages = append(p.Passages, prompts.Passage{N: n + 1, Text: cite.Escape(oneLine(passages[i]))})
		}
		p.Claims = append(p.Claims, prompts.Claim{N: i + 1, Passage: n + 1, Text: cite.Escape(oneLine(s))})
	}
	reply, err := ask(ctx, v.chat, p.Render(), p.Boundary, verifyTokens, nil)
	if err != nil {
		return nil, err
	}
	return prompts.ParseVerify(reply, len(statements))
}
