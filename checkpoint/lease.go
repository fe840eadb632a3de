package checkpoint

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Acquire implements [graph.Store]. A lease that ended is taken over, and so
// is one whose owner, as [ProcessOwner] names it, was a process of this host
// that died. A live lease is respected even where the owner has the same name,
// because one owner may run several writers. One that is not renewed for as
// long as it lives, while Acquire waits, is taken over whatever the clocks say:
// they may have gone back. Force takes any lease over. Without a TTL the lease
// lives [graph.DefaultTTL].
func (s *SQLite) Acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(graph.CheckThread(thread), graph.CheckName("owner", o.Owner)); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	first := true
	var seen tenure
	since := time.Now()
	return untilFree(ctx, o.Wait, func() (graph.Lease, error) {
		if !first { // while another one holds it, only look
			now, err := s.look(ctx, thread)
			switch {
			case !errors.Is(err, graph.ErrBusy):
			case now != seen:
				seen, since = now, time.Now()
				return graph.Lease{}, err
			case time.Since(since) < time.Duration(now.ttl)*time.Microsecond:
				return graph.Lease{}, err
			}
			if err != nil && !errors.Is(err, graph.ErrBusy) {
				return graph.Lease{}, err
			}
		}
		first = false
		return s.acquire(ctx, thread, o, seen, time.Since(since))
	})
}

// tenure is a lease as others see it. It changes with every renewal.
type tenure struct{ token, until, ttl int64 }

func (s *SQLite) look(ctx context.Context, thread string) (now tenure, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		row, err := s.holder(tx, thread)
		now = row.tenure
		return err
	})
	return now, err
}

// acquire takes the thread, also from a tenure that was watched for longer than
// it lives without being renewed: its end may lie far ahead, where a clock went
// back, but nobody keeps it any more.
func (s *SQLite) acquire(ctx context.Context, thread string, o graph.AcquireOptions, seen tenure, watched time.Duration) (graph.Lease, error) {
	var row standing
	err := s.db.Write(ctx, func(tx *sqlite.Tx) (err error) {
		row, err = s.holder(tx, thread)
		abandoned := o.Force || row.tenure == seen && watched >= time.Duration(row.ttl)*time.Microsecond
		if err != nil && (!errors.Is(err, graph.ErrBusy) || !abandoned) {
			return err
		}
		if !row.known() {
			if row, err = s.addThread(tx, thread); err != nil {
				return err
			}
		}
		row.token++
		ttl := ttlOrDefault(o.TTL).Microseconds()
		_, err = tx.Exec(`UPDATE threads SET owner = ?, token = ?, ttl = ?, until = ? WHERE id = ?`,
			o.Owner, row.token, ttl, s.micros()+ttl, row.id)
		return err
	})
	if err != nil {
		return graph.Lease{}, err
	}
	s.holdings.put(thread, holding{token: row.token, thread: row.id, pending: row.pending})
	return graph.Lease{Thread: thread, Owner: o.Owner, Token: row.token, Head: row.head, Keeper: s}, nil
}

// standing is where a thread stands: its lease and its head.
type standing struct {
	tenure
	id      int64 // 0 where there is none
	head    graph.CommitID
	pending bool // there are pending results
}

func (r standing) known() bool { return r.id != 0 }

// holder looks a thread up. A live lease is an ErrBusy, and told of.
func (s *SQLite) holder(tx *sqlite.Tx, thread string) (row standing, err error) {
	var owner string
	var until sql.NullInt64
	err = tx.QueryRow(`SELECT id, coalesce(head, 0), owner, until, token, ttl, EXISTS(SELECT 1 FROM pending p WHERE p.thread = t.id)
		FROM threads t WHERE name = ?`, thread).
		Scan(&row.id, &row.head, &owner, &until, &row.token, &row.ttl, &row.pending)
	row.until = until.Int64
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return row, nil
	case err != nil:
		return row, err
	case until.Valid && until.Int64 > s.micros() && !ownerDied(owner):
		return row, busyError(owner, time.UnixMicro(until.Int64))
	}
	return row, nil
}

// Renew implements [graph.Store]. A lease that ended, but that nobody took, is
// still its owner's.
func (s *SQLite) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	micros := ttlOrDefault(ttl).Microseconds()
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		renewed, err := tx.Exec(`UPDATE threads SET ttl = ?, until = ? WHERE name = ? AND token = ? AND until IS NOT NULL`,
			micros, s.micros()+micros, l.Thread, l.Token)
		if err != nil {
			return err
		}
		if n, err := renewed.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, superseded(l))
		}
		return nil
	})
}

// Release implements [graph.Store].
func (s *SQLite) Release(ctx context.Context, l graph.Lease) error {
	s.holdings.drop(l.Thread)
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`UPDATE threads SET owner = '', until = NULL WHERE name = ? AND token = ?`, l.Thread, l.Token)
		return err
	})
}
