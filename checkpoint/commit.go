package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
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
	added := s.newEntry(b, 0)
	var e entry
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		e = added
		if err := s.advance(tx, l, &e); err != nil {
			return err
		}
		if err := s.insert(tx, &e); err != nil || b.KeepPending {
			return err
		}
		return tx.Do(`DELETE FROM pending WHERE thread = ?`, e.thread)
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	s.cache.saved(l, e)
	return e.ID, nil
}

// advanceHead begins a statement that moves the head of a thread to the next ID; moveThread also updates the
// lists of threads, whose indexes cost as much as the rest.
const (
	advanceHead = `UPDATE threads SET head = 1 + ` + lastCommit + `, first = coalesce(first, 1 + ` + lastCommit + `), inputs = inputs + ?4, bytes = bytes + ?5,
		until = CASE WHEN ?6 THEN NULL ELSE ?7 + ttl END, holder = CASE WHEN ?6 THEN '' ELSE holder END, touched = ?8`
	moveThread = advanceHead + `, active = 1 + ` + lastCommit + `, status = ?9`
)

// advance moves the head of a thread to the next ID, if the lease and the parent are right.
func (s *SQLite) advance(tx *sqlite.Tx, l graph.Lease, e *entry) error {
	was, known := s.cache.head(l, e.Parent)
	if !known {
		h, err := held(tx, l)
		if err == nil && h.head != 0 {
			// With a join SQLite would prepare the statement again each time.
			err = tx.QueryRow(`SELECT `+runOf+`, (SELECT status FROM kinds WHERE id = c.kind) FROM commits c WHERE c.id = ?`, int64(h.head)).Scan(&was.run, &was.status)
		}
		if err != nil {
			return err
		}
		was.thread = h.thread
	}
	e.thread, e.sameRun = was.thread, e.Parent != 0 && was.run == e.Run
	update, args := advanceHead, []any{
		e.thread, l.Token, int64(e.Parent), e.Source.Turns(), e.BodyBytes(), e.Release, s.now(), e.Time.UnixMicro(),
	}
	if stored.Moves(e.Commit, was.status) {
		update, args = moveThread, append(args, string(e.Status))
	}
	moved, err := tx.Exec(update+` WHERE id = ?1 AND token = ?2 AND until IS NOT NULL AND coalesce(head, 0) = ?3`, args...)
	if err != nil {
		return err
	}
	switch n, err := moved.RowsAffected(); {
	case err != nil:
		return err
	case n == 1:
		return s.describe(tx, e.thread, l.Thread, e.facts, true)
	}
	h, err := held(tx, l)
	if err == nil {
		err = stored.Conflict(l.Thread, h.head, e.Parent)
	}
	return err
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

// entry is a commit that is saved, with its packed snapshot.
type entry struct {
	graph.Batch
	thread  int64
	facts   graph.ThreadFacts // see [stored.FactsOf]
	text    string
	sameRun bool // as the commit before
	kind    kind // set by insert, with its id
	kindID  int64
}

func (s *SQLite) newEntry(b graph.Batch, thread int64) entry {
	e := entry{Batch: b, thread: thread}
	e.facts, e.text = stored.FactsOf(s.texts, b.Commit)
	return e
}

// insert saves an entry. If it has no ID, it gets that of the thread's head.
func (s *SQLite) insert(tx *sqlite.Tx, e *entry) (err error) {
	if s.sealer != nil && e.ID == 0 { // the places contain the ID
		if err := tx.QueryRow(`SELECT head FROM threads WHERE id = ?`, e.thread).Scan(&e.ID); err != nil {
			return err
		}
	}
	var run any
	if !e.sameRun {
		run = e.Run
	}
	var first columns
	if len(e.Deltas) > 0 {
		if first, err = s.encode(e.Deltas[0], s.sealer.deltaPlace(e.Thread, e.ID, 0), e.Time); err != nil {
			return err
		}
	}
	var snapshot any
	if e.Snapshot != nil {
		if snapshot, err = s.sealer.sealBytes(s.sealer.snapshotPlace(e.Thread, e.ID), e.Snapshot); err != nil {
			return err
		}
	}
	text, err := s.sealer.seal(s.sealer.textPlace(e.Thread, e.ID), "", []byte(e.text))
	if err != nil {
		return err
	}
	problem, err := s.sealer.seal(s.sealer.errorPlace(e.Thread, e.ID), "", []byte(e.Error))
	if err == nil {
		e.kind, err = kindOf(e.Commit)
	}
	if err == nil {
		e.kindID, err = s.cache.kindID(tx, e.kind)
	}
	if err != nil {
		return err
	}
	saved, err := tx.Exec(`INSERT INTO commits SELECT coalesce(nullif(?2, 0), head), nullif(?3, 0), id, ?4, ?5, ?6, ?7, ?8, ?9,
			?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17 FROM threads WHERE id = ?1`,
		e.thread, int64(e.ID), int64(e.Parent), e.kindID, run, e.Step, e.Time.UnixMicro(), e.BodyBytes(), problem,
		len(e.Deltas), first.start, first.duration, first.notes, first.problem, text, first.body, snapshot)
	if err != nil {
		return err
	}
	at, err := saved.LastInsertId()
	if err != nil {
		return err
	}
	e.ID = graph.CommitID(at)
	for n := 1; n < len(e.Deltas); n++ {
		d := e.Deltas[n]
		c, err := s.encode(d, s.sealer.deltaPlace(e.Thread, e.ID, n), e.Time)
		if err != nil {
			return err
		}
		if err := tx.Do(`INSERT INTO deltas(at, n, rank, path, node, body, problem, start, duration, notes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			at, n, d.Rank, d.Path, d.Node, c.body, c.problem, c.start, c.duration, c.notes); err != nil {
			return err
		}
	}
	return nil
}

func (s *SQLite) insertPending(tx *sqlite.Tx, thread int64, name string, r graph.TaskResult) error {
	d := r.Delta
	c, err := s.encode(d, s.sealer.pendingPlace(name, r), time.Unix(0, 0))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO pending(thread, run, step, attempt, rank, path, node, body, problem, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		thread, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, c.body, c.problem, c.start, c.duration, c.notes)
}

// columns are the encoded columns of a delta. Body, problem and notes may be encrypted.
type columns struct{ body, problem, notes, start, duration any }

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
	if c.body, err = s.sealer.seal(place, " body", d.Body); err != nil {
		return c, err
	}
	if c.problem, err = s.sealer.seal(place, " error", []byte(d.Error)); err != nil {
		return c, err
	}
	c.notes, err = s.sealer.seal(place, " notes", notes)
	return c, err
}
