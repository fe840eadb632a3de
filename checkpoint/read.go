package checkpoint

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// find returns the row id of a thread and checks that a commit belongs to it; at 0
// it returns the head.
func find(ctx context.Context, tx *sqlite.Tx, name string, at graph.CommitID) (thread int64, found graph.CommitID, err error) {
	err = tx.QueryRow(`SELECT id, coalesce(head, 0) FROM threads WHERE name = ?1 AND ?2 IN ('', owner)`, name, graph.OwnerOf(ctx)).
		Scan(&thread, &found)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, stored.NotFound("thread %q", name)
	}
	if err == nil && found == 0 {
		return 0, 0, stored.NotFound("commit of thread %q", name)
	}
	if err != nil || at == 0 || at == found {
		return thread, found, err
	}
	var one int
	err = tx.QueryRow(`SELECT 1 FROM commits WHERE id = ? AND thread = ?`, int64(at), thread).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, stored.NotFound("thread %q, commit %d", name, at)
	}
	return thread, at, err
}

// Head implements [graph.Store].
func (s *SQLite) Head(ctx context.Context, thread string) (head graph.Commit, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		_, at, err := find(ctx, tx, thread, 0)
		if err != nil {
			return err
		}
		commits, err := s.commits(tx, thread, at, 1)
		if err == nil && (len(commits) == 0 || commits[0].ID != at) {
			err = fmt.Errorf("commit %d is missing", at)
		}
		if err == nil {
			head = commits[0]
		}
		return err
	})
	if err != nil {
		return graph.Commit{}, fmt.Errorf("head: %w", err)
	}
	return head, nil
}

// Load implements [graph.Store]. At commit 0 it loads the head.
func (s *SQLite) Load(ctx context.Context, thread string, at graph.CommitID) (graph.Snapshot, []graph.Delta, error) {
	var snapshot graph.Snapshot
	var deltas []graph.Delta
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		snapshot, deltas = graph.Snapshot{}, nil
		_, newest, err := find(ctx, tx, thread, at)
		if err != nil {
			return err
		}
		var packed []byte
		err = tx.QueryRow(line+`SELECT c.id, c.snapshot FROM line l CROSS JOIN commits c ON c.id = l.id WHERE c.snapshot IS NOT NULL LIMIT 1`,
			int64(newest), 0).Scan(&snapshot.At, &packed)
		if err == nil {
			snapshot.Body, err = s.unpack(thread, snapshot.At, packed)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return s.deltas(tx, thread, snapshot.At, newest, func(_ graph.CommitID, d graph.Delta) { deltas = append(deltas, d) })
	})
	if err != nil {
		return graph.Snapshot{}, nil, fmt.Errorf("load: %w", err)
	}
	return snapshot, deltas, nil
}

// unpack decodes the body of a snapshot.
func (s *SQLite) unpack(thread string, at graph.CommitID, packed []byte) ([]byte, error) {
	body, err := s.sealer.open(s.sealer.snapshotPlace(thread, at), packed)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return stored.UnpackSnapshot(body)
}

// Walk implements [graph.Store]. It reads in parts and uses no connection while the caller
// handles a commit. If the thread is pruned or deleted during the walk, the walk ends with
// [graph.ErrNotFound].
func (s *SQLite) Walk(ctx context.Context, thread string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return stored.WalkInParts(from, func(from graph.CommitID, count int) (commits []graph.Commit, err error) {
		err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
			_, at, err := find(ctx, tx, thread, from)
			if err == nil {
				commits, err = s.walk(tx, thread, at, count)
			}
			return err
		})
		return commits, err
	})
}

// walk returns up to count commits with their deltas, newest first.
func (s *SQLite) walk(tx *sqlite.Tx, thread string, from graph.CommitID, count int) ([]graph.Commit, error) {
	commits, err := s.commits(tx, thread, from, count)
	if err != nil {
		return nil, err
	}
	return commits, stored.Fill(commits, func(after, upTo graph.CommitID, f func(graph.CommitID, graph.Delta)) error {
		return s.deltas(tx, thread, after, upTo, f)
	})
}

