package checkpoint

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Commit implements [graph.Store]. It renews the lease, too. Bodies that are
// not JSON in UTF-8 are refused with an [EntryError]; bytes of Error that are
// not UTF-8 are replaced.
func (s *SQLite) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := cleanBatch(l.Thread, b, s.clock())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	e, err := newEntry(b)
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	var at int64
	var now holding
	err = s.write(ctx, func(w *write) error {
		was, err := w.advance(l, b, s.micros())
		if err != nil {
			return err
		}
		if now, err = w.runOf(was, b.Commit); err != nil {
			return err
		}
		at, err = e.save(w, now, 0)
		if err == nil && now.pending && !b.KeepPending {
			now.pending = false
			_, err = w.Exec(`DELETE FROM pending WHERE thread = ?`, now.thread)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	if b.Release {
		s.holdings.drop(l.Thread)
	} else {
		s.holdings.put(l.Thread, now)
	}
	return graph.CommitID(at), nil
}

// Pend implements [graph.Store]. It renews the lease, too. Of the same attempt
// saved twice the first one stands.
func (s *SQLite) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := cleanResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	var h holding
	err = s.write(ctx, func(w *write) error {
		if h, err = w.holding(l); err != nil {
			return err
		}
		moved, err := w.Exec(`UPDATE threads SET until = ? + ttl WHERE id = ? AND token = ? AND until IS NOT NULL`, s.micros(), h.thread, l.Token)
		if err != nil {
			return err
		}
		if n, err := moved.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, superseded(l))
		}
		return w.pend(h.thread, r)
	})
	if err != nil {
		return fmt.Errorf("pend: %w", err)
	}
	h.pending = true
	s.holdings.put(l.Thread, h)
	return nil
}

// write runs fn in a transaction and remembers the names it added.
func (s *SQLite) write(ctx context.Context, fn func(*write) error) error {
	var w *write
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		w = &write{Tx: tx, names: &s.names, holdings: &s.holdings, sealer: s.sealer}
		return fn(w)
	})
	if err == nil {
		w.saved()
	}
	return err
}

// advance moves the head to the next commit, if lease and parent are right.
func (w *write) advance(l graph.Lease, b graph.Batch, now int64) (holding, error) {
	h, err := w.holding(l)
	if err != nil {
		return h, err
	}
	const move = `UPDATE threads SET head = ` + lastCommit + ` + 1, first = coalesce(first, ` + lastCommit + ` + 1),
		inputs = inputs + ?, bytes = bytes + ?, `
	const where = ` WHERE id = ? AND token = ? AND until IS NOT NULL AND coalesce(head, 0) = ?`
	inputs, size := turns(b.Source), bodyBytes(b.Deltas)
	var moved sql.Result
	if b.Release {
		moved, err = w.Exec(move+`owner = '', until = NULL`+where, inputs, size, h.thread, l.Token, int64(b.Parent))
	} else {
		moved, err = w.Exec(move+`until = ? + ttl`+where, inputs, size, now, h.thread, l.Token, int64(b.Parent))
	}
	if err != nil {
		return h, err
	}
	if n, err := moved.RowsAffected(); err != nil || n == 1 {
		return h, err
	}
	var head int64
	err = w.QueryRow(`SELECT coalesce(head, 0) FROM threads WHERE name = ? AND token = ? AND until IS NOT NULL`,
		l.Thread, l.Token).Scan(&head)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return h, superseded(l)
	case err != nil:
		return h, err
	}
	return h, conflict(l.Thread, graph.CommitID(head), b.Parent)
}

// runOf finds or adds the run of a commit that the head has just moved to. The
// run of a thread's head has no end yet; it is noted once another run follows.
func (w *write) runOf(h holding, c graph.Commit) (holding, error) {
	if h.run == c.Run && h.runID != 0 {
		return h, nil
	}
	if c.Parent != 0 {
		if _, err := w.Exec(`UPDATE runs SET last = ?1 WHERE id = (SELECT run FROM commits WHERE id = ?1)`, int64(c.Parent)); err != nil {
			return h, err
		}
	}
	var err error
	h.run = c.Run
	h.runID, err = w.run(h.thread, c.Run, nil)
	return h, err
}

