package graph

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// The functions of this file are for stores that keep commits in a database.

// Turns returns by how much a commit of this source changes the number of turns.
func (s Source) Turns() int {
	switch s {
	case SourceInput:
		return 1
	case SourceUndo:
		return -1
	default:
		return 0
	}
}

// BodyBytes returns the size of the bodies of the commit's deltas.
func (c Commit) BodyBytes() (n int) {
	for _, d := range c.Deltas {
		n += len(d.Body)
	}
	return n
}

// PackSnapshot deflates the body of a snapshot; nil for none.
func PackSnapshot(body []byte) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err == nil {
		_, err = z.Write(body)
	}
	if err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

// UnpackSnapshot reverts [PackSnapshot]. The error says that the snapshot is damaged.
func UnpackSnapshot(packed []byte) ([]byte, error) {
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err == nil && !json.Valid(body) {
		err = errors.New("not valid JSON")
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return body, nil
}

// WalkInParts is a Walk of a store that reads up to count commits at a time, newest first,
// from a commit back. The first part is small, because most callers need only the newest
// commits. Nothing is open while the caller handles a commit.
func WalkInParts(from CommitID, read func(from CommitID, count int) ([]Commit, error)) iter.Seq2[Commit, error] {
	const first, more = 16, 256
	return func(yield func(Commit, error) bool) {
		for next, count := from, first; ; count = more {
			part, err := read(next, count)
			if err != nil {
				yield(Commit{}, fmt.Errorf("walk: %w", err))
				return
			}
			for _, c := range part {
				if !yield(c, nil) {
					return
				}
			}
			if len(part) < count || part[len(part)-1].Parent == 0 {
				return
			}
			next = part[len(part)-1].Parent
		}
	}
}

// Archiver is a [Store] that exports and imports threads.
type Archiver interface {
	Export(ctx context.Context, thread string, at CommitID) (*Archive, error)
	Import(ctx context.Context, a *Archive, thread string) error
}

// CopyThread is the Copy of a [Copier] by way of an archive.
func CopyThread(ctx context.Context, s Archiver, from string, at CommitID, to string, pending []TaskResult, now time.Time) error {
	err := CheckThread(to)
	var a *Archive
	if err == nil {
		a, err = s.Export(ctx, from, at)
	}
	if err == nil {
		a.Created = now
		if pending != nil {
			a.Pending = pending
		}
		err = s.Import(ctx, a, to)
	}
	if err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	return nil
}
