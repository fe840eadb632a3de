package postgres

import (
	"context"
	_ "embed" // the statement
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
)

//go:embed append.sql
var appendCommit string

// Commit implements [graph.Store]. It also renews the lease. A body that is not JSON in
// UTF-8 is rejected with a [graph.EntryError]; invalid UTF-8 in an Error is replaced.
func (s *Store) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (at graph.CommitID, err error) {
	b, err = stored.NormalizeBatch(l.Thread, b, time.Now())
	nonce, repeated := rand.Int64(), false
	var args []any
	if err == nil {
		args, err = appendArgs(l, b, nonce, nil)
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
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return at, nil
}

// appendArgs are the arguments of appendCommit. id is that of the commit; nil: the next one.
func appendArgs(l graph.Lease, b graph.Batch, nonce int64, id *int64) ([]any, error) {
	d, err := newDeltaColumns(b.Deltas)
	if err != nil {
		return nil, err
	}
	snapshot, err := stored.PackSnapshot(b.Snapshot)
	return []any{
		l.Thread, l.Token, int64(b.Parent), b.Source.Turns(), b.BodyBytes(), b.Release,
		nonce, b.Step, b.Time, b.Run, string(b.Source), string(b.Status), b.Fingerprint, b.Frontier, textColumn(b.Error),
		d.ranks, d.paths, d.nodes, d.bodies, d.errors, d.notes, snapshot, b.KeepPending, id,
	}, err
}

// refused returns why a commit was not saved: or its id, if an earlier attempt saved it and
// the answer was lost.
func (s *Store) refused(ctx context.Context, l graph.Lease, parent graph.CommitID, nonce int64, repeated bool) (graph.CommitID, error) {
	var held bool
	var head, saved graph.CommitID
	err := s.pool.QueryRow(ctx, `SELECT token = $2 AND until IS NOT NULL, head,
			CASE WHEN $5 THEN coalesce((SELECT c.id FROM commits c WHERE c.thread = t.id AND c.id > $3 AND c.nonce = $4), 0) ELSE 0 END
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
	INSERT INTO pending(thread, run, step, attempt, rank, path, node, body, error, notes)
	SELECT id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM held ON CONFLICT DO NOTHING
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
	notes, err := notesColumn(d.Notes)
	return []any{l.Thread, l.Token, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, textColumn(d.Body), textColumn(d.Error), notes}, err
}

// deltaColumns are the deltas of a commit, column by column.
type deltaColumns struct {
	ranks                 []int
	paths, nodes          []string
	bodies, errors, notes []*string
}

func newDeltaColumns(deltas []graph.Delta) (c deltaColumns, err error) {
	for _, d := range deltas {
		notes, err := notesColumn(d.Notes)
		if err != nil {
			return c, err
		}
		c.ranks, c.paths, c.nodes = append(c.ranks, d.Rank), append(c.paths, d.Path), append(c.nodes, d.Node)
		c.bodies, c.errors, c.notes = append(c.bodies, textColumn(d.Body)), append(c.errors, textColumn(d.Error)), append(c.notes, notes)
	}
	return c, nil
}

// textColumn returns a text for its column; nil for none.
func textColumn[T string | []byte](text T) *string {
	if len(text) == 0 {
		return nil
	}
	column := string(text)
	return &column
}

// notesColumn returns notes as JSON; nil if there are none.
func notesColumn(n graph.Notes) (*string, error) {
	if reflect.ValueOf(&n).Elem().IsZero() {
		return nil, nil
	}
	b, err := json.Marshal(n)
	return textColumn(b), err
}
