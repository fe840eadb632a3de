package threads

import (
	"context"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Undo reverts the last turn of a thread. The state becomes what it was before
// the question, and the turn disappears from [Log.Thread]; the log keeps it. An
// unfinished turn is closed first. Each further call reverts the turn before.
// Errors match graph.ErrNotFound, graph.ErrBusy or ErrNothingToUndo.
func (l *Log) Undo(ctx context.Context, thread string) error {
	ctx = l.owned(ctx)
	_, _, err := l.runner.Update(ctx, graph.Edit[state.State, state.Update]{
		Thread: thread, Wait: l.wait, Source: graph.SourceUndo,
		Change: func(ctx context.Context, s state.State, head graph.Commit) ([]state.Update, error) {
			before, err := l.beforeLastTurn(ctx, thread, head.ID)
			if err != nil {
				return nil, err
			}
			var old state.State
			if before != 0 {
				if old, err = l.runner.StateAt(ctx, thread, before); err != nil {
					return nil, err
				}
			}
			return state.Restore(s, old), nil
		},
	})
	if err != nil {
		return fmt.Errorf("undo the last turn: %w", err)
	}
	return nil
}

// beforeLastTurn returns the commit before the last input that was not undone; 0
// if that input was the first commit.
func (l *Log) beforeLastTurn(ctx context.Context, thread string, head graph.CommitID) (graph.CommitID, error) {
	undone := 0
	for c, err := range l.store.Walk(ctx, thread, head) {
		switch {
		case err != nil:
			return 0, err
		case c.Source == graph.SourceUndo:
			undone++
		case c.Source == graph.SourceInput && undone > 0:
			undone--
		case c.Source == graph.SourceInput:
			return c.Parent, nil
		}
	}
	return 0, ErrNothingToUndo
}

// Delete removes threads for good and overwrites their content in the file. It is
// all or nothing: an unknown thread is graph.ErrNotFound, a thread that another
// run uses is graph.ErrBusy. The file keeps its size until [Log.Vacuum].
func (l *Log) Delete(ctx context.Context, threads ...string) error {
	return l.store.Delete(l.owned(ctx), threads...)
}

// Seal encrypts every record that is not encrypted with the current key, and
// returns how many there were. Older keys are no longer needed afterwards. A
// store without keys is an error that matches checkpoint.ErrKey.
func (l *Log) Seal(ctx context.Context) (int, error) {
	f, ok := l.store.(file)
	if !ok {
		return 0, fmt.Errorf("%w: it does not encrypt them record by record", ErrServer)
	}
	if err := l.ofAll(ctx); err != nil {
		return 0, err
	}
	return f.Rotate(ctx)
}
