package checkpoint

import (
	"context"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// Plan returns how SQLite reads the threads of a query.
func (s *SQLite) Plan(ctx context.Context, q graph.ThreadQuery) (plan string, err error) {
	p, err := stored.NewPager(ctx, q)
	if err != nil {
		return "", err
	}
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		query, args, err := s.listing(tx, p.ThreadQuery)
		if err != nil {
			return err
		}
		var steps []string
		for row := range tx.Query("EXPLAIN QUERY PLAN "+query, args...) {
			var id, parent, unused int
			var step string
			if err := row.Scan(&id, &parent, &unused, &step); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		plan = strings.Join(steps, "; ")
		return nil
	})
	return plan, err
}

// Exec runs statements beside the methods of the store.
func (s *SQLite) Exec(ctx context.Context, statements ...string) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		for _, text := range statements {
			if err := tx.Do(text); err != nil {
				return err
			}
		}
		return nil
	})
}
