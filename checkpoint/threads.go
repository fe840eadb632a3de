package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// Export copies a thread out of the store: up to a commit, or, if at is 0 or the
// head, all of it with its pending results. The error matches [graph.ErrNotFound]
// for an unknown thread or commit.
func (s *SQLite) Export(ctx context.Context, thread string, at graph.CommitID) (*Archive, error) {
	var a *stored.Archive
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		_, last, err := find(ctx, tx, thread, at)
		if err != nil {
			return err
		}
		i, err := s.info(ctx, tx, thread)
		if err != nil {
			return err
		}
		a = &stored.Archive{Thread: thread, Owner: i.Owner, ThreadFacts: i.ThreadFacts, Created: i.Created}
		if last == i.Head {
			if a.Pending, err = s.pending(tx, thread); err != nil {
				return err
			}
		}
		a.Commits, err = s.walk(tx, thread, last, math.MaxInt32)
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
func (s *SQLite) Import(ctx context.Context, a *Archive, thread string) error {
	a, err := stored.NormalizeArchive(a, thread)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		l, err := s.lease(ctx, tx, a.Thread)
		if err == nil && l.thread == 0 {
			l, err = s.addThread(tx, a.Thread)
		}
		if l.head != 0 || errors.Is(err, graph.ErrNotFound) { // of another owner
			return graph.ErrExists
		}
		if err != nil {
			return err
		}
		var last int64
		if err := tx.QueryRow(`SELECT ` + lastCommit).Scan(&last); err != nil {
			return err
		}
		inputs, size, facts := 0, 0, a.ThreadFacts
		for i, c := range a.Commits {
			c.Parent, c.ID = 0, graph.CommitID(last+1+int64(i))
			if i > 0 {
				c.Parent = c.ID - 1
			}
			e := s.newEntry(graph.Batch{Commit: c}, l.thread)
			e.sameRun = i > 0 && c.Run == a.Commits[i-1].Run
			if err := s.insert(tx, &e); err != nil {
				return err
			}
			facts.Title = cmp.Or(facts.Title, e.facts.Title)
			inputs += c.Source.Turns()
			size += c.BodyBytes()
		}
		for _, p := range a.Pending {
			if err := s.insertPending(tx, l.thread, a.Thread, p); err != nil {
				return err
			}
		}
		head := a.Commits[len(a.Commits)-1]
		err = tx.Do(`UPDATE threads SET owner = ?1, created = ?2, touched = ?3, status = ?4, first = ?5, head = ?6, active = ?6, inputs = ?7, bytes = ?8 WHERE id = ?9`,
			cmp.Or(graph.OwnerOf(ctx), a.Owner), a.Created.UnixMicro(), head.Time.UnixMicro(), string(head.Status), last+1, last+int64(len(a.Commits)), inputs, size, l.thread)
		return cmp.Or(err, s.describe(tx, l.thread, a.Thread, facts, false))
	})
	if err != nil {
		return fmt.Errorf("import thread %q: %w", a.Thread, err)
	}
	return nil
}

// drop deletes the commits of a thread from one back.
func drop(tx *sqlite.Tx, from graph.CommitID) error {
	return errors.Join(
		tx.Do(line+`DELETE FROM deltas WHERE at IN (SELECT id FROM line)`, int64(from), 0),
		tx.Do(line+`DELETE FROM commits WHERE id IN (SELECT id FROM line)`, int64(from), 0),
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
		if err == nil {
			_, _, err = find(ctx, tx, l.Thread, at)
		}
		if err == nil {
			err = s.prune(tx, base, h, at)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return s.Flush(ctx)
}

// prune replaces the commits of a thread up to at by base, which keeps the id, the
// time and the rest of commit at.
func (s *SQLite) prune(tx *sqlite.Tx, base graph.Batch, h holding, at graph.CommitID) error {
	var inputs, size int
	if err := tx.QueryRow(line+`SELECT `+turnsOf+`, sum(bytes) FROM line l JOIN commits c ON c.id = l.id JOIN kinds k ON k.id = c.kind`,
		int64(at), 0).Scan(&inputs, &size); err != nil {
		return err
	}
	commits, err := s.commits(tx, base.Thread, at, 1)
	if err != nil {
		return err
	}
	was := commits[0]
	// The commit after it may have named no run of its own.
	err = tx.Do(line+`UPDATE commits SET run = coalesce(run, ?3) WHERE id = (SELECT min(id) FROM line)`, int64(h.head), int64(at), was.Run)
	if err == nil {
		err = drop(tx, at)
	}
	was.Parent, was.Run, was.Source, was.Deltas = 0, base.Run, graph.SourceBase, base.Deltas
	base.Commit = was
	e := s.newEntry(base, h.thread)
	if err == nil {
		err = s.insert(tx, &e)
	}
	if err != nil {
		return err
	}
	return tx.Do(`UPDATE threads SET first = ?, inputs = inputs - ?, bytes = bytes - ? WHERE id = ?`, int64(at), inputs, size-e.BodyBytes(), h.thread)
}

// Delete drops threads, all or none of them, and overwrites their content. The
// error matches [graph.ErrNotFound] for an unknown thread, [graph.ErrBusy] for one
// that is held. The file keeps its size until [SQLite.Vacuum]; its free space is
// used again.
func (s *SQLite) Delete(ctx context.Context, threads ...string) error {
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
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
	return s.Flush(ctx)
}

func (s *SQLite) delete(ctx context.Context, tx *sqlite.Tx, name string) error {
	l, err := s.lease(ctx, tx, name)
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
	return errors.Join(
		drop(tx, l.head),
		tx.Do(`DELETE FROM pending WHERE thread = ?`, l.thread),
		tx.Do(`DELETE FROM tags WHERE thread = ?`, l.thread),
		tx.Do(`DELETE FROM threads WHERE id = ?`, l.thread),
	)
}
