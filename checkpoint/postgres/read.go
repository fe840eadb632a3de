package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// find returns the row id of a thread and checks that a commit belongs to it; at 0 it
// returns the head.
func find(ctx context.Context, q queryer, name string, at graph.CommitID) (thread int64, found graph.CommitID, err error) {
	var known bool
	err = q.QueryRow(ctx, `SELECT t.id, t.head, $2::bigint IN (0, t.head) OR EXISTS (SELECT FROM entries c WHERE c.thread = t.id AND c.id = $2)
		FROM threads t WHERE name = $1 AND $3 IN ('', owner)`, name, int64(at), graph.OwnerOf(ctx)).Scan(&thread, &found, &known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, 0, stored.NotFound("thread %q", name)
	case err != nil:
		return 0, 0, err
	case found == 0:
		return 0, 0, stored.NotFound("commit of thread %q", name)
	case !known:
		return 0, 0, stored.NotFound("thread %q, commit %d", name, at)
	case at != 0:
		found = at
	}
	return thread, found, nil
}

// Head implements [graph.Store].
func (s *Store) Head(ctx context.Context, thread string) (head graph.Commit, err error) {
	err = s.do(ctx, func() error {
		found, err := commits(ctx, s.pool, thread, `(SELECT id FROM threads WHERE name = $1 AND $4 IN ('', owner))`, math.MaxInt64, 1, thread, graph.OwnerOf(ctx))
		if err == nil && len(found) == 0 {
			return stored.NotFound("commit of thread %q", thread)
		}
		if err == nil {
			head = found[0]
			head.Deltas = nil
		}
		return err
	})
	if err != nil {
		return graph.Commit{}, fmt.Errorf("head: %w", err)
	}
	return head, nil
}

// fromSnapshot reads the changes of a thread from its newest snapshot at or before a commit.
const fromSnapshot = `SELECT id, time, snapshot, changes FROM entries WHERE thread = $1 AND id <= $2 AND id >= coalesce(
	(SELECT id FROM entries WHERE thread = $1 AND id <= $2 AND snapshot <> '' ORDER BY id DESC LIMIT 1), 0) ORDER BY id`

// Load implements [graph.Store]. At commit 0 it loads the head.
func (s *Store) Load(ctx context.Context, thread string, at graph.CommitID) (graph.Snapshot, []graph.Delta, error) {
	var snapshot graph.Snapshot
	var found []graph.Delta
	err := s.read(ctx, func(tx pgx.Tx) error {
		snapshot, found = graph.Snapshot{}, nil
		thread, newest, err := find(ctx, tx, thread, at)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, fromSnapshot, thread, int64(newest))
		if err != nil {
			return err
		}
		var id graph.CommitID
		var saved time.Time
		var packed []byte
		var changes string
		_, err = pgx.ForEachRow(rows, []any{&id, &saved, &packed, &changes}, func() (err error) {
			if len(packed) > 0 {
				snapshot.At = id
				snapshot.Body, err = stored.UnpackSnapshot(packed)
				return err
			}
			deltas, err := decodeDeltas(changes, saved)
			if err != nil {
				return fmt.Errorf("commit %d: %w", id, err)
			}
			found = append(found, deltas...)
			return nil
		})
		return err
	})
	if err != nil {
		return graph.Snapshot{}, nil, fmt.Errorf("load: %w", err)
	}
	return snapshot, found, nil
}

// Walk implements [graph.Store]. It reads in parts and uses no connection while the caller
// handles a commit. If the thread is pruned or deleted during the walk, the walk ends with
// [graph.ErrNotFound].
func (s *Store) Walk(ctx context.Context, thread string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return stored.WalkInParts(from, func(from graph.CommitID, count int) (part []graph.Commit, err error) {
		err = s.read(ctx, func(tx pgx.Tx) error {
			id, at, err := find(ctx, tx, thread, from)
			if err == nil {
				part, err = commits(ctx, tx, thread, "$1", int64(at), count, id)
			}
			return err
		})
		return part, err
	})
}

