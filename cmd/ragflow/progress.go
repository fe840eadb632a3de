package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.com/ragflow/ingest"
)

const (
	// progressDelay is the time before progress is shown on a terminal.
	progressDelay = 300 * time.Millisecond
	// progressEvery is the time between two changes of the line on a terminal.
	progressEvery = 250 * time.Millisecond
	// plainEvery is the time between two lines if there is no terminal.
	plainEvery = 10 * time.Second
)

// progress shows the progress of long work: one line that is rewritten on a terminal, a new line
// now and then elsewhere. It is used by one goroutine at a time.
type progress struct {
	out      io.Writer // nil with --quiet
	terminal bool
	stage    string
	begun    time.Time // the first report of the stage
	next     time.Time // when something may be printed
	drawn    bool      // a line on the terminal must be cleared
}

func (a *app) newProgress() *progress {
	if a.quiet {
		return &progress{}
	}
	return &progress{out: a.err, terminal: a.terminal(a.err)}
}

// follow shows the progress of a job and returns its result. The end of ctx cancels the job.
func (a *app) follow(ctx context.Context, job *ingest.Job) (*ingest.Report, error) {
	p := a.newProgress()
	for now := range job.Watch(ctx) {
		p.report(now)
	}
	p.end()
	if ctx.Err() != nil {
		job.Cancel()
	}
	return job.Wait(context.WithoutCancel(ctx))
}

// report shows a report if it is time for one.
func (p *progress) report(r ingest.Progress) { p.reportAt(time.Now(), r) }

func (p *progress) reportAt(now time.Time, r ingest.Progress) {
	if r.Stage != p.stage {
		p.stage, p.begun = r.Stage, now
	}
	delay, every := plainEvery, plainEvery
	if p.terminal {
		delay, every = progressDelay, progressEvery
	}
	if p.next.IsZero() {
		p.next = now.Add(delay)
	}
	if p.out == nil || now.Before(p.next) {
		return
	}
	p.next = now.Add(every)
	text := progressText(r, now.Sub(p.begun))
	if !p.terminal {
		fmt.Fprintln(p.out, text)
		return
	}
	p.drawn = true
	fmt.Fprintf(p.out, "\r\x1b[K%s …", text)
}

// progressText describes the progress, and after two seconds estimates the rest of the time.
func progressText(r ingest.Progress, elapsed time.Duration) string {
	unit := map[string]string{ingest.StageEmbedding: "passage", stageAsking: "question"}[r.Stage]
	if unit == "" {
		unit = "file"
	}
	if r.Total <= 0 {
		return fmt.Sprintf("%s: %s", r.Stage, count(r.Done, unit))
	}
	text := fmt.Sprintf("%s: %d of %s", r.Stage, r.Done, count(r.Total, unit))
	if r.Done > 0 && elapsed > 2*time.Second {
		left := time.Duration(float64(elapsed) / float64(r.Done) * float64(r.Total-r.Done))
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return text
}

// end clears the line and shows no more.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	*p = progress{}
}
