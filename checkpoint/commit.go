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
	if err == nil {
		b.Snapshot, err = stored.PackSnapshot(b.Snapshot)
	}
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
		if err := s.insert(tx, b, h.thread, at); err != nil || b.KeepPending {
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

// insert saves a commit with its deltas and its packed snapshot.
func (s *SQLite) insert(tx *sqlite.Tx, b graph.Batch, thread, at int64) error {
	var frontier any
	if len(b.Frontier) > 0 {
		text, err := json.Marshal(b.Frontier)
		if err != nil {
			return err
		}
		frontier = string(text)
	}
	problem, err := s.sealer.seal(errorPlace(b.Thread, at), []byte(b.Error))
	if err != nil {
		return err
	}
	if err := tx.Do(`INSERT INTO commits(id, parent, thread, run, step, source, status, time, graph, frontier, bytes, error)
		VALUES(?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, int64(b.Parent), thread, b.Run, b.Step, string(b.Source), string(b.Status), b.Time.UnixMicro(),
		b.Fingerprint, frontier, b.BodyBytes(), problem); err != nil {
		return err
	}
	return s.insertContent(tx, b, at)
}

// insertContent saves the deltas and the packed snapshot of a commit.
func (s *SQLite) insertContent(tx *sqlite.Tx, b graph.Batch, at int64) error {
	for n, d := range b.Deltas {
		c, err := s.encode(d, deltaPlace(b.Thread, at, n), b.Time)
		if err != nil {
			return err
		}
		if err := tx.Do(`INSERT INTO deltas(at, n, rank, path, node, body, error, start, duration, notes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			at, n, d.Rank, d.Path, d.Node, c.body, c.error, c.start, c.duration, c.notes); err != nil {
			return err
		}
	}
	if b.Snapshot == nil {
		return nil
	}
	packed, err := s.sealer.sealBytes(snapshotPlace(b.Thread, at), b.Snapshot)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO snapshots(at, body) VALUES(?, ?)`, at, packed)
}

func (s *SQLite) insertPending(tx *sqlite.Tx, thread int64, name string, r graph.TaskResult) error {
	d := r.Delta
	c, err := s.encode(d, pendingPlace(name, r), time.Unix(0, 0))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO pending(thread, run, step, attempt, rank, path, node, body, error, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		thread, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, c.body, c.error, c.start, c.duration, c.notes)
}

// columns are the encoded columns of a delta. Body, error and notes may be encrypted.
type columns struct{ body, error, notes, start, duration any }

// encode returns the columns of a delta. The start of a task is stored relative to base. A start too
// far from it stays in the notes.
func (s *SQLite) encode(d graph.Delta, place string, base time.Time) (c columns, err error) {
	n := d.Notes
	if offset := n.Start.Sub(base); !n.Start.IsZero() && base.Add(offset).Equal(n.Start) {
		c.start, n.Start = offset.Nanoseconds(), time.Time{}
	}
	if n.Duration != 0 {
		c.duration, n.Duration = n.Duration.Nanoseconds(), 0
	}
	var notes []byte
	if !reflect.ValueOf(&n).Elem().IsZero() {
		if notes, err = json.Marshal(n); err != nil {
			return c, fmt.Errorf("notes of node %q: %w", d.Node, err)
		}
	}
	if c.body, err = s.sealer.seal(place+" body", d.Body); err != nil {
		return c, err
	}
	if c.error, err = s.sealer.seal(place+" error", []byte(d.Error)); err != nil {
		return c, err
	}
	c.notes, err = s.sealer.seal(place+" notes", notes)
	return c, err
}
