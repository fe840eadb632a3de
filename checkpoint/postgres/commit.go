package postgres

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

//go:embed append.sql
var appendCommit string

// Commit implements [graph.Store]. It also renews the lease. A body that is not JSON in
// UTF-8 is rejected with a [graph.EntryError]; invalid UTF-8 in an Error is replaced.
func (s *Store) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (at graph.CommitID, err error) {
	b, err = stored.NormalizeBatch(l.Thread, b, time.Now())
	nonce, repeated := rand.Int32(), false
	var args []any
	if err == nil {
		args, err = s.appendArgs(l, b, nonce, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	err = s.do(ctx, func() error {
		err := s.pool.QueryRow(ctx, appendCommit, args...).Scan(&at, nil)
		if errors.Is(err, pgx.ErrNoRows) {
			at, err = s.refused(ctx, l, b.Parent, nonce, repeated)
		}
		repeated = true
		return tooLarge(err)
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return at, nil
}

// appendArgs are the arguments of appendCommit. id is that of the commit; nil: the next one.
func (s *Store) appendArgs(l graph.Lease, b graph.Batch, nonce int32, id *int64) ([]any, error) {
	changes, err := encodeDeltas(b.Deltas, b.Time)
	if err != nil {
		return nil, err
	}
	frontier := ""
	if len(b.Frontier) > 0 {
		if frontier, err = encode(b.Frontier); err != nil {
			return nil, err
		}
	}
	f, text := stored.FactsOf(s.texts, b.Commit)
	if f, err = stored.AddFacts(graph.ThreadFacts{}, f); err != nil {
		return nil, err
	}
	snapshot, err := packed(b.Snapshot)
	return []any{
		l.Thread, l.Token, int64(b.Parent), b.Source.Turns(), b.BodyBytes(), b.Release,
		nonce, b.Step, b.Time, b.Run, string(b.Source), string(b.Status), b.Fingerprint, frontier, b.Error, changes, snapshot, id, b.KeepPending, f.Title, f.Metadata, text,
	}, err
}

// packed returns the column of a snapshot; empty for none.
func packed(body []byte) ([]byte, error) {
	column, err := stored.PackSnapshot(body)
	if column == nil {
		column = []byte{}
	}
	return column, err
}

// refused returns why a commit was not saved: or its id, if an earlier attempt saved it and
// the answer was lost.
func (s *Store) refused(ctx context.Context, l graph.Lease, parent graph.CommitID, nonce int32, repeated bool) (graph.CommitID, error) {
	var held bool
	var head, saved graph.CommitID
	err := s.pool.QueryRow(ctx, `SELECT token = $2 AND until IS NOT NULL, head,
			CASE WHEN $5 THEN coalesce((SELECT c.id FROM entries c WHERE c.thread = t.id AND c.id > $3 AND c.nonce = $4), 0) ELSE 0 END
		FROM threads t WHERE name = $1`, l.Thread, l.Token, int64(parent), nonce, repeated).Scan(&held, &head, &saved)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return 0, err
	case saved != 0:
		return saved, nil
	case !held:
		return 0, stored.Superseded(l)
	}
	return 0, stored.Conflict(l.Thread, head, parent)
}

// appendPending checks the lease and saves a result, once for each attempt.
const appendPending = `WITH held AS (
	UPDATE threads SET until = clock_timestamp() + ttl WHERE name = $1 AND token = $2 AND until IS NOT NULL RETURNING id
), saved AS (
	INSERT INTO pending(thread, run, step, attempt, rank, path, node, changes)
	SELECT id, $3, $4, $5, $6, $7, $8, $9 FROM held ON CONFLICT DO NOTHING
)
SELECT id FROM held`

// Pend implements [graph.Store]. It also renews the lease. If the same attempt is saved
// twice, the first result stays.
func (s *Store) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := stored.NormalizeResult(r)
	var args []any
	if err == nil {
		args, err = pendingArgs(l, r)
	}
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	err = s.do(ctx, func() error {
		tag, err := s.pool.Exec(ctx, appendPending, args...)
		if err == nil && tag.RowsAffected() == 0 {
			return stored.Superseded(l)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("pend: %w", err)
	}
	return nil
}

// pendingArgs are the arguments of appendPending.
func pendingArgs(l graph.Lease, r graph.TaskResult) ([]any, error) {
	d := r.Delta
	changes, err := encodeDeltas([]graph.Delta{d}, time.Time{})
	return []any{l.Thread, l.Token, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, changes}, err
}
