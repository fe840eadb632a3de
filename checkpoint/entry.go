package checkpoint

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

// Both stores check what they are given here, and bring it to the form in
// which it will be read back: a copy, in UTC, deltas by rank, nil for empty.

// cleanBatch returns b as it will be read back, but for its ID.
func cleanBatch(thread string, b graph.Batch, now time.Time) (graph.Batch, error) {
	c := b.Commit
	for _, f := range []struct{ name, value string }{
		{"run", c.Run},
		{"source", string(c.Source)},
		{"status", string(c.Status)},
		{"fingerprint", c.Fingerprint},
		{"frontier", strings.Join(c.Frontier, "")},
	} {
		if err := checkName(f.name, f.value); err != nil {
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
	c.Time = micro(c.Time)
	c.Error = validText(c.Error)
	c.Frontier = nilIfEmpty(slices.Clone(c.Frontier))
	c.Deltas = nilIfEmpty(slices.Clone(c.Deltas))
	slices.SortStableFunc(c.Deltas, func(x, y graph.Delta) int { return x.Rank - y.Rank })
	for i := range c.Deltas {
		if err := cleanDelta(&c.Deltas[i]); err != nil {
			return b, fmt.Errorf("delta %d: %w", i, err)
		}
	}
	snapshot, err := cleanBody("snapshot", b.Snapshot)
	return graph.Batch{Commit: c, Snapshot: snapshot, KeepPending: b.KeepPending, Release: b.Release}, err
}

// cleanResult returns r as it will be read back.
func cleanResult(r graph.TaskResult) (graph.TaskResult, error) {
	if err := checkName("run", r.Run); err != nil {
		return r, err
	}
	return r, cleanDelta(&r.Delta)
}

func cleanDelta(d *graph.Delta) error {
	if err := checkName("path", d.Path); err != nil {
		return err
	}
	if err := checkName("node", d.Node); err != nil {
		return err
	}
	var err error
	if d.Body, err = cleanBody("body", d.Body); err == nil {
		d.Error = validText(d.Error)
		d.Notes, err = cleanNotes(d.Notes)
	}
	if err != nil {
		return fmt.Errorf("node %q: %w", d.Node, err)
	}
	return nil
}

// cleanNotes copies notes the way JSON does, so that every store gives back
// the same: no text that is not UTF-8, nil for empty.
func cleanNotes(n graph.Notes) (graph.Notes, error) {
	start, duration := n.Start, n.Duration
	n.Start, n.Duration = time.Time{}, 0
	if !reflect.ValueOf(&n).Elem().IsZero() {
		encoded, err := json.Marshal(n)
		if err == nil {
			n = graph.Notes{}
			err = json.Unmarshal(encoded, &n)
		}
		if err != nil {
			return n, &EntryError{"notes", err.Error()}
		}
	}
	if !start.IsZero() {
		start = start.Round(0).UTC() // without the clock reading of this process
		if y := start.Year(); y < 0 || y > 9999 {
			return n, &EntryError{"notes", fmt.Sprintf("start in year %d", y)}
		}
		n.Start = start
	}
	n.Duration = duration
	return n, nil
}

// cleanBody returns a copy of a body, nil for an empty one. A body is JSON in
// UTF-8; anything else could be neither folded nor queried.
func cleanBody(field string, body []byte) ([]byte, error) {
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

func checkThread(thread string) error {
	if thread == "" {
		return &EntryError{"thread", "empty"}
	}
	return checkName("thread", thread)
}

// checkName refuses names that would not come back, or not be found, as they
// were given.
func checkName(field, name string) error {
	switch {
	case !utf8.ValidString(name):
		return &EntryError{field, fmt.Sprintf("%q is not valid UTF-8", name)}
	case strings.ContainsRune(name, 0):
		return &EntryError{field, fmt.Sprintf("%q holds a NUL character", name)}
	}
	return nil
}

// validText keeps a message that a person reads: broken bytes become U+FFFD.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// micro is a time as the stores keep it.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

func ttlOrDefault(ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return DefaultTTL
	}
	return ttl
}
