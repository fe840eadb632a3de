package postgres

import (
	"context"
	_ "embed" // the statement
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
)

//go:embed verify.sql
var problems string

// Verify checks threads, or all of them if none is named: that each commit follows its
// parent, everything can be decoded, and counts are right. It changes nothing. An error
// means that the check was not possible, [graph.ErrNotFound] that a thread is unknown. The
// caller must check the content of bodies; the server's pg_amcheck checks its files.
func (s *Store) Verify(ctx context.Context, threads ...string) (found []graph.Finding, err error) {
	if len(threads) == 0 {
		threads, err = get(ctx, s, func() ([]string, error) { return column[string](ctx, s.pool, `SELECT name FROM threads ORDER BY name`) })
	}
	for _, name := range threads {
		if err != nil {
			break
		}
		var of []graph.Finding
		err = s.read(ctx, func(tx pgx.Tx) (err error) {
			of, err = verify(ctx, tx, name)
			return err
		})
		found = append(found, of...)
	}
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return found, nil
}

func verify(ctx context.Context, tx pgx.Tx, name string) (found []graph.Finding, err error) {
	ids, err := column[int64](ctx, tx, `SELECT id FROM threads WHERE name = $1`, name)
	if err == nil && len(ids) == 0 {
		err = stored.NotFound("thread %q", name)
	}
	if err != nil {
		return nil, err
	}
	id := ids[0]
	rows, err := tx.Query(ctx, problems, id)
	if err != nil {
		return nil, err
	}
	f := graph.Finding{Thread: name}
	if _, err := pgx.ForEachRow(rows, []any{&f.Commit, &f.Problem}, func() error {
		found = append(found, f)
		return nil
	}); err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, `SELECT at, body, coalesce(error, ''), notes FROM deltas WHERE thread = $1
		UNION ALL SELECT 0, body, coalesce(error, ''), notes FROM pending WHERE thread = $1 ORDER BY 1`, id)
	if err != nil {
		return nil, err
	}
	var c columns
	if _, err := pgx.ForEachRow(rows, []any{&f.Commit, &c.body, &c.error, &c.notes}, func() error {
		if err := c.decode(&graph.Delta{}); err != nil {
			f.Problem = err.Error()
			found = append(found, f)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, `SELECT at, body FROM snapshots WHERE thread = $1 ORDER BY at`, id)
	if err != nil {
		return nil, err
	}
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&f.Commit, &packed}, func() error {
		if _, err := stored.UnpackSnapshot(packed); err != nil {
			f.Problem = err.Error()
			found = append(found, f)
		}
		return nil
	})
	return found, err
}
