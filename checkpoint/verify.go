package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
	"example.com/ragflow/internal/sqlite"
)

// Verify checks threads, or all of them and the file if none is named: that each
// commit follows its parent, everything can be decoded, counts are right, and
// SQLite finds no damage. It changes nothing. An error means that the check was not
// possible, [graph.ErrNotFound] that a thread is unknown. The caller must check the content
// of bodies.
func (s *SQLite) Verify(ctx context.Context, threads ...string) ([]stored.Finding, error) {
	var found []stored.Finding
	if len(threads) == 0 {
		lines, err := s.db.Check(ctx)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		for _, l := range lines {
			found = append(found, stored.Finding{Problem: l})
		}
		err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
			threads, err = column[string](tx, `SELECT name FROM threads ORDER BY name`)
			return err
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	for _, name := range threads {
		var of []stored.Finding
		err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
			of, err = s.verify(tx, name)
			return err
		})
		if found = append(found, of...); errors.Is(err, ErrDamaged) {
			found, err = append(found, stored.Finding{Thread: name, Problem: err.Error()}), nil
		}
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return found, nil
}

// problems finds what is wrong with the rows of a thread, by commit; 0 for the thread itself.
const problems = `WITH c AS (
	SELECT *, coalesce(parent, 0) AS follows, coalesce(lag(id) OVER (ORDER BY id), 0) AS before FROM commits WHERE thread = ?1
), d AS (
	SELECT at, count(*) AS count, max(n) + 1 AS span, max(rank < before) AS disorder
	FROM (SELECT *, lag(rank) OVER (PARTITION BY at ORDER BY n) AS before FROM deltas WHERE at IN (SELECT id FROM c)) GROUP BY at
), t AS (
	SELECT coalesce(t.first, 0) AS first, coalesce(t.head, 0) AS head, t.inputs, t.bytes, x.* FROM threads t,
		(SELECT coalesce(min(id), 0) AS oldest, coalesce(max(id), 0) AS newest, ` + turnsOf + ` AS turns, coalesce(sum(bytes), 0) AS size FROM c) x
	WHERE t.id = ?1
)
SELECT 0, printf('the head is commit %d, the newest commit is %d', head, newest) FROM t WHERE head <> newest
UNION ALL SELECT 0, printf('the first commit is %d, the oldest commit is %d', first, oldest) FROM t WHERE first <> oldest
UNION ALL SELECT 0, printf('%d turns are counted, the log holds %d', inputs, turns) FROM t WHERE inputs <> turns
UNION ALL SELECT 0, printf('%d bytes are counted, the log holds %d', bytes, size) FROM t WHERE bytes <> size
UNION ALL SELECT id, printf('its parent is commit %d, the commit before it is %d', follows, before) FROM c WHERE follows <> before
UNION ALL SELECT id, printf('source "%s", status "%s", step %d', source, status, step) FROM c WHERE source = '' OR status = '' OR step < 0
UNION ALL SELECT at, 'a delta is missing' FROM d WHERE count <> span
UNION ALL SELECT at, 'its deltas are out of order' FROM d WHERE disorder`

func (s *SQLite) verify(tx *sqlite.Tx, name string) (found []stored.Finding, err error) {
	find := func(at graph.CommitID, problem string) {
		found = append(found, stored.Finding{Thread: name, Commit: at, Problem: problem})
	}
	ids, err := column[int64](tx, `SELECT id FROM threads WHERE name = ?`, name)
	if err == nil && len(ids) == 0 {
		err = stored.NotFound("thread %q", name)
	}
	if err != nil {
		return nil, err
	}
	for row := range tx.Query(problems, ids[0]) {
		var at graph.CommitID
		var problem string
		if err := row.Scan(&at, &problem); err != nil {
			return found, err
		}
		find(at, problem)
	}
	for row := range tx.Query(`SELECT c.id, c.bytes, s.body FROM commits c LEFT JOIN snapshots s ON s.at = c.id WHERE thread = ? ORDER BY c.id`, ids[0]) {
		var at graph.CommitID
		var size int
		var packed []byte
		if err := row.Scan(&at, &size, &packed); err != nil {
			return found, err
		}
		commits, err := s.walk(tx, name, ids[0], at, 1)
		if err == nil && commits[0].BodyBytes() != size {
			err = fmt.Errorf("its updates have %d bytes, %d were saved", commits[0].BodyBytes(), size)
		}
		if err == nil && packed != nil {
			_, err = s.unpack(name, at, packed)
		}
		if errors.Is(err, ErrDamaged) {
			return found, err
		}
		if err != nil {
			find(at, err.Error())
		}
	}
	_, err = s.pending(tx, name)
	if err != nil && !errors.Is(err, ErrDamaged) {
		find(0, err.Error())
		err = nil
	}
	return found, err
}
