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
// because one owner may run several writers. Without a TTL the lease lives
// [DefaultTTL].
func (s *SQLite) Acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(checkThread(thread), checkName("owner", o.Owner)); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	first := true
	return untilFree(ctx, o.Wait, func() (graph.Lease, error) {
		if !first { // while another one holds it, only look
			err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
				_, err := s.holder(tx, thread)
				return err
			})
			if err != nil {
				return graph.Lease{}, err
			}
		}
		first = false
		return s.acquire(ctx, thread, o)
	})
}

func (s *SQLite) acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	lease := graph.Lease{Thread: thread, Owner: o.Owner}
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if known, err := s.holder(tx, thread); err != nil {
			return err
		} else if !known {
			if _, err := tx.Exec(`INSERT INTO threads(name, created) VALUES(?, ?)`, thread, s.micros()); err != nil {
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

// holder tells whether the thread is known. A live lease is an ErrBusy.
func (s *SQLite) holder(tx *sqlite.Tx, thread string) (known bool, err error) {
	var owner string
	var until sql.NullInt64
	err = tx.QueryRow(`SELECT owner, until FROM threads WHERE name = ?`, thread).Scan(&owner, &until)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case until.Valid && until.Int64 > s.micros() && !ownerDied(owner):
		return true, busyError(owner, time.UnixMicro(until.Int64))
	}
	return true, nil
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
