package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
	"example.com/ragflow/internal/sqlite"
)

// Export copies a thread out of the store: up to a commit, or, if at is 0 or the
// head, all of it with its pending results. The error matches [graph.ErrNotFound]
// for an unknown thread or commit.
func (s *SQLite) Export(ctx context.Context, thread string, at graph.CommitID) (*stored.Archive, error) {
	var a *stored.Archive
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		id, last, err := find(tx, thread, at)
		if err != nil {
			return err
		}
		a = &stored.Archive{Thread: thread}
		var created int64
		var head graph.CommitID
		if err := tx.QueryRow(`SELECT created, head FROM threads WHERE id = ?`, id).Scan(&created, &head); err != nil {
			return err
		}
		a.Created = time.UnixMicro(created).UTC()
		if last == head {
			if a.Pending, err = s.pending(tx, thread); err != nil {
				return err
			}
		}
		a.Commits, err = s.walk(tx, thread, id, last, math.MaxInt32)
		slices.Reverse(a.Commits)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return a, nil
}

// Copy implements [graph.Copier].
func (s *SQLite) Copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	return stored.CopyThread(ctx, s, from, at, to, pending, s.clock())
}

// Import adds the thread of an archive, under the given name or, if that is empty,
// its own: all or nothing. Its commits get new ids in the same order. The error matches
// [graph.ErrExists] if the thread has a commit, [graph.ErrBusy] if it has a live lease.
func (s *SQLite) Import(ctx context.Context, a *stored.Archive, thread string) error {
	a, err := stored.NormalizeArchive(a, thread)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		l, err := s.lease(tx, a.Thread)
		if err == nil && l.thread == 0 {
			l, err = s.addThread(tx, a.Thread)
		}
		if err != nil {
			return err
		}
		if l.head != 0 {
			return graph.ErrExists
		}
		var last int64
		if err := tx.QueryRow(`SELECT ` + lastCommit).Scan(&last); err != nil {
			return err
		}
		inputs, size, at := 0, 0, last
		for i, c := range a.Commits {
			if c.Parent = 0; i > 0 {
				c.Parent = graph.CommitID(at)
			}
			at++
			if err := s.insert(tx, graph.Batch{Commit: c}, l.thread, at); err != nil {
				return err
			}
			inputs += c.Source.Turns()
			size += c.BodyBytes()
		}
		for _, p := range a.Pending {
			if err := s.insertPending(tx, l.thread, a.Thread, p); err != nil {
				return err
			}
		}
		return tx.Do(`UPDATE threads SET created = ?, first = ?, head = ?, inputs = ?, bytes = ? WHERE id = ?`,
			a.Created.UnixMicro(), last+1, at, inputs, size, l.thread)
	})
	if err != nil {
		return fmt.Errorf("import thread %q: %w", a.Thread, err)
	}
	return nil
}

// dropContent deletes the deltas and snapshots of the commits whose id meets a
// condition.
func dropContent(tx *sqlite.Tx, condition string, args ...any) error {
	return errors.Join(
		tx.Do(`DELETE FROM deltas WHERE at `+condition, args...),
		tx.Do(`DELETE FROM snapshots WHERE at `+condition, args...),
	)
}

// Prune implements [graph.Pruner].
func (s *SQLite) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := stored.NormalizeBatch(l.Thread, base, s.clock())
	if err == nil {
		base.Snapshot, err = stored.PackSnapshot(base.Snapshot)
	}
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		h, err := held(tx, l)
		if err != nil {
			return err
		}
		if _, _, err := find(tx, l.Thread, at); err != nil {
			return err
		}
		return s.prune(tx, base, h.thread, at)
	})
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return s.Flush(ctx)
}

// prune replaces the commits of a thread up to at by base, which keeps the id, the
// time and the rest of commit at.
func (s *SQLite) prune(tx *sqlite.Tx, base graph.Batch, thread int64, at graph.CommitID) error {
	var inputs, size int
	if err := tx.QueryRow(`SELECT `+turnsOf+`, sum(bytes) FROM commits WHERE thread = ? AND id <= ?`, thread, int64(at)).Scan(&inputs, &size); err != nil {
		return err
	}
	if err := dropContent(tx, `IN (SELECT id FROM commits WHERE thread = ? AND id <= ?)`, thread, int64(at)); err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM commits WHERE thread = ? AND id < ?`, thread, int64(at)); err != nil {
		return err
	}
	added := base.BodyBytes()
	var micros int64
	if err := tx.QueryRow(`UPDATE commits SET parent = NULL, run = ?, source = ?, bytes = ? WHERE id = ? RETURNING time`,
		base.Run, string(graph.SourceBase), added, int64(at)).Scan(&micros); err != nil {
		return err
	}
	base.Time = time.UnixMicro(micros).UTC()
	if err := s.insertContent(tx, base, int64(at)); err != nil {
		return err
	}
	return tx.Do(`UPDATE threads SET first = ?, inputs = inputs - ?, bytes = bytes - ? WHERE id = ?`, int64(at), inputs, size-added, thread)
}

// Delete drops threads, all or none of them, and overwrites their content. The
// error matches [graph.ErrNotFound] for an unknown thread, [graph.ErrBusy] for one
// that is held. The file keeps its size until [SQLite.Vacuum]; its free space is
// used again.
func (s *SQLite) Delete(ctx context.Context, threads ...string) error {
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		for _, name := range threads {
			if err := s.delete(tx, name); err != nil {
				return fmt.Errorf("thread %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return s.Flush(ctx)
}

func (s *SQLite) delete(tx *sqlite.Tx, name string) error {
	l, err := s.lease(tx, name)
	if err != nil {
		return err
	}
	if l.thread == 0 {
		return graph.ErrNotFound
	}
	if err := tx.Do(`INSERT INTO meta VALUES('`+lastCommitKey+`', `+lastCommit+`), ('`+lastTokenKey+`', ?)
		ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`, l.token); err != nil {
		return err
	}
	if err := dropContent(tx, `IN (SELECT id FROM commits WHERE thread = ?)`, l.thread); err != nil {
		return err
	}
	return errors.Join(
		tx.Do(`DELETE FROM commits WHERE thread = ?`, l.thread),
		tx.Do(`DELETE FROM pending WHERE thread = ?`, l.thread),
		tx.Do(`DELETE FROM threads WHERE id = ?`, l.thread),
	)
}
