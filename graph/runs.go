package graph

import (
	"context"
	"time"
)

// RunQuery selects runs of a thread.
type RunQuery struct {
	Thread   string
	Metadata map[string]string // a run must have all of these, see [Request].Metadata; empty: any run
	Status   Status            // empty: any
	Before   CommitID          // only runs whose input was saved before this commit, for the next page; 0: all
	Limit    int               // maximum number of runs; 0 or less: all
}

// RunInfo describes a run that began with an input.
type RunInfo struct {
	Run      string
	Metadata map[string]string // of its [Request]; nil without any
	Input    CommitID          // the commit of its input
	Began    time.Time         // when that was saved
	Last     CommitID          // its newest commit
	Ended    time.Time         // when that was saved
	Status   Status            // after that commit
	Step     int               // its last finished step
	Error    string            // why it ended early
}

// Runs returns runs of a thread, newest input first. It reads the log from the head back to the last
// run that it returns, without folding states. An unknown thread is [ErrNotFound].
func (r *Runner[S, U]) Runs(ctx context.Context, q RunQuery) (page []RunInfo, err error) {
	defer wrap(&err, "runs of thread %q", q.Thread)
	if r.o.Store == nil {
		return nil, errNoStore
	}
	later := map[string]RunInfo{} // runs whose input was not read yet
	for c, err := range r.o.Store.Walk(ctx, q.Thread, 0) {
		if err != nil {
			return nil, err
		}
		info, known := later[c.Run]
		if !known {
			info = RunInfo{Run: c.Run, Last: c.ID, Ended: c.Time, Status: c.Status, Step: c.Step, Error: c.Error}
			later[c.Run] = info
		}
		if c.Source != SourceInput {
			continue
		}
		delete(later, c.Run)
		info.Input, info.Began = c.ID, c.Time
		for _, d := range c.Deltas {
			if d.Notes.Metadata != nil {
				info.Metadata = d.Notes.Metadata
			}
		}
		if q.selects(info) {
			page = append(page, info)
		}
		if len(page) == q.Limit && q.Limit > 0 {
			break
		}
	}
	return page, nil
}

func (q RunQuery) selects(r RunInfo) bool {
	return HasMetadata(r.Metadata, q.Metadata) && (q.Status == "" || r.Status == q.Status) && (q.Before == 0 || r.Input < q.Before)
}
