package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.com/ragflow"
)

// The pause of a watch between two looks: so long, and so many times what a look takes.
const (
	watchPause = 2 * time.Second
	watchShare = 20
)

// watch indexes what changes until it is interrupted, which is how it is meant to end. It looks
// at the size and time of each file again, which works on every file system.
func (a *app) watch(ctx context.Context, assistant *ragflow.Assistant, docs []string) error {
	a.tell("watching %s — end with Ctrl-C", strings.Join(docs, ", "))
	told := "" // the last failure, which is told once while it stays the same
	for pause := watchPause; ; {
		_ = a.out.Flush() // an error of the output is told at the end
		select {
		case <-ctx.Done():
			a.tell("ended; the index is kept")
			return nil
		case <-time.After(pause):
		}
		began := time.Now()
		report, err := assistant.Library().Sync(ctx)
		problem := ""
		if err != nil && ctx.Err() == nil {
			problem = err.Error()
		}
		if problem != "" && problem != told {
			a.warn("indexing failed and is tried again: " + problem)
		}
		told = problem
		if err == nil && report.Added+report.Changed+report.Removed > 0 {
			a.problemList("could not read", report.Failed)
			fmt.Fprintln(a.out, indexed(report))
			fmt.Fprintln(a.out, holds(report))
		}
		pause = max(watchPause, watchShare*time.Since(began))
	}
}
