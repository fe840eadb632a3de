package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
)

// The functions of this file are for stores. Every store validates its input with them and
// saves their results, so all stores return the same values: times in UTC with
// microseconds, deltas by rank, nil for empty slices, valid UTF-8.

// NormalizeBatch returns a deep copy of b as a store returns it later, except for its ID.
// A commit without a time gets now. The error is an [*EntryError].
func NormalizeBatch(thread string, b graph.Batch, now time.Time) (graph.Batch, error) {
	c := b.Commit
	for _, f := range []struct{ name, value string }{
		{"run", c.Run},
		{"source", string(c.Source)},
		{"status", string(c.Status)},
		{"fingerprint", c.Fingerprint},
		{"frontier", strings.Join(c.Frontier, "")},
	} {
		if err := graph.CheckName(f.name, f.value); err != nil {
			return b, err
		}
	}
	if c.Step < 0 {
		return b, &graph.EntryError{Field: "step", Reason: fmt.Sprintf("%d is negative", c.Step)}
	}
	c.ID, c.Thread = 0, thread
	if c.Time.IsZero() {
		c.Time = now
	}
	c.Time = inMicroseconds(c.Time)
	c.Error = validText(c.Error)
	c.Frontier = nilIfEmpty(slices.Clone(c.Frontier))
	c.Deltas = nilIfEmpty(slices.Clone(c.Deltas))
	slices.SortStableFunc(c.Deltas, func(x, y graph.Delta) int { return x.Rank - y.Rank })
	for i := range c.Deltas {
		if err := normalizeDelta(&c.Deltas[i]); err != nil {
			return b, fmt.Errorf("delta %d: %w", i, err)
		}
	}
	snapshot, err := normalizeBody("snapshot", b.Snapshot)
	return graph.Batch{Commit: c, Snapshot: snapshot, KeepPending: b.KeepPending, Release: b.Release}, err
}

// NormalizeResult returns a deep copy of r as a store returns it later. The error
// is an [*EntryError].
func NormalizeResult(r graph.TaskResult) (graph.TaskResult, error) {
	if err := graph.CheckName("run", r.Run); err != nil {
		return r, err
	}
	return r, normalizeDelta(&r.Delta)
}

func normalizeDelta(d *graph.Delta) error {
	if err := graph.CheckName("path", d.Path); err != nil {
		return err
	}
	if err := graph.CheckName("node", d.Node); err != nil {
		return err
	}
	var err error
	if d.Body, err = normalizeBody("body", d.Body); err == nil {
		d.Error = validText(d.Error)
		d.Notes, err = normalizeNotes(d.Notes)
	}
	if err != nil {
		return fmt.Errorf("node %q: %w", d.Node, err)
	}
	return nil
}

// normalizeNotes copies notes through JSON, as a store on disk does.
func normalizeNotes(n graph.Notes) (graph.Notes, error) {
	start, duration := n.Start, n.Duration
	n.Start, n.Duration = time.Time{}, 0
	if !reflect.ValueOf(&n).Elem().IsZero() {
		encoded, err := json.Marshal(n)
		if err == nil {
			n = graph.Notes{}
			err = json.Unmarshal(encoded, &n)
		}
		if err != nil {
			return n, &graph.EntryError{Field: "notes", Reason: err.Error()}
		}
	}
	if !start.IsZero() {
		start = start.Round(0).UTC() // drops the monotonic clock reading
		if y := start.Year(); y < 0 || y > 9999 {
			return n, &graph.EntryError{Field: "notes", Reason: fmt.Sprintf("start in year %d", y)}
		}
		n.Start = start
	}
	n.Duration = duration
	return n, nil
}

// normalizeBody returns a copy of a body, nil for an empty one.
func normalizeBody(field string, body []byte) ([]byte, error) {
	switch {
	case len(body) == 0:
		return nil, nil
	case !utf8.Valid(body):
		return nil, &graph.EntryError{Field: field, Reason: "not valid UTF-8"}
	case !json.Valid(body):
		return nil, &graph.EntryError{Field: field, Reason: "not valid JSON"}
	}
	return bytes.Clone(body), nil
}

// validText replaces invalid UTF-8, and NUL, which PostgreSQL does not save, by U+FFFD.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
