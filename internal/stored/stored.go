// Package stored contains what the implementations of [graph.Store] share: checked commits,
// packed snapshots, walks in parts, pages of lists, errors, and threads as archives.
package stored

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/ragflow/graph"
)

// PackSnapshot deflates the body of a snapshot; nil for none.
func PackSnapshot(body []byte) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var packed bytes.Buffer
	z, ok := deflaters.Get().(*flate.Writer)
	if !ok {
		return nil, errors.New("pack snapshot: no compressor") // unreachable: the level is valid
	}
	defer deflaters.Put(z)
	z.Reset(&packed)
	_, err := z.Write(body)
	if err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

// deflaters are reused, because each has about 600 KB of tables.
var deflaters = sync.Pool{New: func() any { //nolint:gochecknoglobals // a pool of memory
	z, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		return nil
	}
	return z
}}

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
func WalkInParts(from graph.CommitID, read func(from graph.CommitID, count int) ([]graph.Commit, error)) iter.Seq2[graph.Commit, error] {
	const first, more = 16, 256
	return func(yield func(graph.Commit, error) bool) {
		for next, count := from, first; ; count = more {
			part, err := read(next, count)
			if err != nil {
				yield(graph.Commit{}, fmt.Errorf("walk: %w", err))
				return
			}
			for _, c := range part {
				if !yield(c, nil) {
					return
				}
			}
			if len(part) == 0 || part[len(part)-1].Parent == 0 {
				return
			}
			next = part[len(part)-1].Parent
		}
	}
}

// Archiver is a [Store] that exports and imports threads.
type Archiver interface {
	Export(ctx context.Context, thread string, at graph.CommitID) (*Archive, error)
	Import(ctx context.Context, a *Archive, thread string) error
}

// CopyThread is the Copy of a [Copier] by way of an archive.
func CopyThread(ctx context.Context, s Archiver, from string, at graph.CommitID, to string, pending []graph.TaskResult, now time.Time) error {
	err := graph.CheckThread(to)
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

// Await calls try until its error is not [graph.ErrBusy], wait is over or ctx ends. It pauses between
// two tries, for longer after each.
func Await(ctx context.Context, wait time.Duration, try func() error) error {
	end := time.Now().Add(wait)
	for pause := 4 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := try()
		left := time.Until(end)
		if !errors.Is(err, graph.ErrBusy) || left <= 0 {
			return err
		}
		timer := time.NewTimer(min(left, pause/2+rand.N(pause)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}

// Busy is the error of a thread that an owner holds until a time.
func Busy(owner string, until time.Time) error {
	return fmt.Errorf("%w: held by %s until %s", graph.ErrBusy, cmp.Or(owner, "a writer without a name"), until.UTC().Format("2006-01-02 15:04:05.000 UTC"))
}

// Superseded is the error of a write with a lost lease.
func Superseded(l graph.Lease) error {
	return fmt.Errorf("thread %q, lease %d of %s: %w", l.Thread, l.Token, l.Owner, graph.ErrSuperseded)
}

// Conflict is the error of a commit whose parent is not the head.
func Conflict(thread string, head, parent graph.CommitID) error {
	return fmt.Errorf("thread %q: %w: it is commit %d, not %d", thread, graph.ErrConflict, head, parent)
}

// NotFound is the error of a missing thread, commit or run.
func NotFound(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, graph.ErrNotFound)...)
}

// NilIfNotFound drops an error that says that a thread does not exist.
func NilIfNotFound(err error) error {
	if errors.Is(err, graph.ErrNotFound) {
		return nil
	}
	return err
}

// TTL is the lifetime of a lease for which ttl was asked.
func TTL(ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return graph.DefaultTTL
	}
	return max(ttl, time.Microsecond)
}

// Fill calls read, which yields the deltas of commits, oldest first, from the oldest to the newest
// of commits, and adds them to these, which are newest first.
func Fill(commits []graph.Commit, read func(after, upTo graph.CommitID, f func(graph.CommitID, graph.Delta)) error) error {
	if len(commits) == 0 {
		return nil
	}
	i := len(commits) - 1
	return read(commits[i].ID-1, commits[0].ID, func(at graph.CommitID, d graph.Delta) {
		for i > 0 && commits[i].ID < at {
			i--
		}
		if commits[i].ID == at {
			commits[i].Deltas = append(commits[i].Deltas, d)
		}
	})
}
