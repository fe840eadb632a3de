package checkpoint

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"example.com/ragflow/graph"
)

// entry is a commit made ready outside of the writer's transaction.
type entry struct {
	graph.Commit
	frontier string
	deltas   []deltaRow // the first stands in the commit's own row
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
	if reflect.ValueOf(&n).Elem().IsZero() {
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

// save writes the commit under an id.
func (e *entry) save(w *write, h holding, at int64) error {
	var ids [4]any
	for i, name := range []string{string(e.Source), string(e.Status), e.Fingerprint, e.frontier} {
		var err error
		if ids[i], err = w.name(name); err != nil {
			return err
		}
	}
	var first deltaCells
	var problem any
	var err error
	if len(e.deltas) > 0 {
		if first, err = e.deltas[0].cells(w, at); err != nil {
			return err
		}
	}
	if e.Error != "" {
		if problem, err = w.sealer.seal(commitPlace(at), e.Error); err != nil {
			return err
		}
	}
	err = w.Do(`INSERT INTO commits(id, parent, thread, run, step, source, status, time, graph, frontier, error,
			rank, path, node, body, failure, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, orNone(int64(e.Parent)), h.thread, h.runID, e.Step, ids[0], ids[1], e.Time.UnixMicro(), ids[2], ids[3], problem,
		first.rank, first.path, first.node, first.body, first.error, first.start, first.duration, first.notes)
	if err != nil {
		return err
	}
	for n := 1; n < len(e.deltas); n++ {
		if err := e.deltas[n].save(w, at, n); err != nil {
			return err
		}
	}
	return e.saveSnapshot(w, at)
}

func (d *deltaRow) save(w *write, at int64, n int) error {
	c, err := d.cells(w, at)
	if err != nil {
		return err
	}
	return w.Do(`INSERT INTO deltas(at, n, rank, path, node, body, error, start, duration, notes)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, n, c.rank, c.path, c.node, c.body, c.error, c.start, c.duration, c.notes)
}

// deltaCells are the SQL values of a delta.
type deltaCells struct {
	deltaTexts
	rank, path, node, start, duration any
}

// cells returns what the columns of a delta hold.
func (d *deltaRow) cells(w *write, at int64) (c deltaCells, err error) {
	c.rank, c.start, c.duration = d.Rank, d.start, d.duration
	if c.path, err = w.name(d.Path); err != nil {
		return c, err
	}
	if c.node, err = w.name(d.Node); err != nil {
		return c, err
	}
	c.deltaTexts, err = d.texts(w, func(column string) string { return deltaPlace(at, column) })
	return c, err
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
	return w.Do(`INSERT INTO snapshots(at, body) VALUES(?, ?)`, at, packed)
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

func orNone(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
