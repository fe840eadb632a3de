package threads

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.com/ragflow/graph"
)

// PruneOptions say what [Log.Prune] removes.
type PruneOptions struct {
	KeepLast int  // the newest turns stay, as many as this, at least 1
	DryRun   bool // only report
}

// PruneReport is what pruning removed from a thread, or would remove. Its JSON is
// an element of `ragflow threads prune --json`.
type PruneReport struct {
	Thread  string `json:"thread"`
	Turns   int    `json:"turns"` // removed
	Kept    int    `json:"kept"`  // turns that stay
	Commits int    `json:"commits"`
	Bytes   int64  `json:"bytes"` // of the removed turns
}

// Prune removes the oldest turns from the log of a thread. Its live state and the
// turns that stay do not change: one commit with the state replaces everything
// before. Messages that are not summarised yet belong to that state and stay. An
// unfinished turn is kept. Errors match graph.ErrNotFound or graph.ErrBusy. The
// file shrinks with [Log.Vacuum].
func (l *Log) Prune(ctx context.Context, thread string, o PruneOptions) (*PruneReport, error) {
	info, err := l.info(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("prune thread %q: %w", thread, err)
	}
	did, err := l.runner.Prune(ctx, graph.Pruning{
		Thread: thread, Wait: l.wait, KeepTurns: o.KeepLast,
		Details: []graph.Detail{{Key: titleDetail, Value: info.Title}}, DryRun: o.DryRun,
	})
	if err != nil {
		return nil, err
	}
	return &PruneReport{Thread: thread, Turns: did.Turns, Kept: did.Kept, Commits: did.Commits, Bytes: did.Bytes}, nil
}

// titleDetail is the key under which the commit that replaces pruned turns keeps
// the title of its thread.
const titleDetail = "title"

// Expire deletes the threads that were not used for the given duration, which must be
// positive, and returns them, most recently used first. It keeps threads that another
// process is using. It deletes all of them or none. A dry run deletes nothing.
func (l *Log) Expire(ctx context.Context, older time.Duration, dryRun bool) ([]Info, error) {
	if older <= 0 {
		return nil, fmt.Errorf("expire threads: the age %v is not positive", older)
	}
	before := l.clock().Add(-older)
	gone, err := l.store.Expire(ctx, before, true)
	if err != nil {
		return nil, err
	}
	infos := make(map[string]Info, len(gone))
	for _, i := range gone {
		if infos[i.Thread], err = l.describe(ctx, i); err != nil {
			return nil, err
		}
	}
	if !dryRun && len(gone) > 0 {
		if gone, err = l.store.Expire(ctx, before, false); err != nil {
			return nil, err
		}
	}
	out := []Info{}
	for _, i := range gone {
		out = append(out, cmp.Or(infos[i.Thread], Info{ID: i.Thread, Turns: i.Inputs, Created: i.Created, Used: i.Touched, Bytes: i.Bytes, Status: string(i.Status)}))
	}
	return out, nil
}

// Vacuum returns the space of deleted and pruned records to the disk.
func (l *Log) Vacuum(ctx context.Context) error { return l.store.Vacuum(ctx) }