// commits returns up to count commits of a thread, newest first. The row of the thread is an
// expression over argument 1.
func commits(ctx context.Context, q queryer, thread, row string, from int64, count int, arg any, more ...any) ([]graph.Commit, error) {
	rows, err := q.Query(ctx, `SELECT id, parent, run, step, source, status, time, graph, frontier, error, changes
		FROM history WHERE thread = `+row+` AND id <= $2 ORDER BY id DESC LIMIT $3`, append([]any{arg, from, count}, more...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (graph.Commit, error) {
		c := graph.Commit{Thread: thread}
		var frontier, changes string
		err := row.Scan(&c.ID, &c.Parent, &c.Run, &c.Step, &c.Source, &c.Status, &c.Time, &c.Fingerprint, &frontier, &c.Error, &changes)
		if err == nil && frontier != "" {
			err = json.Unmarshal([]byte(frontier), &c.Frontier)
		}
		if err == nil {
			c.Time = c.Time.UTC()
			c.Deltas, err = decodeDeltas(changes, c.Time)
		}
		if err != nil {
			return c, fmt.Errorf("commit %d: %w", c.ID, err)
		}
		return c, nil
	})
}

// Pending implements [graph.Store]. A thread that does not exist has none.
func (s *Store) Pending(ctx context.Context, thread string) ([]graph.TaskResult, error) {
	results, err := get(ctx, s, func() ([]graph.TaskResult, error) {
		if _, _, err := find(ctx, s.pool, thread, 0); graph.OwnerOf(ctx) != "" && err != nil {
			return nil, stored.NilIfNotFound(err)
		}
		return pending(ctx, s.pool, thread)
	})
	if err != nil {
		return nil, fmt.Errorf("pending results of thread %q: %w", thread, err)
	}
	return results, nil
}

func pending(ctx context.Context, q queryer, thread string) ([]graph.TaskResult, error) {
	rows, err := q.Query(ctx, `SELECT p.run, p.step, p.attempt, p.changes
		FROM pending p JOIN threads t ON t.id = p.thread WHERE t.name = $1 ORDER BY p.rank, p.id`, thread)
	if err != nil {
		return nil, err
	}
	results, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r graph.TaskResult, err error) {
		var changes string
		if err := row.Scan(&r.Run, &r.Step, &r.Attempt, &changes); err != nil {
			return r, err
		}
		deltas, err := decodeDeltas(changes, time.Time{})
		if err == nil && len(deltas) != 1 {
			err = fmt.Errorf("changes: %d deltas of a pending result, want one", len(deltas))
		}
		if err == nil {
			r.Delta = deltas[0]
		}
		return r, err
	})
	if len(results) == 0 {
		return nil, err
	}
	return results, err
}

// FindRun returns the thread of a run and the newest commit of the run;
// [graph.ErrNotFound] if no commit belongs to it. If several threads have the run, it
// returns the thread where the run ended first: forks are newer.
func (s *Store) FindRun(ctx context.Context, run string) (thread string, last graph.CommitID, err error) {
	err = s.do(ctx, func() error {
		return s.pool.QueryRow(ctx, `SELECT t.name, (SELECT max(id) FROM entries WHERE thread = c.thread AND id < coalesce(
				(SELECT min(id) FROM entries n WHERE n.thread = c.thread AND n.id > c.last AND NOT n.same), $2)) AS newest
			FROM (SELECT thread, max(id) AS last FROM entries WHERE run = $1 AND NOT same GROUP BY thread) c JOIN threads t ON t.id = c.thread
			WHERE $3 IN ('', t.owner) ORDER BY 2 LIMIT 1`, run, int64(math.MaxInt64), graph.OwnerOf(ctx)).Scan(&thread, &last)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = stored.NotFound("run %q", run)
	}
	return thread, last, err
}

// Snapshots returns the commits of a thread that have a snapshot, oldest first.
func (s *Store) Snapshots(ctx context.Context, thread string) ([]graph.CommitID, error) {
	return get(ctx, s, func() ([]graph.CommitID, error) {
		return column[graph.CommitID](ctx, s.pool, `SELECT c.id FROM threads t JOIN entries c ON c.thread = t.id
			WHERE t.name = $1 AND $2 IN ('', t.owner) AND c.snapshot <> '' ORDER BY c.id`, thread, graph.OwnerOf(ctx))
	})
}

// get runs a query as [Store.do] does.
func get[T any](ctx context.Context, s *Store, f func() (T, error)) (value T, err error) {
	err = s.do(ctx, func() (err error) {
		value, err = f()
		return err
	})
	return value, err
}

// column returns the only column of a query.
func column[T any](ctx context.Context, q queryer, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
