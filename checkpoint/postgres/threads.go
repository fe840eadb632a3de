package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// Export copies a thread out of the store: up to a commit, or, if at is 0 or the head, all
// of it with its pending results. The error matches [graph.ErrNotFound] for an unknown
// thread or commit.
func (s *Store) Export(ctx context.Context, thread string, at graph.CommitID) (*Archive, error) {
	var a *stored.Archive
	err := s.read(ctx, func(tx pgx.Tx) error {
		id, last, err := find(ctx, tx, thread, at)
		if err != nil {
			return err
		}
		i, err := info(ctx, tx, thread)
		if err != nil {
			return err
		}
		a = &stored.Archive{Thread: thread, Owner: i.Owner, ThreadFacts: i.ThreadFacts, Created: i.Created}
		if last == i.Head {
			if a.Pending, err = pending(ctx, tx, thread); err != nil {
				return err
			}
		}
		a.Commits, err = commits(ctx, tx, thread, "$1", int64(last), math.MaxInt32, id)
		slices.Reverse(a.Commits)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return a, nil
}

// Copy implements [graph.Copier].
func (s *Store) Copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	return stored.CopyThread(ctx, s, from, at, to, pending, time.Now())
}

// Import adds the thread of an archive, under the given name or, if that is empty, its
// own: all or nothing. Its commits get new ids in the same order. The error matches
// [graph.ErrExists] if the thread has a commit, [graph.ErrBusy] if it has a live lease.
func (s *Store) Import(ctx context.Context, a *Archive, thread string) error {
	a, err := stored.NormalizeArchive(a, thread)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	err = s.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, newThread, a.Thread); err != nil {
			return err
		}
		_, head, err := s.free(ctx, tx, a.Thread)
		if err == nil && head != 0 || errors.Is(err, graph.ErrNotFound) { // of another owner
			err = graph.ErrExists
		}
		if err != nil {
			return err
		}
		return s.importArchive(ctx, tx, a)
	})
	if err != nil {
		return fmt.Errorf("import thread %q: %w", a.Thread, err)
	}
	return nil
}

// importArchive writes an archive to a free thread without commits, with a lease that no
// other transaction sees.
func (s *Store) importArchive(ctx context.Context, tx pgx.Tx, a *stored.Archive) error {
	l := graph.Lease{Thread: a.Thread}
	f, err := stored.AddFacts(graph.ThreadFacts{}, a.ThreadFacts)
	if err != nil {
		return err
	}
	owner := cmp.Or(graph.OwnerOf(ctx), a.Owner)
	if err := tx.QueryRow(ctx, takeLease, a.Thread, rand.Int64(), "", graph.DefaultTTL, true, 0, owner).Scan(&l.Token, nil); err != nil {
		return err
	}
	ids, err := column[int64](ctx, tx, `SELECT nextval('commit_ids') FROM generate_series(1, $1)`, len(a.Commits))
	if err != nil {
		return err
	}
	batch, parent := &pgx.Batch{}, int64(0)
	for i, c := range a.Commits {
		c.Parent = graph.CommitID(parent)
		args, err := s.appendArgs(l, graph.Batch{Commit: c}, rand.Int32(), &ids[i])
		if err != nil {
			return err
		}
		batch.Queue(appendCommit, args...)
		parent = ids[i]
	}
	for _, r := range a.Pending {
		args, err := pendingArgs(l, r)
		if err != nil {
			return err
		}
		batch.Queue(appendPending, args...)
	}
	batch.Queue(`UPDATE threads SET created = $2, holder = '', until = NULL, active = head, title = coalesce(nullif($3, ''), title), metadata = coalesce($4::jsonb, metadata)
		WHERE name = $1`, a.Thread, a.Created, f.Title, f.Metadata)
	return tx.SendBatch(ctx, batch).Close()
}

