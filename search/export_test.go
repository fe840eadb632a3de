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

// SearchUnobserved is Search without the place for an observer.
func (e *Engine) SearchUnobserved(ctx context.Context, q state.Query, k int) (Found, error) {
	return e.search(ctx, q, k, e.legFor(q, e.o.Dense.Leg))
}
