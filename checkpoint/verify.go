package checkpoint

import (
	"context"
	"database/sql"
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
func (s *SQLite) Verify(ctx context.Context, threads ...string) ([]graph.Finding, error) {
	var found []graph.Finding
	if len(threads) == 0 {
		lines, err := s.db.Check(ctx)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		for _, l := range lines {
			found = append(found, graph.Finding{Problem: l})
		}
		err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
			threads, err = texts(tx, `SELECT name FROM threads ORDER BY name`)
			return err
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	for _, name := range threads {
		v := &verifier{s: s, thread: name}
		err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
			v.found = nil
			return v.verify(tx)
		})
		found = append(found, v.found...)
		switch {
		case errors.Is(err, ErrDamaged):
			found = append(found, graph.Finding{Thread: name, Problem: err.Error()})
		case err != nil:
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return found, nil
}

// verifier checks one thread.
type verifier struct {
	s      *SQLite
	thread string
	found  []graph.Finding
}

func (v *verifier) find(at graph.CommitID, format string, args ...any) {
	v.found = append(v.found, graph.Finding{Thread: v.thread, Commit: at, Problem: fmt.Sprintf(format, args...)})
}

func (v *verifier) verify(tx *sqlite.Tx) error {
	var id int64
	var inputs, size, logInputs, logSize int64
	var first, head, oldest, newest sql.NullInt64
	err := tx.QueryRow(`SELECT id, first, head, inputs, bytes FROM threads WHERE name = ?`, v.thread).Scan(&id, &first, &head, &inputs, &size)
	if errors.Is(err, sql.ErrNoRows) {
		return stored.NotFound("thread %q", v.thread)
	}
	if err != nil {
		return err
	}
	if err := tx.QueryRow(`SELECT min(id), max(id), `+turnsOf+`, coalesce(sum(bytes), 0) FROM commits WHERE thread = ?`, id).
		Scan(&oldest, &newest, &logInputs, &logSize); err != nil {
		return err
	}
	switch {
	case head != newest:
		v.find(0, "the head is commit %d, the newest commit is %d", head.Int64, newest.Int64)
	case first != oldest:
		v.find(0, "the first commit is %d, the oldest commit is %d", first.Int64, oldest.Int64)
	}
	if inputs != logInputs {
		v.find(0, "%d turns are counted, the log holds %d", inputs, logInputs)
	}
	if size != logSize {
		v.find(0, "%d bytes are counted, the log holds %d", size, logSize)
	}
	for at := graph.CommitID(newest.Int64); at > 0; {
		// One commit at a time, so that the error names an unreadable commit.
		commits, err := v.s.walk(tx, v.thread, id, at, 1)
		if errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil {
			v.find(at, "%v", err)
		}
		var parent sql.NullInt64
		if err := tx.QueryRow(`SELECT max(id) FROM commits WHERE thread = ? AND id < ?`, id, int64(at)).Scan(&parent); err != nil {
			return err
		}
		if len(commits) == 1 {
			if err := v.commit(tx, commits[0], graph.CommitID(parent.Int64)); err != nil {
				return err
			}
		}
		at = graph.CommitID(parent.Int64)
	}
	if _, err := v.s.pending(tx, v.thread); errors.Is(err, ErrDamaged) {
		return err
	} else if err != nil {
		v.find(0, "%v", err)
	}
	return nil
}

// commit checks one commit; before is the previous commit of the thread.
func (v *verifier) commit(tx *sqlite.Tx, c graph.Commit, before graph.CommitID) error {
	if c.Parent != before {
		v.find(c.ID, "its parent is commit %d, the commit before it is %d", c.Parent, before)
	}
	if c.Source == "" || c.Status == "" || c.Step < 0 {
		v.find(c.ID, "source %q, status %q, step %d", c.Source, c.Status, c.Step)
	}
	var size, count, span int
	if err := tx.QueryRow(`SELECT bytes, (SELECT count(*) FROM deltas WHERE at = ?1), (SELECT coalesce(max(n) + 1, 0) FROM deltas WHERE at = ?1)
		FROM commits WHERE id = ?1`, int64(c.ID)).Scan(&size, &count, &span); err != nil {
		return err
	}
	if count != span {
		v.find(c.ID, "a delta is missing")
	}
	if n := c.BodyBytes(); n != size {
		v.find(c.ID, "its updates have %d bytes, %d were saved", n, size)
	}
	for i := 1; i < len(c.Deltas); i++ {
		if c.Deltas[i].Rank < c.Deltas[i-1].Rank {
			v.find(c.ID, "delta %d is out of order", i)
		}
	}
	var packed []byte
	err := tx.QueryRow(`SELECT body FROM snapshots WHERE at = ?`, int64(c.ID)).Scan(&packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := v.s.unpack(v.thread, c.ID, packed); err != nil {
		v.find(c.ID, "%v", err)
	}
	return nil
}