// free locks the row of a thread. The error matches [graph.ErrNotFound] if there is none for the owner of the context,
// [graph.ErrBusy] if it has a live lease.
func (s *Store) free(ctx context.Context, tx pgx.Tx, name string) (thread int64, head graph.CommitID, err error) {
	var l lease
	var live, foreign bool
	err = tx.QueryRow(ctx, `SELECT id, head, holder, coalesce(until, 'epoch'), coalesce(until > clock_timestamp(), false), head <> 0 AND $2 NOT IN ('', owner)
		FROM threads WHERE name = $1 FOR UPDATE`, name, graph.OwnerOf(ctx)).Scan(&thread, &head, &l.holder, &l.until, &live, &foreign)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && foreign:
		return 0, 0, graph.ErrNotFound
	case err == nil && live && !s.died(l.holder):
		return 0, 0, l.busy()
	}
	return thread, head, err
}

// Prune implements [graph.Pruner].
func (s *Store) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := stored.NormalizeBatch(l.Thread, base, time.Now())
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	err = s.write(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `SELECT id FROM threads WHERE name = $1 AND token = $2 AND until IS NOT NULL FOR UPDATE`, l.Thread, l.Token).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return stored.Superseded(l)
		}
		if err == nil {
			_, at, err = find(ctx, tx, l.Thread, at)
		}
		if err != nil {
			return err
		}
		return s.prune(ctx, tx, id, at, base)
	})
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return nil
}

// prune replaces the commits of a thread up to at by base, which keeps the id, the time and
// the rest of commit at.
func (s *Store) prune(ctx context.Context, tx pgx.Tx, thread int64, at graph.CommitID, base graph.Batch) error {
	changes, err := encodeDeltas(base.Deltas, time.Time{}) // the time is that of commit at
	if err != nil {
		return err
	}
	snapshot, err := packed(base.Snapshot)
	if err != nil {
		return err
	}
	_, text := stored.FactsOf(s.texts, base.Commit)
	batch := &pgx.Batch{}
	added := base.BodyBytes()
	batch.Queue(`UPDATE threads t SET inputs = t.inputs - x.inputs, bytes = t.bytes - x.bytes + $3, run = NULL
		FROM (SELECT `+turnsOf+` AS inputs, sum(bytes) AS bytes FROM entries WHERE thread = $1 AND id <= $2) x WHERE t.id = $1`, thread, int64(at), added)
	batch.Queue(`UPDATE entries c SET same = false, run = h.run, graph = h.graph FROM history h WHERE c.thread = $1 AND h.thread = $1 AND h.id = c.id
		AND c.id = (SELECT min(id) FROM entries WHERE thread = $1 AND id > $2)`, thread, int64(at)) // it may have those of at
	batch.Queue(`UPDATE entries c SET parent = 0, same = false, run = $3, graph = h.graph, source = $4, bytes = $5, changes = $6, snapshot = $7, text = $8
		FROM history h WHERE c.thread = $1 AND c.id = $2 AND h.thread = $1 AND h.id = $2`,
		thread, int64(at), base.Run, string(graph.SourceBase), added, changes, snapshot, text)
	batch.Queue(`DELETE FROM entries WHERE thread = $1 AND id < $2`, thread, int64(at))
	return tx.SendBatch(ctx, batch).Close()
}

// turnsOf is an SQL expression for what the commits of a query add to the turns of their
// thread.
const turnsOf = `coalesce(sum(CASE source WHEN 'input' THEN 1 WHEN 'undo' THEN -1 ELSE 0 END), 0)`

// Delete drops threads, all or none of them. The error matches [graph.ErrNotFound] for an
// unknown thread, [graph.ErrBusy] for one that is held. Their space is free after
// [Store.Vacuum].
func (s *Store) Delete(ctx context.Context, threads ...string) error {
	threads = slices.Clone(threads)
	slices.Sort(threads) // one order for all, so that two calls cannot wait for each other
	err := s.write(ctx, func(tx pgx.Tx) error {
		for _, name := range threads {
			if err := s.delete(ctx, tx, name); err != nil {
				return fmt.Errorf("thread %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

func (s *Store) delete(ctx context.Context, tx pgx.Tx, name string) error {
	id, _, err := s.free(ctx, tx, name)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(`UPDATE meta SET value = greatest(value::bigint, (SELECT token FROM threads WHERE id = $1)) WHERE key = '`+lastTokenKey+`'`, id)
	for _, table := range []string{"pending WHERE thread", "entries WHERE thread", "threads WHERE id"} {
		batch.Queue(`DELETE FROM `+table+` = $1`, id)
	}
	return tx.SendBatch(ctx, batch).Close()
}
