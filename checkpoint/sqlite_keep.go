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

// What deleted threads leave behind in the table meta, as text: the greatest
// commit id and the greatest lease token. Neither is given again, so that
// whoever still holds an old one is not mistaken for a new one.
const (
	lastCommitKey = "last commit"
	lastTokenKey  = "last token"
)

// lastCommit is an SQL expression for the greatest commit id ever given.
const lastCommit = `(SELECT max(coalesce((SELECT max(id) FROM commits), 0),
	coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = '` + lastCommitKey + `'), 0)))`

// lastCommit is the greatest commit id ever given.
func (w *write) lastCommit() (last int64, err error) {
	return last, w.QueryRow(`SELECT ` + lastCommit).Scan(&last)
}

// Import implements [Keeper].
func (s *SQLite) Import(ctx context.Context, a *Archive, thread string) error {
	a, err := a.clean(thread)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	entries := make([]*entry, len(a.Commits))
	for i, c := range a.Commits {
		if entries[i], err = newEntry(graph.Batch{Commit: c}); err != nil {
			return fmt.Errorf("import: commit %d: %w", c.ID, err)
		}
	}
	err = s.write(ctx, func(w *write) error {
		id, err := s.newThread(w, a)
		if err != nil {
			return err
		}
		last, err := w.lastCommit()
		if err != nil {
			return err
		}
		inputs, size := 0, 0
		ids := a.idsAfter(graph.CommitID(last))
		for i, e := range entries {
			placed := *e // a callback may run twice
			placed.Parent = 0
			if i > 0 {
				placed.Parent = ids[i-1]
			}
			run, err := w.run(id, e.Run, int64(ids[i]))
			if err != nil {
				return err
			}
			if err := placed.save(w, holding{thread: id, runID: run}, int64(ids[i])); err != nil {
				return err
			}
			inputs += turns(e.Source)
			size += bodyBytes(a.Commits[i].Deltas)
		}
		for _, p := range a.Pending {
			if err := w.pend(id, p); err != nil {
				return err
			}
		}
		_, err = w.Exec(`UPDATE threads SET created = ?, first = ?, head = ?, inputs = ?, bytes = ? WHERE id = ?`,
			a.Created.UnixMicro(), int64(ids[0]), int64(ids[len(ids)-1]), inputs, size, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("import thread %q: %w", a.Thread, err)
	}
	return nil
}

// newThread returns the row of a thread without a commit.
func (s *SQLite) newThread(w *write, a *Archive) (id int64, err error) {
	row, err := s.holder(w.Tx, a.Thread)
	if err != nil {
		return 0, err
	}
	if !row.known() {
		row, err = s.addThread(w.Tx, a.Thread)
	}
	if err == nil && row.head != 0 {
		err = graph.ErrExists
	}
	return row.id, err
}

// addThread adds a thread whose tokens begin behind those of all deleted ones.
func (s *SQLite) addThread(tx *sqlite.Tx, name string) (row standing, err error) {
	err = tx.QueryRow(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = '` + lastTokenKey + `'), 0)`).Scan(&row.token)
	if err != nil {
		return row, err
	}
	added, err := tx.Exec(`INSERT INTO threads(name, created, token) VALUES(?, ?, ?)`, name, s.micros(), row.token)
	if err == nil {
		row.id, err = added.LastInsertId()
	}
	return row, err
}

// Prune implements [graph.Pruner].
func (s *SQLite) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := graph.NormalizeBatch(l.Thread, base, s.clock())
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	err = s.write(ctx, func(w *write) error {
		var thread int64
		err := w.QueryRow(`SELECT id FROM threads WHERE name = ? AND token = ? AND until IS NOT NULL`, l.Thread, l.Token).Scan(&thread)
		if errors.Is(err, sql.ErrNoRows) {
			return superseded(l)
		}
		if err != nil {
			return err
		}
		if _, err := locate(w.Tx, l.Thread, at); err != nil {
			return err
		}
		return s.prune(w, thread, l.Thread, at, base)
	})
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return nil
}

func (s *SQLite) prune(w *write, thread int64, name string, at graph.CommitID, base graph.Batch) error {
	old, err := s.line(w.Tx, thread, name, at)
	if err != nil {
		return err
	}
	// The run of the head learns where it ends so far.
	if _, err := w.Exec(`UPDATE runs SET last = h.id FROM threads t JOIN commits h ON h.id = t.head
		WHERE t.id = ? AND runs.id = h.run`, thread); err != nil {
		return err
	}
	w.holdings.drop(name) // its run may be gone
	inputs, size := 0, 0
	for _, c := range old {
		inputs += turns(c.Source)
		size += bodyBytes(c.Deltas)
		if err := w.dropCommit(c.ID); err != nil {
			return err
		}
	}
	if _, err := w.Exec(`DELETE FROM runs WHERE thread = ? AND last <= ?`, thread, int64(at)); err != nil {
		return err
	}
	// Of the commit itself stays what a new run or a resume looks at.
	c := old[0]
	c.Parent, c.Run, c.Source, c.Deltas = 0, base.Run, graph.SourceBase, base.Deltas
	e, err := newEntry(graph.Batch{Commit: c, Snapshot: base.Snapshot})
	if err != nil {
		return err
	}
	run, err := w.run(thread, c.Run, int64(at))
	if err != nil {
		return err
	}
	if err := e.save(w, holding{thread: thread, runID: run}, int64(at)); err != nil {
		return err
	}
	size -= bodyBytes(base.Deltas)
	if _, err := w.Exec(`UPDATE threads SET first = ?, inputs = inputs - ?, bytes = bytes - ? WHERE id = ?`,
		int64(at), inputs, size, thread); err != nil {
		return err
	}
	return s.sweep(w.Tx)
}

// line returns the commits from one back to the first, with their deltas.
func (s *SQLite) line(tx *sqlite.Tx, thread int64, name string, at graph.CommitID) ([]graph.Commit, error) {
	var commits []graph.Commit
	for next := at; next != 0; {
		part, err := s.walkPart(tx, name, next, walkMore)
		if err != nil {
			return nil, err
		}
		if len(part) == 0 {
			return nil, fmt.Errorf("commit %d of thread %d is missing", next, thread)
		}
		commits = append(commits, part...)
		next = part[len(part)-1].Parent
	}
	return commits, nil
}

func (w *write) dropCommit(id graph.CommitID) error {
	for _, statement := range []string{`DELETE FROM deltas WHERE at = ?`, `DELETE FROM snapshots WHERE at = ?`, `DELETE FROM commits WHERE id = ?`} {
		if _, err := w.Exec(statement, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements [Keeper].
func (s *SQLite) Delete(ctx context.Context, threads ...string) error {
	err := s.write(ctx, func(w *write) error {
		for _, name := range threads {
			if err := s.delete(w, name); err != nil {
				return fmt.Errorf("thread %q: %w", name, err)
			}
		}
		return s.sweep(w.Tx)
	})
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

// Expire implements [Keeper].
func (s *SQLite) Expire(ctx context.Context, before time.Time, dryRun bool) ([]Info, error) {
	var over []Info
	look := func(tx *sqlite.Tx) error {
		old, err := list(tx, before.UnixMicro())
		if err != nil {
			return err
		}
		over = nil
		for _, i := range old {
			switch _, err := s.holder(tx, i.Thread); {
			case errors.Is(err, graph.ErrBusy):
				continue
			case err != nil:
				return err
			}
			over = append(over, i)
		}
		return nil
	}
	err := s.db.Read(ctx, look) // most often nothing is over, and nothing need be written
	if err == nil && len(over) > 0 && !dryRun {
		err = s.write(ctx, func(w *write) error {
			if err := look(w.Tx); err != nil {
				return err
			}
			for _, i := range over {
				if err := s.delete(w, i.Thread); err != nil {
					return fmt.Errorf("thread %q: %w", i.Thread, err)
				}
			}
			return s.sweep(w.Tx)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("expire: %w", err)
	}
	return over, nil
}

func (s *SQLite) delete(w *write, name string) error {
	row, err := s.holder(w.Tx, name)
	if err != nil {
		return err
	}
	if !row.known() {
		return graph.ErrNotFound
	}
	id, token := row.id, row.token
	w.holdings.drop(name)
	if _, err := w.Exec(`INSERT INTO meta VALUES('`+lastCommitKey+`', `+lastCommit+`), ('`+lastTokenKey+`', ?)
		ON CONFLICT DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))`, token); err != nil {
		return err
	}
	// By the thread, not along the line: of a damaged thread all goes, too.
	for _, statement := range []string{
		`DELETE FROM deltas WHERE at IN (SELECT id FROM commits WHERE thread = ?)`,
		`DELETE FROM snapshots WHERE at IN (SELECT id FROM commits WHERE thread = ?)`,
		`DELETE FROM commits WHERE thread = ?`,
		`DELETE FROM pending WHERE thread = ?`,
		`DELETE FROM runs WHERE thread = ?`,
		`DELETE FROM threads WHERE id = ?`,
	} {
		if _, err := w.Exec(statement, id); err != nil {
			return err
		}
	}
	return nil
}

// Vacuum implements [Keeper].
func (s *SQLite) Vacuum(ctx context.Context) error { return s.db.Vacuum(ctx) }

// Snapshots implements [Keeper].
func (s *SQLite) Snapshots(ctx context.Context, thread string) ([]graph.CommitID, error) {
	var ids []graph.CommitID
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		ids = nil
		rows := tx.Query(`SELECT s.at FROM threads t JOIN commits c ON c.thread = t.id JOIN snapshots s ON s.at = c.id
			WHERE t.name = ? ORDER BY s.at`, thread)
		for row := range rows {
			var id graph.CommitID
			if err := row.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("snapshots of thread %q: %w", thread, err)
	}
	return ids, nil
}

// pend saves a result under a thread's row.
func (w *write) pend(thread int64, r graph.TaskResult) error {
	d, err := newDeltaRow(r.Delta, time.Unix(0, 0))
	if err != nil {
		return err
	}
	texts, err := d.texts(w, func(column string) string { return pendingPlace(r.Run, d.Node, column) })
	if err != nil {
		return err
	}
	_, err = w.Exec(`INSERT INTO pending(thread, run, step, attempt, rank, path, node, body, error, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		thread, r.Run, r.Step, r.Attempt, d.Rank, d.Path, d.Node, texts.body, texts.error, d.start, d.duration, texts.notes)
	return err
}
