package threads

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/state"
)

// Verified is the report of [Log.Verify]. Its JSON is the schema of
// `ragflow threads verify --json`.
type Verified struct {
	Threads  int       `json:"threads"` // checked threads
	Commits  int       `json:"commits"`
	Findings []Finding `json:"findings"`
}

// Verify checks threads, or all of them and their file if none is named:
// SQLite finds no damage, every commit has its parent and every text its hash,
// counts and runs agree, every update decodes, each snapshot equals the fold of the
// commits before it, and every node to run next exists. It changes nothing. Findings are
// no error; an unknown thread matches graph.ErrNotFound. The log of one owner checks named threads only, else it
// returns ErrOneOwner.
func (l *Log) Verify(ctx context.Context, threads ...string) (*Verified, error) {
	ctx = l.owned(ctx)
	if err := l.ofAll(ctx); err != nil { // the store's Verify does not look at owners
		if len(threads) == 0 {
			return nil, err
		}
		for _, thread := range threads {
			if _, err := l.store.Head(ctx, thread); errors.Is(err, graph.ErrNotFound) {
				return nil, err
			}
		}
	}
	found, err := l.store.Verify(ctx, threads...)
	if err != nil {
		return nil, err
	}
	report := &Verified{Findings: append([]stored.Finding{}, found...)}
	if len(threads) == 0 {
		for i, err := range graph.AllThreads(ctx, l.store, Query{Limit: graph.MaxPage}) {
			if err != nil {
				report.Findings = append(report.Findings, stored.Finding{Problem: err.Error()})
				return report, nil
			}
			threads = append(threads, i.Thread)
		}
	}
	for _, thread := range threads {
		report.Threads++
		find := func(at graph.CommitID, err error) {
			report.Findings = append(report.Findings, stored.Finding{Thread: thread, Commit: at, Problem: err.Error()})
		}
		if err := l.verifyStates(ctx, thread, report, find); err != nil && ctx.Err() != nil {
			return nil, err
		} else if err != nil && !slices.ContainsFunc(found, func(f stored.Finding) bool { return f.Thread == thread }) {
			find(0, err)
		}
	}
	return report, nil
}

// verifyStates folds a thread from its first commit on.
func (l *Log) verifyStates(ctx context.Context, thread string, report *Verified, find func(graph.CommitID, error)) error {
	commits, err := l.commits(ctx, thread)
	if errors.Is(err, graph.ErrNotFound) {
		return nil // created but never written
	} else if err != nil {
		return err
	}
	report.Commits += len(commits)
	snapshots, err := l.store.Snapshots(ctx, thread)
	if err != nil {
		return err
	}
	err = foldAll(commits, func(c graph.Commit, s state.State) error {
		if c.Fingerprint == l.plan.Fingerprint() {
			for _, node := range c.Frontier {
				if !slices.Contains(l.plan.Nodes(), node) {
					find(c.ID, fmt.Errorf("node %q should run next, but the graph has no such node", node))
				}
			}
		}
		if !slices.Contains(snapshots, c.ID) {
			return nil
		}
		if same, err := l.sameState(ctx, c, s); err != nil {
			find(c.ID, err)
		} else if !same {
			find(c.ID, errors.New("the snapshot differs from the fold of the commits before it"))
		}
		return nil
	})
	if err != nil {
		find(0, err)
	}
	return nil
}

// sameState reports whether the snapshot at a commit equals a state. Both are
// encoded from the same type, so fields of other versions do not matter.
func (l *Log) sameState(ctx context.Context, c graph.Commit, s state.State) (bool, error) {
	snapshot, _, err := l.store.Load(ctx, c.Thread, c.ID)
	if err != nil {
		return false, err
	}
	var kept state.State
	if err := json.Unmarshal(snapshot.Body, &kept); err != nil {
		return false, fmt.Errorf("snapshot: %w", err)
	}
	want, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	got, err := json.Marshal(kept)
	return bytes.Equal(got, want), err
}
