package checkpoint

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Verify implements [Keeper]. Of a thread it looks at every commit, delta,
// snapshot and pending result: that parents stand in one line, texts are there,
// JSON is valid, counts and runs are right. Of the file: what SQLite itself can
// check, and that every text is found by its hash.
func (s *SQLite) Verify(ctx context.Context, threads ...string) ([]Finding, error) {
	var found []Finding
	all := len(threads) == 0
	if all {
		lines, err := s.db.Check(ctx)
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		for _, l := range lines {
			found = append(found, Finding{Problem: l})
		}
	}
	v := &verifier{s: s}
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		v.tx, v.found = tx, nil
		if err := v.count(); err != nil {
			return err
		}
		names := threads
		if all {
			names = nil
			if err := v.texts(`SELECT name FROM threads ORDER BY name`, func(name string) { names = append(names, name) }); err != nil {
				return err
			}
			if err := v.blobs(); err != nil {
				return err
			}
		}
		for _, name := range names {
			if err := v.verify(name); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, sqlite.ErrDamaged) { // a finding, not a hindrance
		return append(append(found, v.found...), Finding{Problem: err.Error()}), nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return append(found, v.found...), nil
}

// verifier is one look at a store, within one transaction.
type verifier struct {
	s      *SQLite
	tx     *sqlite.Tx
	thread string
	found  []Finding
	counts map[int64]int // of commits by thread
}

func (v *verifier) find(at graph.CommitID, format string, args ...any) {
	v.found = append(v.found, Finding{v.thread, at, fmt.Sprintf(format, args...)})
}

func (v *verifier) texts(query string, f func(string)) error {
	for row := range v.tx.Query(query) {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		f(text)
	}
	return nil
}

// count counts the commits of all threads at once: it reads the whole table.
func (v *verifier) count() error {
	v.counts = map[int64]int{}
	for row := range v.tx.Query(`SELECT thread, count(*) FROM commits GROUP BY thread`) {
		var thread int64
		var n int
		if err := row.Scan(&thread, &n); err != nil {
			return err
		}
		v.counts[thread] = n
	}
	return nil
}

// blobs checks that every long text is found by its hash.
func (v *verifier) blobs() error {
	v.thread = ""
	for row := range v.tx.Query(`SELECT b.id, b.body, k.hash FROM blobs b LEFT JOIN blobkeys k ON k.blob = b.id`) {
		var id int64
		var record string
		var hash sql.NullInt64
		if err := row.Scan(&id, &record, &hash); err != nil {
			return err
		}
		switch text, err := v.s.sealer.open(blobPlace, record); {
		case err != nil:
			v.find(0, "text %d: %v", id, err)
		case !hash.Valid:
			v.find(0, "text %d has no hash", id)
		case hash.Int64 != v.s.sealer.hashAsKept(record, text):
			v.find(0, "text %d does not match its hash", id)
		}
	}
	return v.texts(`SELECT CAST(blob AS TEXT) FROM blobkeys WHERE blob NOT IN (SELECT id FROM blobs)`, func(id string) {
		v.find(0, "text %s is missing", id)
	})
}

// threadRow is what the table says of a thread.
type threadRow struct {
	id, inputs, bytes int64
	first, head       sql.NullInt64
}

func (v *verifier) verify(name string) error {
	v.thread = name
	var t threadRow
	err := v.tx.QueryRow(`SELECT id, first, head, inputs, bytes FROM threads WHERE name = ?`, name).
		Scan(&t.id, &t.first, &t.head, &t.inputs, &t.bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("thread %q", name)
	}
	if err != nil {
		return err
	}
	commits := v.counts[t.id]
	if !t.head.Valid {
		if commits > 0 || t.first.Valid || t.inputs != 0 || t.bytes != 0 {
			v.find(0, "no head, but %d commits", commits)
		}
		return nil
	}
	line, err := v.line(t)
	if err != nil {
		return err
	}
	if len(line) != commits {
		v.find(0, "%d commits are in line, %d belong to the thread", len(line), commits)
	}
	for i, c := range line {
		if i%walkMore != 0 {
			continue
		}
		if err := v.snapshots(t, c.ID); err != nil {
			return err
		}
	}
	if err := v.deltas(t, line); err != nil {
		return err
	}
	if err := v.runs(t, line); err != nil {
		return err
	}
	return v.pending(t)
}

// stretch is a piece of a thread's line, from a commit back, of a number of commits;
// it ends early where the line is broken.
const stretch = `WITH RECURSIVE line(id, parent, time) AS (
	SELECT id, parent, time FROM commits WHERE id = ?1 AND thread = ?2
	UNION ALL
	SELECT c.id, c.parent, c.time FROM line JOIN commits c ON c.id = line.parent AND +c.thread = ?2 AND c.id < line.id
	LIMIT ?3) `

// line reads the commits from the head back, without deltas, and checks each by
// itself.
func (v *verifier) line(t threadRow) ([]graph.Commit, error) {
	var line []graph.Commit
	count := walkMore
	for at := graph.CommitID(t.head.Int64); ; {
		rows := v.tx.Query(stretch+`SELECT `+commitColumns+` FROM line JOIN commits c ON c.id = line.id
			LEFT JOIN runs r ON r.id = c.run AND r.thread = c.thread ORDER BY c.id DESC`, int64(at), t.id, count)
		part, err := v.s.scanCommits(v.tx, rows, v.thread)
		switch {
		case errors.Is(err, sqlite.ErrDamaged):
			return nil, err
		case err != nil && count > 1:
			count = 1 // which one is it?
			continue
		case err != nil:
			v.find(at, "%v", err)
			return line, nil
		case len(part) == 0:
			v.find(at, "the commit is missing, or is another thread's")
			return line, nil
		}
		for _, c := range part {
			if c.Source == "" || c.Status == "" || c.Step < 0 {
				v.find(c.ID, "source %q, status %q, step %d", c.Source, c.Status, c.Step)
			}
		}
		line = append(line, part...)
		switch last := part[len(part)-1]; {
		case last.Parent == 0:
			if int64(last.ID) != t.first.Int64 {
				v.find(last.ID, "the line begins here, not at commit %d", t.first.Int64)
			}
			return line, nil
		case last.Parent >= last.ID:
			v.find(last.ID, "its parent is commit %d, which is not older", last.Parent)
			return line, nil
		default:
			at = last.Parent
		}
	}
}

// snapshots checks those of a stretch of a thread's commits, from one back.
func (v *verifier) snapshots(t threadRow, from graph.CommitID) error {
	for row := range v.tx.Query(stretch+`SELECT s.at, s.body FROM line JOIN snapshots s ON s.at = line.id ORDER BY s.at`, int64(from), t.id, walkMore) {
		var at graph.CommitID
		var packed []byte
		if err := row.Scan(&at, &packed); err != nil {
			return err
		}
		if _, err := v.s.unpack(v.tx, at, packed); err != nil {
			v.find(at, "%v", err)
		}
	}
	return nil
}

// deltas checks every delta of a line, and the counts that depend on them.
func (v *verifier) deltas(t threadRow, line []graph.Commit) error {
	inputs, size := 0, 0
	for i, c := range line {
		inputs += turns(c.Source)
		if i%walkMore != 0 {
			continue
		}
		n, err := v.deltasOf(t, c.ID)
		if err != nil {
			return err
		}
		size += n
	}
	if int64(inputs) != t.inputs {
		v.find(0, "%d turns are counted, the log holds %d", t.inputs, inputs)
	}
	if int64(size) != t.bytes && len(v.found) == 0 { // else it is an echo of what was found
		v.find(0, "%d bytes are counted, the log holds %d", t.bytes, size)
	}
	return nil
}

// deltasOf checks those of a stretch of the line, and returns their size.
func (v *verifier) deltasOf(t threadRow, from graph.CommitID) (size int, err error) {
	rows := v.tx.Query(stretch+`SELECT c.id, 0, c.rank, c.body, c.notes FROM line JOIN commits c ON c.id = line.id WHERE c.rank IS NOT NULL
		UNION ALL SELECT d.at, d.n, d.rank, d.body, d.notes FROM line JOIN deltas d ON d.at = line.id ORDER BY 1, 2`, int64(from), t.id, walkMore)
	var of graph.CommitID
	last, n := 0, 0
	for row := range rows {
		var at graph.CommitID
		var body, notes []byte
		var rank, position int
		if err := row.Scan(&at, &position, &rank, &body, &notes); err != nil {
			return 0, err
		}
		if at != of {
			of, last, n = at, math.MinInt, 0
		}
		var d graph.Delta
		place := func(column string) string { return deltaPlace(int64(at), column) }
		if err := v.s.fill(v.tx, &d, body, notes, place, time.Time{}, sql.NullInt64{}, sql.NullInt64{}); err != nil {
			v.find(at, "delta %d: %v", n, err)
		}
		if position != n || rank < last {
			v.find(at, "delta %d is out of order", n)
		}
		last = rank
		n++
		size += len(d.Body)
	}
	return size, nil
}

// runs checks that each run knows its newest commit, and that its commits stand
// together.
func (v *verifier) runs(t threadRow, line []graph.Commit) error {
	newest := map[string]graph.CommitID{}
	for i, c := range line {
		if _, seen := newest[c.Run]; !seen {
			newest[c.Run] = c.ID
		} else if line[i-1].Run != c.Run {
			v.find(c.ID, "run %q is interrupted by another", c.Run)
		}
	}
	for row := range v.tx.Query(`SELECT r.key, r.last FROM runs r WHERE r.thread = ?`, t.id) {
		var key any
		var last graph.CommitID
		if err := row.Scan(&key, &last); err != nil {
			return err
		}
		run, err := runOf(key)
		if err != nil {
			v.find(last, "%v", err)
			continue
		}
		if run == line[0].Run && last > 0 && last <= newest[run] {
			continue // the run of the head; its end is noted once another follows
		}
		if newest[run] != last {
			v.find(last, "run %q says it ended here, the log says at commit %d", run, newest[run])
		}
	}
	return nil
}

func (v *verifier) pending(t threadRow) error {
	for row := range v.tx.Query(`SELECT run, node, body, notes FROM pending WHERE thread = ? ORDER BY id`, t.id) {
		var run, node string
		var parts [2][]byte
		if err := row.Scan(&run, &node, &parts[0], &parts[1]); err != nil {
			return err
		}
		for i, p := range parts {
			text, err := v.s.opened(v.tx, pendingPlace(run, node, []string{"body", "notes"}[i]), p)
			if err == nil && len(text) > 0 && !json.Valid(text) {
				err = errors.New("not valid JSON")
			}
			if err != nil {
				v.find(0, "pending result of node %q: %v", node, err)
			}
		}
	}
	return nil
}
