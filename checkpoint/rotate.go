package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// Rotate encrypts every record that is not encrypted with the current key, including
// unencrypted records. It returns the number of commits and pending results of the threads that it changed.
// It works thread by thread concurrently with other writers, and can be interrupted and
// repeated. Afterwards the old keys are no longer needed. Other processes must already write
// with the new key. Without keys the error matches [ErrKey].
func (s *SQLite) Rotate(ctx context.Context) (int, error) {
	if s.sealer == nil {
		return 0, fmt.Errorf("%w: the store was opened without keys", ErrKey)
	}
	var names []string
	err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		names, err = column[string](tx, `SELECT name FROM threads`)
		return err
	})
	all := 0
	for _, name := range names {
		n := 0
		err = errors.Join(err, s.db.Write(ctx, func(tx *sqlite.Tx) (err error) {
			n, err = s.rotate(tx, name)
			return err
		}))
		if err != nil {
			return all, fmt.Errorf("rotate thread %q: %w", name, err)
		}
		all += n
	}
	if err == nil {
		err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
			return errors.Join(putMeta(tx, sealingKey, sealingAll),
				tx.Do(`DELETE FROM meta WHERE substr(key, 1, 4) = '`+keyPrefix+`' AND key <> ?`, keyPrefix+s.sealer.Current()))
		})
	}
	if err != nil {
		return all, fmt.Errorf("rotate: %w", err)
	}
	return all, s.Flush(ctx)
}

// stale counts the values of a thread, whose id is argument 3, that are not under the key whose prefix is argument 4.
const stale = line + `, c AS (SELECT * FROM commits WHERE id IN (SELECT id FROM line)), d AS (SELECT * FROM deltas WHERE at IN (SELECT id FROM line)),
	p AS (SELECT * FROM pending WHERE thread = ?3), t AS (SELECT * FROM threads WHERE id = ?3), v(value) AS (
	SELECT facts FROM t UNION ALL SELECT text FROM c
	UNION ALL SELECT error FROM c UNION ALL SELECT body FROM c UNION ALL SELECT problem FROM c UNION ALL SELECT notes FROM c UNION ALL SELECT snapshot FROM c
	UNION ALL SELECT body FROM d UNION ALL SELECT problem FROM d UNION ALL SELECT notes FROM d
	UNION ALL SELECT body FROM p UNION ALL SELECT problem FROM p UNION ALL SELECT notes FROM p)
SELECT count(*) FROM v WHERE substr(CAST(value AS BLOB), 1, length(?4)) <> ?4`

// rotate encrypts the records of a thread, unless the current key encrypts all of them, and
// returns how many commits and pending results those are.
func (s *SQLite) rotate(tx *sqlite.Tx, name string) (int, error) {
	var id, head, n int64
	if err := tx.QueryRow(`SELECT coalesce(max(id), 0), coalesce(max(head), 0) FROM threads WHERE name = ?`, name).Scan(&id, &head); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(stale, head, 0, id, seal.Prefix(s.sealer.Current())).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	var commits []graph.Commit
	var err error
	if head != 0 {
		commits, err = s.walk(tx, name, graph.CommitID(head), math.MaxInt32)
	}
	entries := make([]entry, len(commits))
	for i, c := range commits {
		entries[i] = s.newEntry(graph.Batch{Commit: c}, id)
		e := &entries[i]
		e.sameRun = i+1 < len(commits) && c.Run == commits[i+1].Run
		if err == nil {
			e.Snapshot, err = s.packed(tx, c)
		}
	}
	if err == nil {
		err = drop(tx, graph.CommitID(head))
	}
	for i := range entries {
		if err == nil {
			err = s.insert(tx, &entries[i])
		}
	}
	if err != nil {
		return 0, err
	}
	if err := s.rotateFacts(tx, id, name); err != nil {
		return 0, err
	}
	results, err := s.pending(tx, name)
	if err == nil {
		err = tx.Do(`DELETE FROM pending WHERE thread = ?`, id)
	}
	for _, r := range results {
		err = errors.Join(err, s.insertPending(tx, id, name, r))
	}
	return len(commits) + len(results), err
}

// rotateFacts encrypts the facts of a thread again.
func (s *SQLite) rotateFacts(tx *sqlite.Tx, id int64, name string) error {
	place, value := s.sealer.factsPlace(name), any(nil)
	err := tx.QueryRow(`SELECT facts FROM threads WHERE id = ?`, id).Scan(&value)
	var text []byte
	if err == nil {
		text, err = s.sealer.open(place, value)
	}
	if err == nil {
		value, err = s.sealer.seal(place, "", text)
	}
	if err != nil {
		return err
	}
	return errors.Join(tx.Do(`UPDATE threads SET facts = ? WHERE id = ?`, value, id), tx.Do(`DELETE FROM tags WHERE thread = ?`, id))
}

// packed returns the decrypted snapshot at a commit; nil for none.
func (s *SQLite) packed(tx *sqlite.Tx, c graph.Commit) ([]byte, error) {
	var sealed any
	if err := tx.QueryRow(`SELECT snapshot FROM commits WHERE id = ?`, int64(c.ID)).Scan(&sealed); err != nil {
		return nil, err
	}
	body, err := s.sealer.open(s.sealer.snapshotPlace(c.Thread, c.ID), sealed)
	if err != nil {
		return nil, fmt.Errorf("commit %d: snapshot: %w", c.ID, err)
	}
	return body, nil
}
