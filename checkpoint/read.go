package checkpoint

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Threads implements [Store].
func (s *SQLite) Threads(ctx context.Context) ([]Info, error) {
	var infos []Info
	err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		infos, err = list(tx, math.MaxInt64)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	return infos, nil
}

// list returns the threads whose newest commit was made before a time in
// microseconds.
func list(tx *sqlite.Tx, before int64) ([]Info, error) {
	rows := tx.Query(`SELECT t.name, t.created, t.first, t.head, t.inputs, t.bytes, c.time, coalesce(n.name, '')
		FROM threads t JOIN commits c ON c.id = t.head LEFT JOIN names n ON n.id = c.status
		WHERE c.time < ? ORDER BY t.head DESC`, before)
	var infos []Info
	for row := range rows {
		var i Info
		var created, touched int64
		if err := row.Scan(&i.Thread, &created, &i.First, &i.Head, &i.Inputs, &i.Bytes, &touched, &i.Status); err != nil {
			return nil, err
		}
		i.Created, i.Touched = time.UnixMicro(created).UTC(), time.UnixMicro(touched).UTC()
		infos = append(infos, i)
	}
	return infos, nil
}

// FindRun implements [Store].
func (s *SQLite) FindRun(ctx context.Context, run string) (string, graph.CommitID, error) {
	var thread string
	var last graph.CommitID
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT t.name, CASE r.id WHEN h.run THEN h.id ELSE r.last END AS newest
			FROM runs r JOIN threads t ON t.id = r.thread LEFT JOIN commits h ON h.id = t.head
			WHERE r.key = ? ORDER BY newest LIMIT 1`, runKey(run)).Scan(&thread, &last)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, notFound("run %q", run)
	}
	return thread, last, err
}

// Runs implements [Store].
func (s *SQLite) Runs(ctx context.Context, prefix string) ([]string, error) {
	var ids []string
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		ids = nil
		rows := tx.Query(`SELECT DISTINCT `+runText+` AS uid FROM runs r
			WHERE substr(uid, 1, length(?1)) = ?1 ORDER BY uid LIMIT 100`, prefix)
		for row := range rows {
			var id string
			if err := row.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return ids, nil
}

// Head implements [graph.Store].
func (s *SQLite) Head(ctx context.Context, thread string) (graph.Commit, error) {
	var head graph.Commit
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		at, err := locate(tx, thread, 0)
		if err != nil {
			return err
		}
		rows := tx.Query(`SELECT `+commitColumns+` FROM commits c JOIN runs r ON r.id = c.run WHERE c.id = ?`, at)
		commits, err := s.scanCommits(tx, rows, thread)
		if err == nil && len(commits) != 1 {
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

// locate checks that a commit belongs to a thread; 0 means its head.
func locate(tx *sqlite.Tx, thread string, at graph.CommitID) (graph.CommitID, error) {
	var id int64
	var head sql.NullInt64
	err := tx.QueryRow(`SELECT id, head FROM threads WHERE name = ?`, thread).Scan(&id, &head)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("thread %q", thread)
	}
	if err != nil {
		return 0, err
	}
	if at == 0 {
		if !head.Valid {
			return 0, notFound("commit of thread %q", thread)
		}
		return graph.CommitID(head.Int64), nil
	}
	var one int
	err = tx.QueryRow(`SELECT 1 FROM commits WHERE id = ? AND thread = ?`, int64(at), id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, notFound("thread %q, commit %d", thread, at)
	}
	return at, err
}

// tail is the line of a commit back to the newest snapshot.
const tail = `WITH RECURSIVE line(id, parent, time, snap) AS (
	SELECT c.id, c.parent, c.time, s.at IS NOT NULL FROM commits c LEFT JOIN snapshots s ON s.at = c.id WHERE c.id = ?
	UNION ALL
	SELECT c.id, c.parent, c.time, s.at IS NOT NULL
	FROM line JOIN commits c ON c.id = line.parent LEFT JOIN snapshots s ON s.at = c.id WHERE NOT line.snap) `

// Load implements [graph.Store]. At commit 0 it loads the head.
func (s *SQLite) Load(ctx context.Context, thread string, at graph.CommitID) (graph.Snapshot, []graph.Delta, error) {
	var snapshot graph.Snapshot
	var deltas []graph.Delta
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		snapshot, deltas = graph.Snapshot{}, nil
		newest, err := locate(tx, thread, at)
		if err != nil {
			return err
		}
		rows := tx.Query(tail+deltasOf(`(SELECT id, time FROM line WHERE NOT snap)`), int64(newest))
		if err := s.eachDelta(tx, rows, func(_ graph.CommitID, d graph.Delta) { deltas = append(deltas, d) }); err != nil {
			return err
		}
		var packed []byte
		err = tx.QueryRow(tail+`SELECT s.at, s.body FROM line JOIN snapshots s ON s.at = line.id`, int64(newest)).Scan(&snapshot.At, &packed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			snapshot.Body, err = s.unpack(tx, snapshot.At, packed)
		}
		return err
	})
	if err != nil {
		return graph.Snapshot{}, nil, fmt.Errorf("load: %w", err)
	}
	return snapshot, deltas, nil
}

func (s *SQLite) unpack(tx *sqlite.Tx, at graph.CommitID, packed []byte) ([]byte, error) {
	body, err := s.sealer.openBytes(snapshotPlace(int64(at)), packed)
	if err == nil {
		body, err = inflate(body)
	}
	if err == nil {
		body, err = s.inlined(tx, body)
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return body, nil
}

func inflate(packed []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
}

// opened is a body as it was before it was sealed and its long strings cut out.
func (s *SQLite) opened(tx *sqlite.Tx, place string, record []byte) ([]byte, error) {
	body, err := s.sealer.open(place, string(record))
	if err != nil {
		return nil, err
	}
	return s.inlined(tx, []byte(body))
}

// inlined puts the long strings back into a body.
func (s *SQLite) inlined(tx *sqlite.Tx, body []byte) ([]byte, error) {
	if len(body) == 0 {
		return nil, nil
	}
	if !json.Valid(body) {
		return nil, errors.New("body is not valid JSON")
	}
	return inline(body, func(id int64) (text string, err error) {
		err = tx.QueryRow(`SELECT body FROM blobs WHERE id = ?`, id).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			err = errors.New("it is missing")
		}
		if err == nil {
			text, err = s.sealer.open(blobPlace, text)
		}
		return text, err
	})
}

// eachDelta reads rows of deltasOf.
func (s *SQLite) eachDelta(tx *sqlite.Tx, rows iter.Seq[sqlite.Row], f func(graph.CommitID, graph.Delta)) error {
	for row := range rows {
		var at graph.CommitID
		var micros, n int64
		var d graph.Delta
		var path, node, start, duration sql.NullInt64
		var body, notes []byte
		var problem sql.NullString
		err := row.Scan(&at, &micros, &n, &d.Rank, &path, &node, &body, &problem, &start, &duration, &notes)
		if err != nil {
			return err
		}
		if d.Path, err = s.nameOf(tx, path); err != nil {
			return err
		}
		if d.Node, err = s.nameOf(tx, node); err != nil {
			return err
		}
		place := func(column string) string { return deltaPlace(int64(at), column) }
		if d.Error, err = s.sealer.open(place("error"), problem.String); err != nil {
			return fmt.Errorf("commit %d, node %q: error: %w", at, d.Node, err)
		}
		if err := s.fill(tx, &d, body, notes, place, time.UnixMicro(micros), start, duration); err != nil {
			return fmt.Errorf("commit %d, node %q: %w", at, d.Node, err)
		}
		f(at, d)
	}
	return nil
}

// fill sets body and notes of a delta from their columns, whose places are given.
func (s *SQLite) fill(tx *sqlite.Tx, d *graph.Delta, body, notes []byte, place func(string) string, base time.Time, start, duration sql.NullInt64) (err error) {
	if d.Body, err = s.opened(tx, place("body"), body); err != nil {
		return err
	}
	if len(notes) > 0 {
		if notes, err = s.opened(tx, place("notes"), notes); err != nil {
			return fmt.Errorf("notes: %w", err)
		}
		if err := json.Unmarshal(notes, &d.Notes); err != nil {
			return fmt.Errorf("notes: %w", err)
		}
	}
	if start.Valid {
		d.Notes.Start = base.Add(time.Duration(start.Int64)).UTC()
	}
	if duration.Valid {
		d.Notes.Duration = time.Duration(duration.Int64)
	}
	return nil
}

// Pending implements [graph.Store]. A thread that does not exist has none.
func (s *SQLite) Pending(ctx context.Context, thread string) ([]graph.TaskResult, error) {
	var results []graph.TaskResult
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		results = nil
		rows := tx.Query(`SELECT p.run, p.step, p.attempt, p.rank, p.path, p.node, p.body, p.error, p.start, p.duration, p.notes
			FROM pending p JOIN threads t ON t.id = p.thread WHERE t.name = ? ORDER BY p.rank, p.id`, thread)
		for row := range rows {
			var r graph.TaskResult
			var body, notes []byte
			var problem sql.NullString
			var start, duration sql.NullInt64
			d := &r.Delta
			err := row.Scan(&r.Run, &r.Step, &r.Attempt, &d.Rank, &d.Path, &d.Node, &body, &problem, &start, &duration, &notes)
			if err != nil {
				return err
			}
			place := func(column string) string { return pendingPlace(r.Run, d.Node, column) }
			if d.Error, err = s.sealer.open(place("error"), problem.String); err != nil {
				return fmt.Errorf("node %q: error: %w", d.Node, err)
			}
			if err := s.fill(tx, d, body, notes, place, time.Unix(0, 0), start, duration); err != nil {
				return fmt.Errorf("node %q: %w", d.Node, err)
			}
			results = append(results, r)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pending results of thread %q: %w", thread, err)
	}
	return results, nil
}

// commitColumns fit scanCommits.
const commitColumns = `c.id, coalesce(c.parent, 0), r.key, c.step, c.source, c.status, c.time, c.graph, c.frontier, c.error`

// scanCommits reads rows of commitColumns.
func (s *SQLite) scanCommits(tx *sqlite.Tx, rows iter.Seq[sqlite.Row], thread string) ([]graph.Commit, error) {
	var commits []graph.Commit
	for row := range rows {
		c := graph.Commit{Thread: thread}
		var key any
		var micros int64
		var ids [4]sql.NullInt64
		var problem sql.NullString
		err := row.Scan(&c.ID, &c.Parent, &key, &c.Step, &ids[0], &ids[1], &micros, &ids[2], &ids[3], &problem)
		if err != nil {
			return nil, err
		}
		var texts [4]string
		for i, id := range ids {
			if texts[i], err = s.nameOf(tx, id); err != nil {
				return nil, err
			}
		}
		c.Source, c.Status, c.Fingerprint = graph.Source(texts[0]), graph.Status(texts[1]), texts[2]
		if texts[3] != "" {
			if err := json.Unmarshal([]byte(texts[3]), &c.Frontier); err != nil {
				return nil, fmt.Errorf("commit %d: frontier: %w", c.ID, err)
			}
		}
		if c.Run, err = runOf(key); err != nil {
			return nil, fmt.Errorf("commit %d: %w", c.ID, err)
		}
		c.Time = time.UnixMicro(micros).UTC()
		if c.Error, err = s.sealer.open(commitPlace(int64(c.ID)), problem.String); err != nil {
			return nil, fmt.Errorf("commit %d: error: %w", c.ID, err)
		}
		commits = append(commits, c)
	}
	return commits, nil
}
