package main

import (
	"context"
	"fmt"
	"time"
)

// A watch pauses between two syncs for watchPause, and for watchShare times the length of a sync.
const (
	watchPause = 2 * time.Second
	watchShare = 20
)

// watch indexes changes until it is interrupted, which is no error. It compares the size and time
// of each file, which works on every file system.
func (a *app) watch(ctx context.Context, opened *session) error {
	reported := "" // the last failure, reported once as long as it stays the same
	for pause := watchPause; ; {
		_ = a.out.Flush() // an error of the output is reported at the end
		select {
		case <-ctx.Done():
			a.tell("ended; the index is kept")
			return nil
		case <-time.After(pause):
		}
		began := time.Now()
		report, err := opened.Library().Sync(ctx)
		problem := ""
		if err != nil && ctx.Err() == nil {
			problem = err.Error()
		}
		if problem != "" && problem != reported {
			a.warn("indexing failed and is tried again: " + problem)
		}
		reported = problem
		if err == nil && report.Added+report.Changed+report.Removed > 0 {
			a.problemList("could not read ", "ragflow index --json", report.Failed)
			fmt.Fprintln(a.out, indexed(report))
			fmt.Fprintln(a.out, holds(report))
		}
		pause = max(watchPause, watchShare*time.Since(began))
	}
}
