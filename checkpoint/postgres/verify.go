package postgres

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

//go:embed verify.sql
var problems string

// Verify checks threads, or all of them if none is named: that each commit follows its
// parent, everything can be decoded, and counts are right. It changes nothing. An error
// means that the check was not possible, [graph.ErrNotFound] that a thread is unknown. It does not look at owners. The
// caller must check the content of bodies; the server's pg_amcheck checks its files.
func (s *Store) Verify(ctx context.Context, threads ...string) (found []Finding, err error) {
	if len(threads) == 0 {
		threads, err = get(ctx, s, func() ([]string, error) { return column[string](ctx, s.pool, `SELECT name FROM threads ORDER BY name`) })
	}
	for _, name := range threads {
		if err != nil {
			break
		}
		var of []stored.Finding
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

func verify(ctx context.Context, tx pgx.Tx, name string) (found []stored.Finding, err error) {
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
	f := stored.Finding{Thread: name}
	if _, err := pgx.ForEachRow(rows, []any{&f.Commit, &f.Problem}, func() error {
		found = append(found, f)
		return nil
	}); err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, `SELECT id, bytes, changes, snapshot FROM entries WHERE thread = $1
		UNION ALL SELECT 0, NULL, changes, '' FROM pending WHERE thread = $1 ORDER BY 1`, id)
	if err != nil {
		return nil, err
	}
	var size *int
	var changes string
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&f.Commit, &size, &changes, &packed}, func() error {
		for _, f.Problem = range faults(size, changes, packed) {
			found = append(found, f)
		}
		return nil
	})
	return found, err
}

// faults returns what is wrong with the columns of a commit or of a pending result.
func faults(size *int, changes string, packed []byte) (found []string) {
	deltas, err := decodeDeltas(changes, time.Time{})
	if err != nil {
		found = append(found, err.Error())
	} else if n := (graph.Commit{Deltas: deltas}).BodyBytes(); size != nil && n != *size {
		found = append(found, fmt.Sprintf("its updates have %d bytes, %d were saved", n, *size))
	} else if size == nil && len(deltas) != 1 {
		found = append(found, fmt.Sprintf("a pending result has %d deltas, want one", len(deltas)))
	}
	if !slices.IsSortedFunc(deltas, func(x, y graph.Delta) int { return x.Rank - y.Rank }) {
		found = append(found, "its deltas are out of order")
	}
	if len(packed) > 0 {
		if _, err := stored.UnpackSnapshot(packed); err != nil {
			found = append(found, err.Error())
		}
	}
	return found
}
