package search

import (
	"context"

	"example.com/ragflow/state"
)

// SearchNames finds documents by name.
func (e *Engine) SearchNames(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	return e.searchNames(ctx, q, k)
}

// Expand follows relations.
func (e *Engine) Expand(ctx context.Context, q state.Query, hits []state.Hit, hops, limit int) ([]state.Hit, error) {
	return e.expand(ctx, q, hits, hops, limit)
}
