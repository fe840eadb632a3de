package ragflow

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.com/ragflow/graph"
)

// PruneOptions say which turns of a thread stay: those that meet every
// condition given. At least one must be.
type PruneOptions struct {
	KeepLast int       // the newest of them; 0: no condition
	Before   time.Time // those asked since; zero: no condition
	MaxBytes int64     // the newest that together take no more; 0: no condition
	DryRun   bool      // only tell what would go
}

// PruneReport tells what pruning took out of a thread, or would. Its JSON is an
// element of `ragflow threads prune --json`.
type PruneReport struct {
	Thread  string `json:"thread"`
	Turns   int    `json:"turns"` // that went
	Kept    int    `json:"kept"`  // turns that stay
	Commits int    `json:"commits"`
	Bytes   int64  `json:"bytes"` // of what was said and done in them
}

// Prune takes the oldest turns out of a thread's log. Its live state stays as
// it is, and so do the turns kept, with their traces: a commit that holds the
// state stands in for all before. Messages that are not summarised yet are part
// of that state and stay in the history. A turn that has not ended is kept.
// Errors: ErrNotFound, ErrBusy. The file shrinks with [Assistant.Vacuum].
func (a *Assistant) Prune(ctx context.Context, thread string, o PruneOptions) (*PruneReport, error) {
	info, err := a.info(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("prune thread %q: %w", thread, err)
	}
	runner, err := a.keeper()
	if err != nil {
		return nil, err
	}
	did, err := runner.Prune(ctx, graph.Pruning{
		Thread: thread, Wait: a.config.Wait, KeepTurns: o.KeepLast, Before: o.Before, MaxBytes: o.MaxBytes,
		Details: []graph.Detail{{Key: titleDetail, Value: info.Title}}, DryRun: o.DryRun,
	})
	if err != nil {
		return nil, err
	}
	return &PruneReport{Thread: thread, Turns: did.Turns, Kept: did.Kept, Commits: did.Commits, Bytes: did.Bytes}, nil
}

// titleDetail is where the commit that stands in for a pruned past keeps the
// title of its thread.
const titleDetail = "title"

// Expire deletes for good the threads that nobody asked anything in for longer
// than a duration, which must be more than zero, and returns them, the last used
// first. Threads of runs under way stay. All or nothing; a dry run only tells.
func (a *Assistant) Expire(ctx context.Context, older time.Duration, dryRun bool) ([]ThreadInfo, error) {
	if older <= 0 {
		return nil, fmt.Errorf("expire threads: %v is no time that may have passed", older)
	}
	before := a.config.Clock().Add(-older)
	gone, err := a.threads.Expire(ctx, before, true)
	if err != nil {
		return nil, err
	}
	titled := make(map[string]ThreadInfo, len(gone))
	for _, i := range gone {
		if titled[i.Thread], err = a.threadInfo(ctx, i); err != nil {
			return nil, err
		}
	}
	if !dryRun && len(gone) > 0 {
		if gone, err = a.threads.Expire(ctx, before, false); err == nil {
			err = a.threads.Vacuum(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	out := []ThreadInfo{}
	for _, i := range gone {
		out = append(out, cmp.Or(titled[i.Thread], ThreadInfo{ID: i.Thread, Turns: i.Inputs, Created: i.Created, Used: i.Touched, Bytes: i.Bytes, Status: string(i.Status)}))
	}
	return out, nil
}

// Vacuum gives the room of what was pruned back to the disk.
func (a *Assistant) Vacuum(ctx context.Context) error { return a.threads.Vacuum(ctx) }
