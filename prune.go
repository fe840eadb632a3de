package ragflow

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

var errNoPrune = errors.New("nothing says which turns stay")

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
	if o.KeepLast <= 0 && o.Before.IsZero() && o.MaxBytes <= 0 {
		return nil, errNoPrune
	}
	report, err := a.prune(ctx, thread, o)
	if err != nil {
		return nil, fmt.Errorf("prune thread %q: %w", thread, err)
	}
	return report, nil
}

func (a *Assistant) prune(ctx context.Context, thread string, o PruneOptions) (*PruneReport, error) {
	info, err := a.info(ctx, thread) // before the lease, which would make the thread
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		report, _, err := a.cutOf(ctx, thread, o)
		return report, err
	}
	lease, err := a.threads.Acquire(ctx, thread, graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Minute, Wait: a.config.Wait})
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.threads.Release(context.WithoutCancel(ctx), lease) }()
	report, at, err := a.cutOf(ctx, thread, o)
	if err != nil || report.Commits == 0 {
		return report, err
	}
	s, err := a.stateAt(ctx, thread, at)
	if err != nil {
		return nil, err
	}
	base := graph.Batch{Commit: graph.Commit{Run: a.config.NewID()}}
	if base.Snapshot, err = encode(s); err != nil {
		return nil, err
	}
	body, err := encode(state.Whole(s))
	if err != nil {
		return nil, err
	}
	base.Deltas = []graph.Delta{{Body: body, Notes: graph.Notes{Details: []graph.Detail{
		{Key: titleDetail, Value: info.Title}, {Key: "pruned turns", Value: strconv.Itoa(report.Turns)},
	}}}}
	return report, a.threads.Prune(ctx, lease, at, base)
}

// titleDetail is where the commit that stands in for a pruned past keeps the
// title of its thread.
const titleDetail = "title"

// pastTurn is a turn of a thread's log.
type pastTurn struct {
	parent graph.CommitID // what stood before its input
	asked  time.Time
	bytes  int64
}

// cutOf returns what would go, and the last commit of it.
func (a *Assistant) cutOf(ctx context.Context, thread string, o PruneOptions) (*PruneReport, graph.CommitID, error) {
	var commits []graph.Commit // newest first, without deltas
	var sizes []int64
	var turns []pastTurn
	var size int64
	undone := 0
	for c, err := range a.threads.Walk(ctx, thread, 0) {
		if err != nil {
			return nil, 0, err
		}
		n := bodies(c)
		size += n
		switch {
		case c.Source == graph.SourceUndo:
			undone++
		case c.Source == graph.SourceInput && undone > 0:
			undone--
		case c.Source == graph.SourceInput:
			turns = append(turns, pastTurn{c.Parent, c.Time, size})
			size = 0
		}
		c.Deltas = nil
		commits, sizes = append(commits, c), append(sizes, n)
	}
	kept := o.stay(turns, len(commits[0].Frontier) > 0)
	at := commits[0].ID
	if kept > 0 {
		at = turns[kept-1].parent
	}
	report := &PruneReport{Thread: thread, Turns: len(turns) - kept, Kept: kept}
	for i, c := range commits {
		if c.ID > at || c.Source == graph.SourceBase {
			continue // a base stands in for turns already
		}
		report.Commits++
		report.Bytes += sizes[i]
	}
	return report, at, nil
}

func bodies(c graph.Commit) (n int64) {
	for _, d := range c.Deltas {
		n += int64(len(d.Body))
	}
	return n
}

// stay returns how many of the turns, newest first, meet every condition. One
// that has not ended does.
func (o PruneOptions) stay(turns []pastTurn, unfinished bool) int {
	var sum int64
	for i, t := range turns {
		sum += t.bytes
		tooMany := o.KeepLast > 0 && i >= o.KeepLast
		tooOld := t.asked.Before(o.Before)
		tooLarge := o.MaxBytes > 0 && sum > o.MaxBytes
		if (tooMany || tooOld || tooLarge) && (i > 0 || !unfinished) {
			return i
		}
	}
	return len(turns)
}

// Vacuum gives the room of what was pruned back to the disk.
func (a *Assistant) Vacuum(ctx context.Context) error { return a.threads.Vacuum(ctx) }
