package offline

import (
	"context"

	"example.com/ragflow/state"
)

// Reranker orders candidates for the context.
type Reranker struct {
	maker
	lex lexicon
}

// NewReranker returns a reranker for the index that stats describes.
func NewReranker(stats Stats) *Reranker { return &Reranker{lex: newLexicon(stats)} }

// Rerank keeps the order.
func (r *Reranker) Rerank(_ context.Context, _ []state.Query, candidates []state.Source) ([]state.Source, error) {
	return candidates, nil
}
