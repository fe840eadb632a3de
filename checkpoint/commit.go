package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
	"example.com/ragflow/internal/sqlite"
)

// Commit implements [graph.Store]. It also renews the lease. A body that is not
// JSON in UTF-8 is rejected with a [graph.EntryError]; invalid UTF-8 in an Error is
// replaced.
func (s *SQLite) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := stored.NormalizeBatch(l.Thread, b, s.clock())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	e, err := newEntry(b)
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	var at int64
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		h, err := held(tx, l)
		if err != nil {
			return err
		}
		if h.head != b.Parent {
			return stored.Conflict(l.Thread, h.head, b.Parent)
		}
		at = h.last + 1
		if err := tx.Do(`UPDATE threads SET head = ?1, first = coalesce(first, ?1), inputs = inputs + ?2, bytes = bytes + ?3,
			until = CASE WHEN ?4 THEN NULL ELSE ?5 + ttl END, owner = CASE WHEN ?4 THEN '' ELSE owner END WHERE id = ?6`,
			at, b.Source.Turns(), b.BodyBytes(), b.Release, s.now(), h.thread); err != nil {
			return err
		}
		if err := s.insert(tx, e, h.thread, at, b.Parent); err != nil || b.KeepPending {
			return err
		}
		return tx.Do(`DELETE FROM pending WHERE thread = ?`, h.thread)
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return graph.CommitID(at), nil
}

// Pend implements [graph.Store]. It also renews the lease. If the same attempt is
// saved twice, the first result stays.
func (s *SQLite) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := stored.NormalizeResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		h, err := held(tx, l)
		if err != nil {
			return err
		}
		if err := tx.Do(`UPDATE threads SET until = ? + ttl WHERE id = ?`, s.now(), h.thread); err != nil {
			return err
		}
		return s.insertPending(tx, h.thread, l.Thread, r)
	})
	if err != nil {
		return fmt.Errorf("pend: %w", err)
	}
	return nil
}

// entry is a commit that is ready to be inserted.
type entry struct {
	graph.Commit
	frontier any
	deltas   []deltaRow
	snapshot []byte // deflated; nil if there is none
}

// deltaRow is a delta with the columns of its notes.
type deltaRow struct {
	graph.Delta
	start, duration any
	notes           []byte
}

func newEntry(b graph.Batch) (*entry, error) {
	e := &entry{Commit: b.Commit, deltas: make([]deltaRow, len(b.Deltas))}
	if len(b.Frontier) > 0 {
		text, err := json.Marshal(b.Frontier)
		if err != nil {
			return nil, err
		}
		e.frontier = string(text)
	}
	for i, d := range b.Deltas {
		var err error
		if e.deltas[i], err = newDeltaRow(d, b.Time); err != nil {
			return nil, fmt.Errorf("delta %d: %w", i, err)
		}
	}
	var err error
	e.snapshot, err = stored.PackSnapshot(b.Snapshot)
	return e, err
}

// newDeltaRow stores the start of a task relative to base. A start too far from it
// stays in the notes.
func newDeltaRow(d graph.Delta, base time.Time) (deltaRow, error) {
	row, n := deltaRow{Delta: d}, d.Notes
	if offset := n.Start.Sub(base); !n.Start.IsZero() && base.Add(offset).Equal(n.Start) {
		row.start, n.Start = offset.Nanoseconds(), time.Time{}
	}
	if n.Duration != 0 {
		row.duration, n.Duration = n.Duration.Nanoseconds(), 0
	}
	if reflect.ValueOf(&n).Elem().IsZero() {
		return row, nil
	}
	var err error
	if row.notes, err = json.Marshal(n); err != nil {
		return row, fmt.Errorf("notes of node %q: %w", d.Node, err)
	}
	return row, nil
}

// insert saves the rows of a commit.
func (s *SQLite) insert(tx *sqlite.Tx, e *entry, thread, at int64, parent graph.CommitID) error {
	problem, err := s.sealer.seal(errorPlace(e.Thread, at), []byte(e.Error))
	if err != nil {
		return err
	}
	if err := tx.Do(`INSERT INTO commits(id, parent, thread, run, step, source, status, time, graph, frontier, bytes, error)
		VALUES(?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, int64(parent), thread, e.Run, e.Step, string(e.Source), string(e.Status), e.Time.UnixMicro(),
		e.Fingerprint, e.frontier, e.BodyBytes(), problem); err != nil {
		return err
	}
	return s.insertContent(tx, e, at)
}

// insertContent saves the deltas and the snapshot of a commit.
func (s *SQLite) insertContent(tx *sqlite.Tx, e *entry, at int64) error {
	for n, d := range e.deltas {
		t, err := s.sealDelta(d, deltaPlace(e.Thread, at, n))
		if err != nil {
			return err
		}
		if err := tx.Do(`INSERT INTO deltas(at, n, rank, path, node, body, error, start, duration, notes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			at, n, d.Rank, d.Path, d.Node, t.body, t.error, d.start, d.duration, t.notes); err != nil {
			return err
		}
	}
	if e.snapshot == nil {
		return nil
	}
	packed, err := s.sealer.sealBytes(snapshotPlace(e.Thread, at), e.snapshot)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO snapshots(at, body) VALUES(?, ?)`, at, packed)
}

func (s *SQLite) insertPending(tx *sqlite.Tx, thread int64, name string, r graph.TaskResult) error {
	d, err := newDeltaRow(r.Delta, time.Unix(0, 0))
	if err != nil {
		return err
	}
	t, err := s.sealDelta(d, pendingPlace(name, r))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO pending(thread, run, step, attempt, rank, path, node, body, error, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		thread, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, t.body, t.error, d.start, d.duration, t.notes)
}

// sealedDelta holds the columns that may be encrypted.
type sealedDelta struct{ body, error, notes any }

func (s *SQLite) sealDelta(d deltaRow, place string) (t sealedDelta, err error) {
	if t.body, err = s.sealer.seal(place+" body", d.Body); err != nil {
		return t, err
	}
	if t.error, err = s.sealer.seal(place+" error", []byte(d.Error)); err != nil {
		return t, err
	}
	t.notes, err = s.sealer.seal(place+" notes", d.notes)
	return t, err
}