// commits returns up to count commits of a thread without deltas, newest first.
func (s *SQLite) commits(tx *sqlite.Tx, thread string, from graph.CommitID, count int) ([]graph.Commit, error) {
	var commits []graph.Commit
	unnamed, next := 0, from // how many of the last commits have the run of the one before
	for row := range tx.Query(line+`SELECT c.id, coalesce(c.parent, 0), c.run, c.step, k.source, k.status, c.time, k.graph, k.frontier, c.error
		FROM line l CROSS JOIN commits c ON c.id = l.id CROSS JOIN kinds k ON k.id = c.kind LIMIT ?3`, int64(from), 0, count) {
		c := graph.Commit{Thread: thread}
		var micros int64
		var frontier []byte
		var problem any
		var run sql.NullString
		err := row.Scan(&c.ID, &c.Parent, &run, &c.Step, &c.Source, &c.Status, &micros, &c.Fingerprint, &frontier, &problem)
		if err != nil {
			return nil, err
		}
		if c.ID != next {
			break
		}
		next = c.Parent
		if len(frontier) > 0 {
			if err := json.Unmarshal(frontier, &c.Frontier); err != nil {
				return nil, fmt.Errorf("commit %d: frontier: %w", c.ID, err)
			}
		}
		c.Time = time.UnixMicro(micros).UTC()
		text, err := s.sealer.open(s.sealer.errorPlace(thread, c.ID), problem)
		if err != nil {
			return nil, fmt.Errorf("commit %d: error: %w", c.ID, err)
		}
		c.Error = string(text)
		commits = append(commits, c)
		if unnamed++; run.Valid {
			setRuns(commits, &unnamed, run.String)
		}
	}
	if len(commits) < count && next != 0 {
		return nil, fmt.Errorf("commit %d is missing", next)
	}
	if unnamed == 0 {
		return commits, nil
	}
	var run string
	err := tx.QueryRow(`SELECT `+runOf+` FROM commits c WHERE id = ?`, int64(commits[len(commits)-1].ID)).Scan(&run)
	setRuns(commits, &unnamed, run)
	return commits, err
}

// setRuns sets the run of the last commits that have none yet.
func setRuns(commits []graph.Commit, unnamed *int, run string) {
	for ; *unnamed > 0; *unnamed-- {
		commits[len(commits)-*unnamed].Run = run
	}
}

// deltas calls f with the deltas of the commits of a thread after one commit, up
// to and including another, oldest first.
func (s *SQLite) deltas(tx *sqlite.Tx, thread string, after, upTo graph.CommitID, f func(graph.CommitID, graph.Delta)) error {
	last := after
	for row := range tx.Query(line+`SELECT c.id, coalesce(c.parent, 0), c.time, c.deltas, 0, k.rank, k.path, k.node, c.body, c.problem, c.start, c.duration, c.notes
		FROM line l CROSS JOIN commits c ON c.id = l.id CROSS JOIN kinds k ON k.id = c.kind
		UNION ALL SELECT c.id, 0, c.time, c.deltas, d.n, d.rank, d.path, d.node, d.body, d.problem, d.start, d.duration, d.notes
		FROM line l CROSS JOIN commits c ON c.id = l.id CROSS JOIN deltas d ON d.at = c.id WHERE c.deltas > 1
		ORDER BY 1, 5`, int64(upTo), int64(after)) {
		var at, parent graph.CommitID
		var micros int64
		var count, n int
		var d graph.Delta
		var c columns
		if err := row.Scan(&at, &parent, &micros, &count, &n, &d.Rank, &d.Path, &d.Node, &c.body, &c.problem, &c.start, &c.duration, &c.notes); err != nil {
			return err
		}
		if n == 0 {
			if parent != last && (last != after || parent > after) {
				return fmt.Errorf("commit %d is missing", parent)
			}
			last = at
		}
		if count == 0 {
			continue
		}
		if err := s.decode(&d, c, s.sealer.deltaPlace(thread, at, n), time.UnixMicro(micros)); err != nil {
			return fmt.Errorf("commit %d, node %q: %w", at, d.Node, err)
		}
		f(at, d)
	}
	return nil
}