// run returns the id of a run, adding it where it is new; last is its newest
// commit, the head's where it is nil.
func (w *write) run(thread int64, run string, last any) (id int64, err error) {
	key := runKey(run)
	added, err := w.Exec(`INSERT INTO runs(thread, key, last) VALUES(?1, ?2, coalesce(?3, (SELECT head FROM threads WHERE id = ?1)))
		ON CONFLICT DO NOTHING`, thread, key, last)
	if err != nil {
		return 0, err
	}
	if n, err := added.RowsAffected(); err == nil && n == 1 {
		return added.LastInsertId()
	}
	if last != nil {
		if _, err := w.Exec(`UPDATE runs SET last = ? WHERE key = ? AND thread = ?`, last, key, thread); err != nil {
			return 0, err
		}
	}
	return id, w.QueryRow(`SELECT id FROM runs WHERE key = ? AND thread = ?`, key, thread).Scan(&id)
}

// entry is a commit made ready outside of the writer's transaction.
type entry struct {
	graph.Commit
	frontier string
	deltas   []deltaRow
	snapshot *outlined
}

// deltaRow is a delta cut into what the table keeps.
type deltaRow struct {
	graph.Delta
	body, notes     *outlined // nil: NULL
	start, duration any
}

func newEntry(b graph.Batch) (*entry, error) {
	e := &entry{Commit: b.Commit, deltas: make([]deltaRow, len(b.Deltas))}
	if len(b.Frontier) > 0 {
		text, err := json.Marshal(b.Frontier)
		if err != nil {
			return nil, err
		}
		e.frontier = string(text)
	}
	for i, d := range b.Deltas {
		var err error
		if e.deltas[i], err = newDeltaRow(d, b.Time); err != nil {
			return nil, fmt.Errorf("delta %d: %w", i, err)
		}
	}
	if b.Snapshot != nil {
		o := outline(b.Snapshot)
		e.snapshot = &o
	}
	return e, nil
}

// newDeltaRow keeps the start relative to a base, which takes fewer bytes.
// Times too far from it stay in the notes.
func newDeltaRow(d graph.Delta, base time.Time) (deltaRow, error) {
	row := deltaRow{Delta: d}
	if len(d.Body) > 0 {
		o := outline(d.Body)
		row.body = &o
	}
	n := d.Notes
	if offset := n.Start.Sub(base); !n.Start.IsZero() && base.Add(offset).Equal(n.Start) {
		row.start, n.Start = offset.Nanoseconds(), time.Time{}
	}
	if n.Duration != 0 {
		row.duration, n.Duration = n.Duration.Nanoseconds(), 0
	}
	if reflect.ValueOf(n).IsZero() {
		return row, nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return row, fmt.Errorf("notes of node %q: %w", d.Node, err)
	}
	o := outline(text)
	row.notes = &o
	return row, nil
}

