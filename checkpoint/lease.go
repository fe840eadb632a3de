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
// lives [DefaultTTL].
func (s *SQLite) Acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(checkThread(thread), checkName("owner", o.Owner)); err != nil {
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
		now, _, err = s.holder(tx, thread)
		return err
	})
	return now, err
}

// acquire takes the thread, also from a tenure that was watched for longer than
// it lives without being renewed: its end may lie far ahead, where a clock went
// back, but nobody keeps it any more.
func (s *SQLite) acquire(ctx context.Context, thread string, o graph.AcquireOptions, seen tenure, watched time.Duration) (graph.Lease, error) {
	lease := graph.Lease{Thread: thread, Owner: o.Owner}
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		now, known, err := s.holder(tx, thread)
		abandoned := o.Force || now == seen && watched >= time.Duration(now.ttl)*time.Microsecond
		if err != nil && (!errors.Is(err, graph.ErrBusy) || !abandoned) {
			return err
		}
		if !known {
			if err := s.addThread(tx, thread); err != nil {
				return err
			}
		}
		ttl := ttlOrDefault(o.TTL).Microseconds()
		return tx.QueryRow(`UPDATE threads SET owner = ?, token = token + 1, ttl = ?, until = ? WHERE name = ? RETURNING token`,
			o.Owner, ttl, s.micros()+ttl, thread).Scan(&lease.Token)
	})
	if err != nil {
		return graph.Lease{}, err
	}
	return lease, nil
}

// holder tells whether the thread is known. A live lease is an ErrBusy, and
// told of.
func (s *SQLite) holder(tx *sqlite.Tx, thread string) (now tenure, known bool, err error) {
	var owner string
	var until sql.NullInt64
	err = tx.QueryRow(`SELECT owner, until, token, ttl FROM threads WHERE name = ?`, thread).Scan(&owner, &until, &now.token, &now.ttl)
	now.until = until.Int64
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return now, false, nil
	case err != nil:
		return now, false, err
	case until.Valid && until.Int64 > s.micros() && !ownerDied(owner):
		return now, true, busyError(owner, time.UnixMicro(until.Int64))
	}
	return now, true, nil
}

// Renew implements [graph.Store]. A lease that ended, but that nobody took, is
// still its owner's.
func (s *SQLite) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	micros := ttlOrDefault(ttl).Microseconds()
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		var id int64
		err := tx.QueryRow(`UPDATE threads SET ttl = ?, until = ? WHERE name = ? AND token = ? AND until IS NOT NULL RETURNING id`,
			micros, s.micros()+micros, l.Thread, l.Token).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return superseded(l)
		}
		return err
	})
}

// Release implements [graph.Store].
func (s *SQLite) Release(ctx context.Context, l graph.Lease) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`UPDATE threads SET owner = '', until = NULL WHERE name = ? AND token = ?`, l.Thread, l.Token)
		return err
	})
}
