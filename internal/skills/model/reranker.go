package model

import (
	"context"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

// Limits of a reranking request.
const (
	rerankedRunes = 500 // of each passage
	rerankTokens  = 300
)

// Reranker lets a chat model score passages. It sees the first 500 characters of each.
type Reranker struct {
	Custom prompts.Set // custom prompts
	chat   llm.Chat
}

// NewReranker returns a reranker that asks chat.
func NewReranker(chat llm.Chat) *Reranker { return &Reranker{chat: chat} }

// Model returns the name of the model.
func (r *Reranker) Model() string { return r.chat.Model() }

var _ llm.Reranker = (*Reranker)(nil)

// Rerank returns a score from 0 to 1 for each passage, in one call. A reply with
// another number of scores is a [*prompts.ParseError].
func (r *Reranker) Rerank(ctx context.Context, question string, passages []string) (llm.Scores, error) {
	p := prompts.Rerank{Question: oneLine(question), Boundary: prompts.NewBoundary(), Custom: r.Custom}
	for i, s := range passages {
		p.Passages = append(p.Passages, prompts.Passage{N: i + 1, Text: text.First(oneLine(s), rerankedRunes)})
	}
	reply, err := ask(ctx, r.chat, p.Render(), p.Boundary, rerankTokens, nil)
	if err != nil {
		return llm.Scores{}, err
	}
	scores, err := prompts.ParseRerank(reply, len(passages))
	return llm.Scores{Values: scores}, err
}
