package main

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/ingest"
)

// watch indexes until it is interrupted, which is how it is meant to end.
func (a *app) watch(ctx context.Context) (err error) {
	p := a.newProgress()
	assistant, docs, err := a.openToIndex(ctx, p)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	begun := false
	err = assistant.Library().Watch(ctx, ingest.WatchOptions{Tell: func(e ingest.WatchEvent) {
		if e.Report != nil && !begun {
			p.end()
			begun = true
			a.problems(e.Report)
			fmt.Fprintf(a.out, "%s\n%s\n", indexed(e.Report), holds(e.Report))
			a.tell("watching %s — end with Ctrl-C", strings.Join(docs, ", "))
		} else {
			a.watched(e)
		}
		_ = a.out.Flush() // an error of the output is told at the end
	}})
	if err != nil {
		return failed("watch "+strings.Join(docs, ", "), err)
	}
	a.tell("ended; the index is kept")
	return nil
}

// watched prints what changed.
func (a *app) watched(e ingest.WatchEvent) {
	if e.Err != nil {
		a.warn("indexing failed and is tried again: " + e.Err.Error())
		return
	}
	for _, c := range e.Changes {
		fmt.Fprintf(a.out, "%-7s %s\n", c.What, line(c.Source))
	}
	a.problemList("could not read", e.Report.Failed)
	fmt.Fprintln(a.out, holds(e.Report))
}
