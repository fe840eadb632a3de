package checkpoint

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// Verify checks threads, or all of them and the file if none is named: that each
// commit follows its parent, everything can be decoded, counts are right, and
// SQLite finds no damage. It changes nothing. An error means that the check was not
// possible, [graph.ErrNotFound] that a thread is unknown. It does not look at owners.
// The caller must check the content
// of bodies.
func (s *SQLite) Verify(ctx context.Context, threads ...string) ([]Finding, error) {
	var found []stored.Finding
	if len(threads) == 0 {
		lines, err := s.db.Check(ctx)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		for _, l := range lines {
			found = append(found, stored.Finding{Problem: l})
		}
		err = s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
			if found, err = strayCommits(tx, found); err == nil {
				threads, err = column[string](tx, `SELECT name FROM threads ORDER BY name`)
			}
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

// strays finds commits that no thread leads to.
const strays = `SELECT coalesce(t.name, ''), c.id FROM commits c LEFT JOIN threads t ON t.id = c.thread
	WHERE c.id NOT IN (SELECT parent FROM commits WHERE parent IS NOT NULL UNION ALL SELECT head FROM threads WHERE head IS NOT NULL)`

func strayCommits(tx *sqlite.Tx, found []stored.Finding) ([]stored.Finding, error) {
	for row := range tx.Query(strays) {
		f := stored.Finding{Problem: "no thread leads to it"}
		if err := row.Scan(&f.Thread, &f.Commit); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

// problems finds what is wrong with the rows of thread ?3, whose head is ?1, by commit; 0 for the thread itself.
const problems = line + `, c AS MATERIALIZED (
	SELECT m.id, m.parent, m.thread, m.step, m.bytes, m.deltas, k.source, k.status FROM line l JOIN commits m ON m.id = l.id JOIN kinds k ON k.id = m.kind
), d AS (
	SELECT at, count(*) + 1 AS count, max(n) + 1 AS span, max(rank < before) AS disorder FROM (
		SELECT at, n, rank, lag(rank, 1, (SELECT k.rank FROM commits c JOIN kinds k ON k.id = c.kind WHERE c.id = at)) OVER (PARTITION BY at ORDER BY n) AS before
		FROM deltas WHERE at IN (SELECT id FROM c)) GROUP BY at
), t AS (
	SELECT coalesce(t.first, 0) AS first, t.inputs, t.bytes, x.* FROM threads t,
		(SELECT coalesce(min(id), 0) AS oldest, ` + turnsOf + ` AS turns, coalesce(sum(bytes), 0) AS size FROM c) x
	WHERE t.id = ?3
)
SELECT 0, printf('the head, commit %d, is missing', head) FROM threads WHERE id = ?3 AND head IS NOT NULL AND NOT EXISTS(SELECT 1 FROM c)
UNION ALL SELECT id, printf('its parent, commit %d, is missing', parent) FROM c WHERE id = (SELECT min(id) FROM c) AND parent IS NOT NULL
UNION ALL SELECT 0, printf('the first commit is %d, the oldest commit is %d', first, oldest) FROM t WHERE first <> oldest
UNION ALL SELECT 0, printf('%d turns are counted, the log holds %d', inputs, turns) FROM t WHERE inputs <> turns
UNION ALL SELECT 0, printf('%d bytes are counted, the log holds %d', bytes, size) FROM t WHERE bytes <> size
UNION ALL SELECT 0, 'the list has another status or time than the head' FROM threads t JOIN commits m ON m.id = t.head JOIN kinds k ON k.id = m.kind
	WHERE t.id = ?3 AND (t.status <> k.status OR t.touched <> m.time)
UNION ALL SELECT id, printf('it belongs to thread %d', thread) FROM c WHERE thread <> ?3
UNION ALL SELECT id, printf('source "%s", status "%s", step %d', source, status, step) FROM c WHERE source = '' OR status = '' OR step < 0
UNION ALL SELECT id, 'a delta is missing' FROM c LEFT JOIN d ON at = id WHERE coalesce(count, min(deltas, 1)) <> deltas OR span <> count
UNION ALL SELECT at, 'its deltas are out of order' FROM d WHERE disorder`

func (s *SQLite) verify(tx *sqlite.Tx, name string) (found []stored.Finding, err error) {
	find := func(at graph.CommitID, problem string) {
		found = append(found, stored.Finding{Thread: name, Commit: at, Problem: problem})
	}
	var id, head int64
	var facts any
	err = tx.QueryRow(`SELECT id, coalesce(head, 0), facts FROM threads WHERE name = ?`, name).Scan(&id, &head, &facts)
	if errors.Is(err, sql.ErrNoRows) {
		err = stored.NotFound("thread %q", name)
	}
	if err != nil {
		return nil, err
	}
	for row := range tx.Query(problems, head, 0, id) {
		var at graph.CommitID
		var problem string
		if err := row.Scan(&at, &problem); err != nil {
			return found, err
		}
		find(at, problem)
	}
	for row := range tx.Query(line+`SELECT c.id, c.bytes, c.snapshot FROM line l JOIN commits c ON c.id = l.id ORDER BY c.id`, head, 0) {
		var at graph.CommitID
		var size int
		var packed []byte
		if err := row.Scan(&at, &size, &packed); err != nil {
			return found, err
		}
		commits, err := s.walk(tx, name, at, 1)
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
	if _, err := s.openFacts(name, facts); err != nil {
		find(0, err.Error())
	}
	_, err = s.pending(tx, name)
	if err != nil && !errors.Is(err, ErrDamaged) {
		find(0, err.Error())
		err = nil
	}
	return found, err
}
