package checkpoint

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// Acquire implements [graph.Store]. A lease can be taken over when it has ended,
// when its owner is a process that has died (see [ProcessOwner]), when it was not
// renewed for its whole TTL while Acquire waited (clocks may have gone back), or
// with Force. A live lease is respected even if the owner has the same name,
// because one owner may run several writers. Without an owner it is [ProcessOwner],
// without a TTL the lease lives [graph.DefaultTTL].
func (s *SQLite) Acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(graph.CheckThread(thread), graph.CheckName("owner", o.Owner+graph.OwnerOf(ctx))); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	o.Owner = cmp.Or(o.Owner, s.owner)
	var l graph.Lease
	var seen lease
	since := time.Now()
	first := true
	err := stored.Await(ctx, o.Wait, func() (err error) {
		if first { // most threads are free
			first = false
			l, err = s.acquire(ctx, thread, o, seen, false)
			return err
		}
		var now lease
		err = s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
			now, err = s.lease(ctx, tx, thread)
			return err
		})
		if now != seen {
			seen, since = now, time.Now()
		}
		abandoned := o.Force || seen.token != 0 && time.Since(since) >= time.Duration(seen.ttl)*time.Microsecond
		if err == nil || errors.Is(err, graph.ErrBusy) && abandoned {
			l, err = s.acquire(ctx, thread, o, seen, abandoned)
		}
		return err
	})
	return l, err
}

// lease is the part of a thread's row that belongs to its lease. It changes with every
// renewal.
type lease struct {
	thread, token, until, ttl int64 // thread is 0 if there is none; until is 0 once released
	head                      graph.CommitID
	holder                    string
}

// lease reads the lease of a thread. The error matches [graph.ErrBusy] if it is
// live, [graph.ErrNotFound] if the thread belongs to another owner.
func (s *SQLite) lease(ctx context.Context, tx *sqlite.Tx, thread string) (l lease, err error) {
	var owner string
	err = tx.QueryRow(`SELECT id, token, coalesce(until, 0), ttl, coalesce(head, 0), holder, owner FROM threads WHERE name = ?`, thread).
		Scan(&l.thread, &l.token, &l.until, &l.ttl, &l.head, &l.holder, &owner)
	live := l.until > s.now() && !OwnerDied(l.holder)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return l, nil
	case err != nil:
		return l, err
	case (live || l.head != 0) && !slices.Contains([]string{"", owner}, graph.OwnerOf(ctx)):
		return l, stored.NotFound("thread %q", thread)
	case live:
		return l, stored.Busy(l.holder, time.UnixMicro(l.until))
	}
	return l, nil
}

// acquire takes the next token. It takes over an abandoned lease only if the lease has not
// changed since it was seen.
func (s *SQLite) acquire(ctx context.Context, thread string, o graph.AcquireOptions, seen lease, abandoned bool) (graph.Lease, error) {
	var now lease
	err := s.db.Write(ctx, func(tx *sqlite.Tx) (err error) {
		now, err = s.lease(ctx, tx, thread)
		if err != nil && (!errors.Is(err, graph.ErrBusy) || !o.Force && (!abandoned || now != seen)) {
			return err
		}
		if now.thread == 0 {
			if now, err = s.addThread(tx, thread); err != nil {
				return err
			}
		}
		now.token++
		now.ttl = stored.TTL(o.TTL).Microseconds()
		return tx.Do(`UPDATE threads SET holder = ?, token = ?, ttl = ?, until = ?, owner = CASE WHEN head IS NULL THEN ? ELSE owner END WHERE id = ?`,
			o.Owner, now.token, now.ttl, s.now()+now.ttl, graph.OwnerOf(ctx), now.thread)
	})
	if err != nil {
		return graph.Lease{}, err
	}
	l := graph.Lease{Thread: thread, Owner: o.Owner, Token: now.token, Head: now.head}
	s.cache.taken(l, now.thread)
	return l, nil
}

// addThread adds a thread whose tokens begin after those of all deleted ones.
func (s *SQLite) addThread(tx *sqlite.Tx, name string) (l lease, err error) {
	err = tx.QueryRow(`INSERT INTO threads(name, created, token)
		VALUES(?, ?, coalesce((SELECT value FROM meta WHERE key = '`+lastTokenKey+`'), 0)) RETURNING id, token`, name, s.now()).
		Scan(&l.thread, &l.token)
	return l, err
}

// Renew implements [graph.Store]. A lease that has ended can be renewed as
// long as nobody has taken the thread over.
func (s *SQLite) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	micros := stored.TTL(ttl).Microseconds()
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		h, err := held(tx, l)
		if err != nil {
			return err
		}
		return tx.Do(`UPDATE threads SET ttl = ?1, until = ?1 + ?2 WHERE id = ?3`, micros, s.now(), h.thread)
	})
}

// holding is a thread with a valid lease.
type holding struct {
	thread int64
	head   graph.CommitID
}

// held returns the thread of a lease; the error matches [graph.ErrSuperseded] if
// the lease was lost.
func held(tx *sqlite.Tx, l graph.Lease) (h holding, err error) {
	err = tx.QueryRow(`SELECT id, coalesce(head, 0) FROM threads WHERE name = ? AND token = ? AND until IS NOT NULL`,
		l.Thread, l.Token).Scan(&h.thread, &h.head)
	if errors.Is(err, sql.ErrNoRows) {
		err = stored.Superseded(l)
	}
	return h, err
}

// Release implements [graph.Store]. It deletes a thread that was never written.
func (s *SQLite) Release(ctx context.Context, l graph.Lease) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		h, err := held(tx, l)
		if errors.Is(err, graph.ErrSuperseded) {
			return nil
		}
		if err == nil {
			err = tx.Do(`UPDATE threads SET holder = '', until = NULL WHERE id = ?`, h.thread)
		}
		if err == nil && h.head == 0 {
			err = s.delete(ctx, tx, l.Thread)
		}
		return err
	})
}
