package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// RunInfo is one run in a list.
type RunInfo struct {
	ID       string    `json:"id"`
	Thread   string    `json:"thread_id"`
	Question string    `json:"question"` // cut to 80 runes
	Begun    time.Time `json:"begun"`
}

// RecentRuns lists up to n runs that asked a question, newest first.
func (l *Log) RecentRuns(ctx context.Context, n int) ([]RunInfo, error) {
	infos, err := l.store.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	out := []RunInfo{}
	for _, info := range infos[:min(len(infos), n)] { // threads are sorted newest first, so n threads are enough
		found := 0
		for c, err := range l.store.Walk(ctx, info.Thread, 0) {
			if err != nil {
				return nil, fmt.Errorf("list runs of thread %q: %w", info.Thread, err)
			}
			if c.Source != graph.SourceInput {
				continue
			}
			r := RunInfo{ID: c.Run, Thread: info.Thread, Begun: c.Time}
			if r.Question, err = questionOf(c); err != nil {
				return nil, fmt.Errorf("list runs of thread %q: run %q: %w", info.Thread, c.Run, err)
			}
			out = append(out, r)
			if found++; found == n {
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b RunInfo) int { return b.Begun.Compare(a.Begun) })
	return out[:min(len(out), n)], nil
}

// questionOf returns the question in the first commit of a run.
func questionOf(c graph.Commit) (string, error) {
	for _, d := range c.Deltas {
		if len(d.Body) == 0 {
			continue
		}
		var u state.Update
		if err := json.Unmarshal(d.Body, &u); err != nil {
			return "", err
		}
		for _, op := range u.Messages {
			if op.Put != nil {
				return title(op.Put.Content), nil
			}
		}
	}
	return "", nil
}
