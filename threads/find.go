package threads

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

// Run returns a run from the log. It is named by its id, or "last" for the newest of all
// threads. An unknown run matches graph.ErrNotFound.
func (l *Log) Run(ctx context.Context, run string) (*Run, error) {
	ctx = l.owned(ctx)
	id, thread, last, err := l.findRun(ctx, run)
	if err != nil {
		return nil, err
	}
	commits, err := l.Commits(ctx, id, thread, last)
	if err != nil {
		return nil, err
	}
	r := &transcript.Run{Thread: thread, ID: id, Commits: commits}
	if r.State, err = l.StateAt(ctx, thread, last); err != nil {
		return nil, fmt.Errorf("read run %q: %w", id, err)
	}
	if !slices.ContainsFunc(commits, stepped) {
		r.State.Turn = state.Turn{} // ingest, which clears the turn before, did not run
	}
	return r, nil
}

// stepped reports whether a commit holds a task that ended well.
func stepped(c graph.Commit) bool {
	return slices.ContainsFunc(c.Deltas, func(d graph.Delta) bool { return d.Node != "" && d.Error == "" })
}

// StateAt returns the state of a thread at a commit; 0 is its head.
func (l *Log) StateAt(ctx context.Context, thread string, at graph.CommitID) (state.State, error) {
	return l.runner.StateAt(l.owned(ctx), thread, at)
}

// Commits returns the commits of a run up to one of them, newest first. A fork
// may hold the same run, so the thread is named too.
func (l *Log) Commits(ctx context.Context, run, thread string, last graph.CommitID) (out []graph.Commit, err error) {
	for c, err := range l.store.Walk(l.owned(ctx), thread, last) {
		if err != nil {
			return nil, fmt.Errorf("read run %q: %w", run, err)
		}
		if c.Run != run {
			break // a run's commits are adjacent
		}
		out = append(out, c)
	}
	return out, nil
}

// findRun resolves a run's name.
func (l *Log) findRun(ctx context.Context, run string) (id, thread string, last graph.CommitID, err error) {
	if run == "last" {
		return l.newestRun(ctx)
	}
	thread, last, err = l.store.FindRun(ctx, run)
	return run, thread, last, err
}

func (l *Log) newestRun(ctx context.Context) (id, thread string, last graph.CommitID, err error) {
	for info, err := range graph.AllThreads(ctx, l.store, Query{}) {
		if err != nil {
			return "", "", 0, err
		}
		for c, err := range l.store.Walk(ctx, info.Thread, 0) {
			if err != nil {
				return "", "", 0, err
			}
			if c.Source != graph.SourceUndo && c.Source != graph.SourceUpdate && c.Source != graph.SourceBase {
				return c.Run, info.Thread, c.ID, nil
			}
		}
	}
	return "", "", 0, fmt.Errorf("no run yet: %w", graph.ErrNotFound)
}
