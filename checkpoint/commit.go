package checkpoint

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Commit implements [graph.Store]. It renews the lease, too. Bodies that are
// not JSON in UTF-8 are refused with an [graph.EntryError]; bytes of Error that are
// not UTF-8 are replaced.
func (s *SQLite) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := graph.NormalizeBatch(l.Thread, b, s.clock())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	e, err := newEntry(b)
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	var at int64
	var now holding
	err = s.write(ctx, func(w *write) error {
		var was holding
		var err error
		if was, at, err = w.advance(l, b, s.micros()); err != nil {
			return err
		}
		if now, err = w.runOf(was, b.Commit); err != nil {
			return err
		}
		err = e.save(w, now, at)
		if err == nil && now.pending && !b.KeepPending {
			now.pending = false
			_, err = w.Exec(`DELETE FROM pending WHERE thread = ?`, now.thread)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	if b.Release {
		s.holdings.drop(l.Thread)
	} else {
		s.holdings.put(l.Thread, now)
	}
	return graph.CommitID(at), nil
}

// Pend implements [graph.Store]. It renews the lease, too. Of the same attempt
// saved twice the first one stands.
func (s *SQLite) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := graph.NormalizeResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	var h holding
	err = s.write(ctx, func(w *write) error {
		if h, err = w.holding(l); err != nil {
			return err
		}
		moved, err := w.Exec(`UPDATE threads SET until = ? + ttl WHERE id = ? AND token = ? AND until IS NOT NULL`, s.micros(), h.thread, l.Token)
		if err != nil {
			return err
		}
		if n, err := moved.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, superseded(l))
		}
		return w.pend(h.thread, r)
	})
	if err != nil {
		return fmt.Errorf("pend: %w", err)
	}
	h.pending = true
	s.holdings.put(l.Thread, h)
	return nil
}

// write runs fn in a transaction and remembers the names it added.
func (s *SQLite) write(ctx context.Context, fn func(*write) error) error {
	var w *write
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		w = &write{Tx: tx, names: &s.names, holdings: &s.holdings, sealer: s.sealer}
		return fn(w)
	})
	if err == nil {
		w.saved()
	}
	return err
}

// advance moves the head to the next commit, if lease and parent are right, and
// returns its id.
func (w *write) advance(l graph.Lease, b graph.Batch, now int64) (holding, int64, error) {
	h, err := w.holding(l)
	if err != nil {
		return h, 0, err
	}
	last, err := w.lastCommit()
	if err != nil {
		return h, 0, err
	}
	const move = `UPDATE threads SET head = ?1, first = coalesce(first, ?1), inputs = inputs + ?2, bytes = bytes + ?3, `
	const where = ` WHERE id = ?4 AND token = ?5 AND until IS NOT NULL AND coalesce(head, 0) = ?6`
	at := last + 1
	inputs, size := turns(b.Source), bodyBytes(b.Deltas)
	var moved sql.Result
	if b.Release {
		moved, err = w.Exec(move+`owner = '', until = NULL`+where, at, inputs, size, h.thread, l.Token, int64(b.Parent))
	} else {
		moved, err = w.Exec(move+`until = ?7 + ttl`+where, at, inputs, size, h.thread, l.Token, int64(b.Parent), now)
	}
	if err != nil {
		return h, 0, err
	}
	if n, err := moved.RowsAffected(); err != nil || n == 1 {
		return h, at, err
	}
	var head int64
	err = w.QueryRow(`SELECT coalesce(head, 0) FROM threads WHERE name = ? AND token = ? AND until IS NOT NULL`,
		l.Thread, l.Token).Scan(&head)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return h, 0, superseded(l)
	case err != nil:
		return h, 0, err
	}
	return h, 0, conflict(l.Thread, graph.CommitID(head), b.Parent)
}

// runOf finds or adds the run of a commit that the head has just moved to. The
// run of a thread's head has no end yet; it is noted once another run follows.
func (w *write) runOf(h holding, c graph.Commit) (holding, error) {
	if h.run == c.Run && h.runID != 0 {
		return h, nil
	}
	if c.Parent != 0 {
		if _, err := w.Exec(`UPDATE runs SET last = ?1 WHERE id = (SELECT run FROM commits WHERE id = ?1)`, int64(c.Parent)); err != nil {
			return h, err
		}
	}
	var err error
	h.run = c.Run
	h.runID, err = w.run(h.thread, c.Run, nil)
	return h, err
}

// run returns the id of a run, adding it where it is new; last is its newest
// commit, the head's where it is nil.
func (w *write) run(thread int64, run string, last any) (id int64, err error) {
	key := runKey(run)
	added, err := w.Exec(`INSERT INTO runs(thread, key, last) VALUES(?1, ?2, coalesce(?3, (SELECT head FROM threads WHERE id = ?1)))
		ON CONFLICT DO NOTHING`, thread, key, last)
	if err != nil {
		return 0, err
	}
	if n, err := added.RowsAffected(); err == nil && n == 1 {
		return added.LastInsertId()
	}
	if last != nil {
		if _, err := w.Exec(`UPDATE runs SET last = ? WHERE key = ? AND thread = ?`, last, key, thread); err != nil {
			return 0, err
		}
	}
	return id, w.QueryRow(`SELECT id FROM runs WHERE key = ? AND thread = ?`, key, thread).Scan(&id)
}
