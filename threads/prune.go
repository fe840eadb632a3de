package threads

import (
	"context"

	"example.com/ragflow/graph"
)

// PruneReport is what pruning removed from a thread. Its JSON is the schema of
// `ragflow threads prune --json`.
type PruneReport struct {
	Thread  string `json:"thread"`
	Turns   int    `json:"turns"` // removed
	Kept    int    `json:"kept"`  // turns that stay
	Commits int    `json:"commits"`
	Bytes   int64  `json:"bytes"` // of the removed turns
}

// Prune removes the oldest turns from the log of a thread but keep of them, at least 1. Its live state and the
// turns that stay do not change: one commit with the state replaces everything
// before. Messages that are not summarised yet belong to that state and stay. An
// unfinished turn is kept. Errors match graph.ErrNotFound or graph.ErrBusy. The
// file shrinks with [Log.Vacuum].
func (l *Log) Prune(ctx context.Context, thread string, keep int) (*PruneReport, error) {
	did, err := l.runner.Prune(l.owned(ctx), graph.Pruning{Thread: thread, Wait: l.wait, KeepTurns: keep})
	if err != nil {
		return nil, err
	}
	return &PruneReport{Thread: thread, Turns: did.Turns, Kept: did.Kept, Commits: did.Commits, Bytes: did.Bytes}, nil
}

// Vacuum returns the space of deleted and pruned records to the disk.
func (l *Log) Vacuum(ctx context.Context) error {
	if err := l.ofAll(ctx); err != nil {
		return err
	}
	return l.store.Vacuum(ctx)
}
