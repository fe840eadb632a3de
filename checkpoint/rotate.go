package checkpoint

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Rotate encrypts every record that is not encrypted with the current key, including
// unencrypted records. It returns the number of commits and pending results that it changed.
// It works in short transactions concurrently with other writers, and can be interrupted and
// repeated. Afterwards the old keys are no longer needed. Other processes must already write
// with the new key. Without keys the error matches [ErrKey].
func (s *SQLite) Rotate(ctx context.Context) (int, error) {
	if s.sealer == nil {
		return 0, fmt.Errorf("rotate: %w", &KeyError{Path: s.path, Reason: "it was opened without keys: give them"})
	}
	all := 0
	for after := int64(-1); ; {
		next, n := after, 0
		err := s.db.Write(ctx, func(tx *sqlite.Tx) (err error) {
			next, n, err = s.rotateCommits(tx, after)
			return err
		})
		after = next
		if err == nil {
			all += n
		}
		if err != nil {
			return all, fmt.Errorf("rotate: %w", err)
		}
		if n == 0 {
			break
		}
	}
	current := s.sealer.ring.Current
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		n, err := s.rotatePending(tx)
		if err != nil {
			return err
		}
		all += n
		if err := putMeta(tx, sealingKey, sealingAll); err != nil {
			return err
		}
		return tx.Do(`DELETE FROM meta WHERE substr(key, 1, 4) = '`+keyPrefix+`' AND key <> ?`, keyPrefix+current)
	})
	if err != nil {
		return all, fmt.Errorf("rotate: %w", err)
	}
	return all, s.Flush(ctx)
}

// stale is an SQL condition for a column that is not under the key with the prefix
// of argument 1.
func stale(column string) string {
	return ` (` + column + ` IS NOT NULL AND substr(CAST(` + column + ` AS BLOB), 1, length(?1)) <> ?1) `
}

// rotateStep is the maximum number of commits in one transaction of Rotate.
const rotateStep = 128

// rotateCommits encrypts the next commits that need it, after an id, and returns
// the last id and how many there were.
func (s *SQLite) rotateCommits(tx *sqlite.Tx, after int64) (last int64, n int, err error) {
	ids, err := texts(tx, `SELECT CAST(c.id AS TEXT) FROM commits c WHERE c.id > ?2 AND (`+stale(`c.error`)+`
		OR EXISTS(SELECT 1 FROM deltas d WHERE d.at = c.id AND (`+stale(`d.body`)+`OR`+stale(`d.error`)+`OR`+stale(`d.notes`)+`))
		OR EXISTS(SELECT 1 FROM snapshots s WHERE s.at = c.id AND`+stale(`s.body`)+`)) ORDER BY c.id LIMIT ?3`,
		sealedPrefix(s.sealer.ring.Current), after, rotateStep)
	if err != nil {
		return after, 0, err
	}
	for _, text := range ids {
		if last, err = strconv.ParseInt(text, 10, 64); err != nil {
			return after, 0, err
		}
		if err := s.rotateCommit(tx, last); err != nil {
			return after, 0, fmt.Errorf("commit %d: %w", last, err)
		}
	}
	return last, len(ids), nil
}

func (s *SQLite) rotateCommit(tx *sqlite.Tx, at int64) error {
	var thread int64
	var name string
	if err := tx.QueryRow(`SELECT t.id, t.name FROM commits c JOIN threads t ON t.id = c.thread WHERE c.id = ?`, at).Scan(&thread, &name); err != nil {
		return err
	}
	commits, err := s.walk(tx, name, thread, graph.CommitID(at), 1)
	if err != nil {
		return err
	}
	e, err := newEntry(graph.Batch{Commit: commits[0]})
	if err != nil {
		return err
	}
	var packed []byte
	switch err := tx.QueryRow(`SELECT body FROM snapshots WHERE at = ?`, at).Scan(&packed); {
	case err == nil:
		if e.snapshot, err = s.sealer.open(snapshotPlace(name, at), packed); err != nil {
			return err
		}
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	problem, err := s.sealer.seal(errorPlace(name, at), []byte(e.Error))
	if err != nil {
		return err
	}
	if err := tx.Do(`UPDATE commits SET error = ? WHERE id = ?`, problem, at); err != nil {
		return err
	}
	if err := dropContent(tx, `= ?`, at); err != nil {
		return err
	}
	return s.insertContent(tx, e, at)
}

func (s *SQLite) rotatePending(tx *sqlite.Tx) (n int, err error) {
	names, err := texts(tx, `SELECT DISTINCT t.name FROM pending p JOIN threads t ON t.id = p.thread
		WHERE`+stale(`p.body`)+`OR`+stale(`p.error`)+`OR`+stale(`p.notes`), sealedPrefix(s.sealer.ring.Current))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		results, err := s.pending(tx, name)
		if err != nil {
			return 0, err
		}
		var thread int64
		if err := tx.QueryRow(`SELECT id FROM threads WHERE name = ?`, name).Scan(&thread); err != nil {
			return 0, err
		}
		if err := tx.Do(`DELETE FROM pending WHERE thread = ?`, thread); err != nil {
			return 0, err
		}
		for _, r := range results {
			if err := s.insertPending(tx, thread, name, r); err != nil {
				return 0, err
			}
			n++
		}
	}
	return n, nil
}
