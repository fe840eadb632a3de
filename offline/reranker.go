package offline

import (
	"cmp"
	"context"
	"slices"

	"example.com/ragflow/state"
)

// coverWeight is how much coverage counts beside the score of the search.
const coverWeight = 0.3

// Reranker orders candidates for the context by the score of the search,
// brought to 0–1, and by how much of the question the passage and its best
// sentence cover.
type Reranker struct {
	maker
	lex lexicon
}

// NewReranker returns a reranker for the index that stats describes.
func NewReranker(stats Stats) *Reranker { return &Reranker{lex: newLexicon(stats)} }

// Rerank returns the candidates in their new order, each with the score that
// put it there; equal ones keep theirs. It never fails.
func (r *Reranker) Rerank(_ context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	terms := r.lex.question(strongest(queries))
	best := 0.0
	for _, c := range candidates {
		best = max(best, c.Score)
	}
	out := slices.Clone(candidates)
	for i, c := range candidates {
		score := 0.0
		if best > 0 {
			score = c.Score / best
		}
		out[i].Score = (1-coverWeight)*score + coverWeight*r.lex.cover(terms, c.Chunk)
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}
