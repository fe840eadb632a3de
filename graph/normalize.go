package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The functions of this file are for stores. Every store validates its input with them and
// saves their results, so all stores return the same values: times in UTC with
// microseconds, deltas by rank, nil for empty slices, valid UTF-8.

// EntryError reports which part of a commit or task result a store rejected. Nothing was
// saved.
type EntryError struct {
	Field  string // for example "delta 2 of node \"generate\": body"
	Reason string
}

func (e *EntryError) Error() string { return e.Field + ": " + e.Reason }

// NormalizeBatch returns a deep copy of b as a store returns it later, except for its ID.
// A commit without a time gets now. The error is an [*EntryError].
func NormalizeBatch(thread string, b Batch, now time.Time) (Batch, error) {
	c := b.Commit
	for _, f := range []struct{ name, value string }{
		{"run", c.Run},
		{"source", string(c.Source)},
		{"status", string(c.Status)},
		{"fingerprint", c.Fingerprint},
		{"frontier", strings.Join(c.Frontier, "")},
	} {
		if err := CheckName(f.name, f.value); err != nil {
			return b, err
		}
	}
	if c.Step < 0 {
		return b, &EntryError{"step", fmt.Sprintf("%d is negative", c.Step)}
	}
	c.ID, c.Thread = 0, thread
	if c.Time.IsZero() {
		c.Time = now
	}
	c.Time = inMicroseconds(c.Time)
	c.Error = validText(c.Error)
	c.Frontier = nilIfEmpty(slices.Clone(c.Frontier))
	c.Deltas = nilIfEmpty(slices.Clone(c.Deltas))
	slices.SortStableFunc(c.Deltas, func(x, y Delta) int { return x.Rank - y.Rank })
	for i := range c.Deltas {
		if err := normalizeDelta(&c.Deltas[i]); err != nil {
			return b, fmt.Errorf("delta %d: %w", i, err)
		}
	}
	snapshot, err := normalizeBody("snapshot", b.Snapshot)
	return Batch{Commit: c, Snapshot: snapshot, KeepPending: b.KeepPending, Release: b.Release}, err
}

// NormalizeResult returns a deep copy of r as a store returns it later. The error
// is an [*EntryError].
func NormalizeResult(r TaskResult) (TaskResult, error) {
	if err := CheckName("run", r.Run); err != nil {
		return r, err
	}
	return r, normalizeDelta(&r.Delta)
}

func normalizeDelta(d *Delta) error {
	if err := CheckName("path", d.Path); err != nil {
		return err
	}
	if err := CheckName("node", d.Node); err != nil {
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
func normalizeNotes(n Notes) (Notes, error) {
	start, duration := n.Start, n.Duration
	n.Start, n.Duration = time.Time{}, 0
	if !reflect.ValueOf(&n).Elem().IsZero() {
		encoded, err := json.Marshal(n)
		if err == nil {
			n = Notes{}
			err = json.Unmarshal(encoded, &n)
		}
		if err != nil {
			return n, &EntryError{"notes", err.Error()}
		}
	}
	if !start.IsZero() {
		start = start.Round(0).UTC() // drops the monotonic clock reading
		if y := start.Year(); y < 0 || y > 9999 {
			return n, &EntryError{"notes", fmt.Sprintf("start in year %d", y)}
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
		return nil, &EntryError{field, "not valid UTF-8"}
	case !json.Valid(body):
		return nil, &EntryError{field, "not valid JSON"}
	}
	return bytes.Clone(body), nil
}

// CheckThread returns an [*EntryError] for an invalid thread name: an empty name, or one
// that [CheckName] rejects.
func CheckThread(name string) error {
	if name == "" {
		return &EntryError{"thread", "empty"}
	}
	return CheckName("thread", name)
}

// CheckName returns an [*EntryError] for a name that a database would change: invalid
// UTF-8, or a name with a NUL. field is the name of the field in the error.
func CheckName(field, name string) error {
	switch {
	case !utf8.ValidString(name):
		return &EntryError{field, fmt.Sprintf("%q is not valid UTF-8", name)}
	case strings.ContainsRune(name, 0):
		return &EntryError{field, fmt.Sprintf("%q contains a NUL character", name)}
	}
	return nil
}

// validText replaces invalid UTF-8 by U+FFFD.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
