package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// lookAgain is how often a waiting Acquire looks at a lease without being notified.
const lookAgain = time.Second

// takeLease gives the next token if the lease is free. Argument 5 forces it; argument 7 owns the thread; argument 6 is
// the token of a lease whose owner is dead; a lease with the same claim was got by an
// attempt of this Acquire whose answer was lost.
const takeLease = `UPDATE threads SET
	token = CASE token WHEN 0 THEN (SELECT value::bigint FROM meta WHERE key = '` + lastTokenKey + `') ELSE token END + 1,
	claim = $2, holder = $3, ttl = $4, until = clock_timestamp() + $4, waited = false, owner = CASE head WHEN 0 THEN $7 ELSE owner END
WHERE name = $1 AND (until IS NULL OR until <= clock_timestamp() OR $5 OR token = $6 OR claim = $2) AND ($7 IN ('', owner) OR head = 0 AND (until IS NULL OR until <= clock_timestamp()))
RETURNING token, head`

// newThread makes a thread that has had no lease. A thread of this name that is being
// deleted is waited for, so that the next statement sees its token in meta.
const newThread = `INSERT INTO threads(name) SELECT $1 WHERE NOT EXISTS (SELECT FROM threads WHERE name = $1) ON CONFLICT DO NOTHING`

// seeLease reads a lease that is live.
const seeLease = `SELECT id, token, holder, until, until - clock_timestamp() FROM threads WHERE name = $1 AND until > clock_timestamp()`

// awaitLease reads a lease that is live and asks to be notified of its release.
const awaitLease = `UPDATE threads SET waited = true WHERE name = $1 AND until > clock_timestamp()
RETURNING id, token, holder, until, until - clock_timestamp()`

// lease is a lease that another writer holds.
type lease struct {
	thread, token int64
	holder        string
	until         time.Time
	left          time.Duration // until its end, by the clock of the database
}

func (l lease) busy() error { return stored.Busy(l.holder, l.until) }

// Acquire implements [graph.Store]. A lease can be taken over when it has ended by the
// clock of the database, when [Options].OwnerDied says so, or with Force. A live lease is
// respected even if the owner has the same name, because one owner may run several
// writers. Without a TTL the lease lives [graph.DefaultTTL].
func (s *Store) Acquire(ctx context.Context, thread string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(graph.CheckThread(thread), graph.CheckName("owner", o.Owner+graph.OwnerOf(ctx))); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	o.Owner = cmp.Or(o.Owner, s.owner)
	end, see := time.Now().Add(o.Wait), seeLease
	a := attempt{thread: thread, o: o, claim: 1 + rand.Int64N(1<<62)}
	var wake <-chan struct{}
	for {
		l, other, err := s.acquire(ctx, a, see)
		left := time.Until(end)
		if err != nil || other == nil {
			return l, err
		}
		if left <= 0 {
			return graph.Lease{}, other.busy()
		}
		if wake == nil { // and ask for the notification before waiting for it
			var leave func()
			wake, leave = s.waiters.join(ctx, other.thread)
			defer leave()
			see = awaitLease
			continue
		}
		timer := time.NewTimer(min(left, max(other.left, 0)+time.Millisecond, lookAgain))
		select {
		case <-wake:
			timer.Stop()
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return graph.Lease{}, fmt.Errorf("%w (%w)", context.Cause(ctx), other.busy())
		}
	}
}

// attempt is one call of Acquire.
type attempt struct {
	thread string
	o      graph.AcquireOptions
	claim  int64 // random
}

// acquire tries once. It returns the lease, or that of another writer as read by see.
func (s *Store) acquire(ctx context.Context, a attempt, see string) (l graph.Lease, other *lease, err error) {
	l = graph.Lease{Thread: a.thread, Owner: a.o.Owner}
	dead, owner := int64(-1), graph.OwnerOf(ctx)
	try := func() error {
		for {
			other = nil
			err := s.pool.QueryRow(ctx, takeLease, a.thread, a.claim, a.o.Owner, stored.TTL(a.o.TTL), a.o.Force, dead, owner).Scan(&l.Token, &l.Head)
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if _, err := s.pool.Exec(ctx, newThread, a.thread); err != nil {
				return err
			}
			if other, err := s.isForeign(ctx, a.thread); other || err != nil {
				return cmp.Or(err, stored.NotFound("thread %q", a.thread))
			}
			var now lease
			err = s.pool.QueryRow(ctx, see, a.thread).Scan(&now.thread, &now.token, &now.holder, &now.until, &now.left)
			switch {
			case errors.Is(err, pgx.ErrNoRows): // it is new, or was released meanwhile
				continue
			case err != nil:
				return err
			case now.token != dead && s.died(now.holder):
				dead = now.token
				continue
			}
			other = &now
			return nil
		}
	}
	if err := s.do(ctx, try); err != nil {
		return graph.Lease{}, nil, fmt.Errorf("acquire thread %q: %w", a.thread, err)
	}
	return l, other, nil
}

// isForeign reports whether a thread belongs to another owner than that of the context.
func (s *Store) isForeign(ctx context.Context, thread string) (other bool, err error) {
	if owner := graph.OwnerOf(ctx); owner != "" {
		err = s.pool.QueryRow(ctx, `SELECT EXISTS(SELECT FROM threads WHERE name = $1 AND owner <> $2 AND (head <> 0 OR coalesce(until > clock_timestamp(), false)))`, thread, owner).Scan(&other)
	}
	return other, err
}

// Renew implements [graph.Store]. A lease that has ended can be renewed as long as
// nobody has taken the thread over.
func (s *Store) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	return s.do(ctx, func() error {
		tag, err := s.pool.Exec(ctx, `UPDATE threads SET ttl = $3, until = clock_timestamp() + $3 WHERE name = $1 AND token = $2 AND until IS NOT NULL`,
			l.Thread, l.Token, stored.TTL(ttl))
		if err == nil && tag.RowsAffected() == 0 {
			return stored.Superseded(l)
		}
		return err
	})
}

// Release implements [graph.Store].
func (s *Store) Release(ctx context.Context, l graph.Lease) error {
	return s.do(ctx, func() error {
		_, err := s.pool.Exec(ctx, `WITH released AS (
			UPDATE threads SET holder = '', until = NULL WHERE name = $1 AND token = $2 AND until IS NOT NULL RETURNING id, waited
		) SELECT pg_notify('`+channel+`', id::text) FROM released WHERE waited`, l.Thread, l.Token)
		return err
	})
}