// save writes the commit under a given id, or at the head of its thread where
// that is 0, and returns the id.
func (e *entry) save(w *write, h holding, id int64) (int64, error) {
	var ids [4]any
	for i, name := range []string{string(e.Source), string(e.Status), e.Fingerprint, e.frontier} {
		var err error
		if ids[i], err = w.name(name); err != nil {
			return 0, err
		}
	}
	saved, err := w.Exec(`INSERT INTO commits(id, parent, thread, run, step, source, status, time, graph, frontier, error)
		VALUES(coalesce(?1, (SELECT head FROM threads WHERE id = ?3)), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
		orNone(id), orNone(int64(e.Parent)), h.thread, h.runID, e.Step, ids[0], ids[1], e.Time.UnixMicro(), ids[2], ids[3], nil)
	if err != nil {
		return 0, err
	}
	at, err := saved.LastInsertId()
	if err != nil {
		return 0, err
	}
	if e.Error != "" { // sealed for its place, which is known only now
		problem, err := w.sealer.seal(commitPlace(at), e.Error)
		if err != nil {
			return 0, err
		}
		if _, err := w.Exec(`UPDATE commits SET error = ? WHERE id = ?`, problem, at); err != nil {
			return 0, err
		}
	}
	for n := range e.deltas {
		if err := e.deltas[n].save(w, at, n); err != nil {
			return 0, err
		}
	}
	return at, e.saveSnapshot(w, at)
}

func (d *deltaRow) save(w *write, at int64, n int) error {
	path, err := w.name(d.Path)
	if err != nil {
		return err
	}
	node, err := w.name(d.Node)
	if err != nil {
		return err
	}
	texts, err := d.texts(w, func(column string) string { return deltaPlace(at, column) })
	if err != nil {
		return err
	}
	_, err = w.Exec(`INSERT INTO deltas(at, n, rank, path, node, body, error, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, n, d.Rank, path, node, texts.body, texts.error, d.start, d.duration, texts.notes)
	return err
}

// deltaTexts are SQL values.
type deltaTexts struct{ body, notes, error any }

// texts returns what a delta says, for its places: long strings saved, all sealed.
func (d *deltaRow) texts(w *write, place func(column string) string) (t deltaTexts, err error) {
	if t.body, err = w.text(d.body, place, "body"); err != nil {
		return t, err
	}
	if t.notes, err = w.text(d.notes, place, "notes"); err != nil || d.Error == "" {
		return t, err
	}
	t.error, err = w.sealer.seal(place("error"), d.Error)
	return t, err
}

func (w *write) text(o *outlined, place func(string) string, column string) (any, error) {
	if o == nil {
		return nil, nil // nil is the SQL NULL
	}
	joined, err := w.join(*o)
	if err != nil || w.sealer == nil {
		return string(joined), err
	}
	return w.sealer.seal(place(column), string(joined))
}

func (e *entry) saveSnapshot(w *write, at int64) error {
	if e.snapshot == nil {
		return nil
	}
	joined, err := w.join(*e.snapshot)
	if err != nil {
		return err
	}
	packed, err := deflate(joined)
	if err == nil {
		packed, err = w.sealer.sealBytes(snapshotPlace(at), packed)
	}
	if err != nil {
		return err
	}
	_, err = w.Exec(`INSERT INTO snapshots(at, body) VALUES(?, ?)`, at, packed)
	return err
}

// deflaters are kept because each takes more than a megabyte.
var deflaters sync.Pool //nolint:gochecknoglobals // holds nothing but memory

func deflate(body []byte) ([]byte, error) {
	var packed bytes.Buffer
	z, ok := deflaters.Get().(*flate.Writer)
	if ok {
		z.Reset(&packed)
	} else {
		var err error
		if z, err = flate.NewWriter(&packed, flate.DefaultCompression); err != nil {
			return nil, err
		}
	}
	defer deflaters.Put(z)
	_, err := z.Write(body)
	err = errors.Join(err, z.Close())
	return packed.Bytes(), err
}

// join saves the strings of a body that are new and puts their ids into it.
func (w *write) join(o outlined) ([]byte, error) {
	ids := make([]int64, len(o.blobs))
	for i, b := range o.blobs {
		var err error
		if ids[i], err = w.blob(b.text); err != nil {
			return nil, err
		}
	}
	return o.join(ids), nil
}

// blob returns the id of a text, saving it where it is new. The hash only
// finds candidates; the texts themselves are compared.
func (w *write) blob(text string) (int64, error) {
	hash := w.sealer.hash(text)
	var id int64
	err := w.QueryRow(`SELECT blob FROM blobkeys WHERE hash = ? LIMIT 1`, hash).Scan(&id)
	if err == nil { // most texts are new, and end at the look above
		id, err = w.sameBlob(hash, text)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	sealed, err := w.sealer.seal(blobPlace, text)
	if err != nil {
		return 0, err
	}
	added, err := w.Exec(`INSERT INTO blobs(body) VALUES(?)`, sealed)
	if err == nil {
		id, err = added.LastInsertId()
	}
	if err != nil {
		return 0, err
	}
	_, err = w.Exec(`INSERT INTO blobkeys(hash, blob) VALUES(?, ?)`, hash, id)
	return id, err
}

// sameBlob finds the text among those of its hash; sql.ErrNoRows where it is not
// there.
func (w *write) sameBlob(hash int64, text string) (id int64, err error) {
	if w.sealer == nil {
		err = w.QueryRow(`SELECT blob FROM blobkeys WHERE hash = ? AND (SELECT body FROM blobs WHERE id = blob) = ?`, hash, text).Scan(&id)
		return id, err
	}
	rows, err := w.Query(`SELECT b.id, b.body FROM blobkeys k JOIN blobs b ON b.id = k.blob WHERE k.hash = ?`, hash)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var record string
		if err := rows.Scan(&id, &record); err != nil {
			return 0, err
		}
		if got, err := w.sealer.open(blobPlace, record); err != nil || got == text {
			return id, err
		}
	}
	return 0, errors.Join(rows.Err(), sql.ErrNoRows)
}

func orNone(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
