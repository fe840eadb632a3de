package postgres

import (
	"context"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// Plan returns how the server reads the threads of a query.
func (s *Store) Plan(ctx context.Context, q graph.ThreadQuery) (string, error) {
	p, err := stored.NewPager(ctx, q)
	if err != nil {
		return "", err
	}
	query, args, err := s.listing(ctx, p.ThreadQuery)
	if err != nil {
		return "", err
	}
	steps, err := column[string](ctx, s.pool, "EXPLAIN "+query, args...)
	return strings.Join(steps, "\n"), err
}
