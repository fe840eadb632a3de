package threads

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Undo reverts the last turn of a thread. The state becomes what it was before
// the question, and the turn disappears from [Log.Thread]; the log keeps it. An
// unfinished turn is closed first. Each further call reverts the turn before.
// Errors match graph.ErrNotFound, graph.ErrBusy or ErrNothingToUndo.
func (l *Log) Undo(ctx context.Context, thread string) error {
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
// where that input was the first commit.
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

// Fork copies a thread as it was at a point: at is a run id or a prefix of one,
// a commit number, or "" for now. An empty to makes a new name. Errors match
// graph.ErrNotFound, graph.ErrExists or ErrAmbiguous.
func (l *Log) Fork(ctx context.Context, from, at, to string) (Info, error) {
	commit, err := l.commitOf(ctx, from, at)
	if err != nil {
		return Info{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	archive, err := l.store.Export(ctx, from, commit)
	if err != nil {
		return Info{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	if to == "" {
		to = l.newID()
	}
	archive.Created = l.clock()
	if err := l.store.Import(ctx, archive, to); err != nil {
		return Info{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	return l.info(ctx, to)
}

// commitOf resolves the point of a thread that a person named; 0 is its head.
func (l *Log) commitOf(ctx context.Context, thread, at string) (graph.CommitID, error) {
	if at == "" {
		return 0, nil
	}
	var ids []string
	last := map[string]graph.CommitID{}
	for c, err := range l.store.Walk(ctx, thread, 0) {
		if err != nil {
			return 0, err
		}
		if strconv.FormatInt(int64(c.ID), 10) == at {
			return c.ID, nil
		}
		if _, seen := last[c.Run]; !seen && strings.HasPrefix(c.Run, at) {
			ids = append(ids, c.Run)
			last[c.Run] = c.ID
		}
	}
	switch id, exact := last[at]; {
	case exact:
		return id, nil
	case len(ids) == 1:
		return last[ids[0]], nil
	case len(ids) > 1:
		return 0, fmt.Errorf("run %q: %w", at, ErrAmbiguous)
	}
	return 0, fmt.Errorf("run or commit %q: %w", at, graph.ErrNotFound)
}

// Delete removes threads for good and overwrites their content in the file. It is
// all or nothing: an unknown thread is graph.ErrNotFound, a thread that another
// run uses is graph.ErrBusy. The file keeps its size until [Log.Vacuum].
func (l *Log) Delete(ctx context.Context, threads ...string) error {
	return l.store.Delete(ctx, threads...)
}

// Seal encrypts every record that is not encrypted with the current key, and
// returns how many there were. Older keys are no longer needed afterwards. A
// store without keys is an error that matches checkpoint.ErrKey.
func (l *Log) Seal(ctx context.Context) (int, error) {
	f, ok := l.store.(file)
	if !ok {
		return 0, fmt.Errorf("%w: it does not encrypt them record by record", ErrServer)
	}
	return f.Rotate(ctx)
}
