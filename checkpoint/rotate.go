package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.com/ragflow/graph"
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
				tx.Do(`DELETE FROM meta WHERE substr(key, 1, 4) = '`+keyPrefix+`' AND key <> ?`, keyPrefix+s.sealer.ring.Current))
		})
	}
	if err != nil {
		return all, fmt.Errorf("rotate: %w", err)
	}
	return all, s.Flush(ctx)
}

// stale counts the values of a thread that are not under the key whose prefix is argument 2.
const stale = `WITH c AS (SELECT id, error FROM commits WHERE thread = ?1), d AS (SELECT * FROM deltas WHERE at IN (SELECT id FROM c)),
	p AS (SELECT * FROM pending WHERE thread = ?1), v(value) AS (
	SELECT error FROM c UNION ALL SELECT body FROM snapshots WHERE at IN (SELECT id FROM c)
	UNION ALL SELECT body FROM d UNION ALL SELECT error FROM d UNION ALL SELECT notes FROM d
	UNION ALL SELECT body FROM p UNION ALL SELECT error FROM p UNION ALL SELECT notes FROM p)
SELECT count(*) FROM v WHERE substr(CAST(value AS BLOB), 1, length(?2)) <> ?2`

// rotate encrypts the records of a thread, unless the current key encrypts all of them, and
// returns how many commits and pending results those are.
func (s *SQLite) rotate(tx *sqlite.Tx, name string) (int, error) {
	var id, head, n int64
	if err := tx.QueryRow(`SELECT coalesce(max(id), 0), coalesce(max(head), 0) FROM threads WHERE name = ?`, name).Scan(&id, &head); err != nil {
		return 0, err
	}
	if err := tx.QueryRow(stale, id, sealedPrefix(s.sealer.ring.Current)).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	commits, err := s.walk(tx, name, id, graph.CommitID(head), math.MaxInt32)
	if err != nil {
		return 0, err
	}
	for _, c := range commits {
		if err := s.rotateCommit(tx, graph.Batch{Commit: c}); err != nil {
			return 0, fmt.Errorf("commit %d: %w", c.ID, err)
		}
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

func (s *SQLite) rotateCommit(tx *sqlite.Tx, b graph.Batch) error {
	at := int64(b.ID)
	packed, err := column[[]byte](tx, `SELECT body FROM snapshots WHERE at = ?`, at)
	if err == nil && len(packed) > 0 {
		b.Snapshot, err = s.sealer.open(snapshotPlace(b.Thread, at), packed[0])
	}
	if err != nil {
		return err
	}
	problem, err := s.sealer.seal(errorPlace(b.Thread, at), []byte(b.Error))
	if err == nil {
		err = tx.Do(`UPDATE commits SET error = ? WHERE id = ?`, problem, at)
	}
	if err == nil {
		err = dropContent(tx, `= ?`, at)
	}
	if err != nil {
		return err
	}
	return s.insertContent(tx, b, at)
}
