package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// change is a delta as JSON. The start of a task is relative to the time of its commit, and
// stays in the notes where that is not exact.
type change struct {
	Rank  int             `json:"rank,omitempty"`
	Path  string          `json:"path,omitempty"`
	Node  string          `json:"node,omitempty"`
	Start int64           `json:"start,omitempty"` // microseconds
	Took  time.Duration   `json:"took,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
	Text  string          `json:"text,omitempty"` // the body, if nesting would change its bytes
	Error string          `json:"error,omitempty"`
	Notes graph.Notes     `json:"notes,omitzero"`
}

// newChange encodes a delta. Base is the time of its commit; zero: the start is not relative.
func newChange(d graph.Delta, base time.Time) change {
	c := change{Rank: d.Rank, Path: d.Path, Node: d.Node, Took: d.Notes.Duration, Error: d.Error, Notes: d.Notes}
	c.Body, c.Text = stored.Nest(d.Body)
	c.Notes.Duration = 0
	start := d.Notes.Start.Sub(base).Microseconds()
	if start != 0 && !base.IsZero() && base.Add(time.Duration(start)*time.Microsecond).Equal(d.Notes.Start) {
		c.Start, c.Notes.Start = start, time.Time{}
	}
	return c
}

func (c change) delta(base time.Time) graph.Delta {
	d := graph.Delta{Rank: c.Rank, Path: c.Path, Node: c.Node, Body: c.Body, Error: c.Error, Notes: c.Notes}
	if c.Text != "" {
		d.Body = []byte(c.Text)
	}
	if c.Took != 0 {
		d.Notes.Duration = c.Took
	}
	if c.Start != 0 {
		d.Notes.Start = base.Add(time.Duration(c.Start) * time.Microsecond).UTC()
	}
	return d
}

// encode returns the column of a value as JSON.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// encodeDeltas returns the column changes of deltas; empty for none.
func encodeDeltas(deltas []graph.Delta, base time.Time) (string, error) {
	if len(deltas) == 0 {
		return "", nil
	}
	changes := make([]change, len(deltas))
	for i, d := range deltas {
		changes[i] = newChange(d, base)
	}
	return encode(changes)
}

// decodeDeltas reverts encodeDeltas. The error says that the changes are damaged.
func decodeDeltas(column string, base time.Time) ([]graph.Delta, error) {
	if column == "" {
		return nil, nil
	}
	var changes []change
	if err := json.Unmarshal([]byte(column), &changes); err != nil {
		return nil, fmt.Errorf("changes: %w", err)
	}
	deltas := make([]graph.Delta, len(changes))
	for i, c := range changes {
		if deltas[i] = c.delta(base); c.Text != "" && !json.Valid(deltas[i].Body) {
			return nil, fmt.Errorf("changes: node %q: body is not valid JSON", c.Node)
		}
	}
	return deltas, nil
}