// decode sets body, error and notes of a delta from their columns.
func (s *SQLite) decode(d *graph.Delta, c columns, place string, base time.Time) error {
	body, err := s.sealer.open(place+" body", c.body)
	if err == nil && body != nil && !json.Valid(body) {
		err = errors.New("body is not valid JSON")
	}
	if err != nil {
		return err
	}
	problem, err := s.sealer.open(place+" error", c.problem)
	if err != nil {
		return fmt.Errorf("error: %w", err)
	}
	notes, err := s.sealer.open(place+" notes", c.notes)
	if err == nil && notes != nil {
		err = json.Unmarshal(notes, &d.Notes)
	}
	if err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	d.Body, d.Error = body, string(problem)
	if start, ok := c.start.(int64); ok {
		d.Notes.Start = base.Add(time.Duration(start)).UTC()
	}
	if duration, ok := c.duration.(int64); ok {
		d.Notes.Duration = time.Duration(duration)
	}
	return nil
}

// Pending implements [graph.Store]. A thread that does not exist has none.
func (s *SQLite) Pending(ctx context.Context, thread string) (results []graph.TaskResult, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		if _, _, err := find(ctx, tx, thread, 0); graph.OwnerOf(ctx) != "" && err != nil {
			return stored.NilIfNotFound(err)
		}
		results, err = s.pending(tx, thread)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pending results of thread %q: %w", thread, err)
	}
	return results, nil
}

func (s *SQLite) pending(tx *sqlite.Tx, thread string) ([]graph.TaskResult, error) {
	var results []graph.TaskResult
	for row := range tx.Query(`SELECT p.run, p.step, p.attempt, p.rank, p.path, p.node, p.body, p.problem, p.start, p.duration, p.notes
		FROM pending p JOIN threads t ON t.id = p.thread WHERE t.name = ? ORDER BY p.rank, p.id`, thread) {
		var r graph.TaskResult
		d := &r.Delta
		var c columns
		if err := row.Scan(&r.Run, &r.Step, &r.Attempt, &d.Rank, &d.Path, &d.Node, &c.body, &c.problem, &c.start, &c.duration, &c.notes); err != nil {
			return nil, err
		}
		if err := s.decode(d, c, s.sealer.pendingPlace(thread, r), time.Unix(0, 0)); err != nil {
			return nil, fmt.Errorf("pending result of node %q: %w", d.Node, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// FindRun returns the thread of a run and the newest commit of the run;
// [graph.ErrNotFound] if no commit belongs to it. If several threads have the run,
// it returns the thread where the run ended first: forks are newer.
func (s *SQLite) FindRun(ctx context.Context, run string) (thread string, last graph.CommitID, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`WITH begin AS (SELECT thread, max(id) AS id FROM commits WHERE run = ? GROUP BY thread)
			SELECT t.name, coalesce((SELECT n.parent FROM commits n WHERE n.thread = b.thread AND n.id > b.id AND n.run IS NOT NULL
				ORDER BY n.id LIMIT 1), t.head) FROM begin b JOIN threads t ON t.id = b.thread WHERE ?2 IN ('', t.owner) ORDER BY 2 LIMIT 1`,
			run, graph.OwnerOf(ctx)).Scan(&thread, &last)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, stored.NotFound("run %q", run)
	}
	return thread, last, err
}

// Snapshots returns the commits of a thread that have a snapshot, oldest first.
func (s *SQLite) Snapshots(ctx context.Context, thread string) (ids []graph.CommitID, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		_, head, err := find(ctx, tx, thread, 0)
		if err == nil {
			ids, err = column[graph.CommitID](tx, line+`SELECT c.id FROM line l CROSS JOIN commits c ON c.id = l.id WHERE c.snapshot IS NOT NULL ORDER BY c.id`,
				int64(head), 0)
		}
		return stored.NilIfNotFound(err)
	})
	return ids, err
}
