package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
)

// problems finds what is wrong with the rows of a thread, by commit; 0 for the thread.
const problems = `WITH c AS (
	SELECT id, parent, bytes, source, coalesce(lag(id) OVER (ORDER BY id), 0) AS before FROM commits WHERE thread = $1
), d AS (
	SELECT at, count(*) AS count, max(n) + 1 AS span, coalesce(sum(octet_length(body)), 0) AS bytes,
		bool_or(rank < before) AS disorder
	FROM (SELECT *, lag(rank) OVER (PARTITION BY at ORDER BY n) AS before FROM deltas WHERE thread = $1) x GROUP BY at
), t AS (
	SELECT *, (SELECT coalesce(max(id), 0) FROM c) AS newest, (SELECT ` + turnsOf + ` FROM c) AS turns, (SELECT coalesce(sum(bytes), 0) FROM c) AS size
	FROM threads WHERE id = $1
)
SELECT 0 AS at, format('the head is commit %s, the newest commit is %s', head, newest) AS problem FROM t WHERE head <> newest
UNION ALL SELECT 0, format('%s turns are counted, the log holds %s', inputs, turns) FROM t WHERE inputs <> turns
UNION ALL SELECT 0, format('%s bytes are counted, the log holds %s', bytes, size) FROM t WHERE bytes <> size
UNION ALL SELECT id, format('its parent is commit %s, the commit before it is %s', parent, before) FROM c WHERE parent <> before
UNION ALL SELECT at, 'a delta is missing' FROM d WHERE count <> span
UNION ALL SELECT at, 'its deltas are out of order' FROM d WHERE disorder
UNION ALL SELECT at, 'deltas without their commit' FROM d WHERE NOT EXISTS (SELECT FROM c WHERE c.id = d.at)
UNION ALL SELECT at, 'a snapshot without its commit' FROM snapshots s WHERE thread = $1 AND NOT EXISTS (SELECT FROM c WHERE c.id = s.at)
UNION ALL SELECT c.id, format('its updates have %s bytes, %s were saved', coalesce(d.bytes, 0), c.bytes)
	FROM c LEFT JOIN d ON d.at = c.id WHERE c.bytes <> coalesce(d.bytes, 0)
ORDER BY 1, 2`

// Verify checks threads, or all of them if none is named: that each commit follows its
// parent, everything can be decoded, and counts are right. It changes nothing. An error
// means that the check was not possible, [graph.ErrNotFound] that a thread is unknown. The
// caller must check the content of bodies; the server's pg_amcheck checks its files.
func (s *Store) Verify(ctx context.Context, threads ...string) (found []graph.Finding, err error) {
	if len(threads) == 0 {
		err := s.do(ctx, func() (err error) {
			threads, err = column[string](ctx, s.pool, `SELECT name FROM threads ORDER BY name`)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	for _, name := range threads {
		var of []graph.Finding
		err := s.read(ctx, func(tx pgx.Tx) (err error) {
			of, err = verify(ctx, tx, name)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		found = append(found, of...)
	}
	return found, nil
}

func verify(ctx context.Context, tx pgx.Tx, name string) (found []graph.Finding, err error) {
	var id int64
	err = tx.QueryRow(ctx, `SELECT id FROM threads WHERE name = $1`, name).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound("thread %q", name)
	}
	if err != nil {
		return nil, err
	}
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
	ids, err := column[graph.CommitID](ctx, tx, `SELECT id FROM commits WHERE thread = $1 ORDER BY id`, id)
	if err != nil {
		return nil, err
	}
	for _, at := range ids { // one commit at a time, so that the error names an unreadable commit
		_, err := walk(ctx, tx, name, id, at, 1)
		if err == nil {
			err = verifySnapshot(ctx, tx, id, at)
		}
		if tx.Conn().IsClosed() || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			found = append(found, graph.Finding{Thread: name, Commit: at, Problem: err.Error()})
		}
	}
	if _, err := pending(ctx, tx, name); err != nil {
		if tx.Conn().IsClosed() || ctx.Err() != nil {
			return nil, err
		}
		found = append(found, graph.Finding{Thread: name, Problem: err.Error()})
	}
	return found, nil
}

// verifySnapshot decodes the snapshot of a commit, if it has one.
func verifySnapshot(ctx context.Context, q queryer, thread int64, at graph.CommitID) error {
	packed, err := column[[]byte](ctx, q, `SELECT body FROM snapshots WHERE thread = $1 AND at = $2`, thread, int64(at))
	for _, p := range packed {
		if _, err := unpack(p); err != nil {
			return err
		}
	}
	return err
}
