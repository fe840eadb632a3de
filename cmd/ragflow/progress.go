package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"example.com/ragflow"
)

const (
	// barDelay is how long indexing goes on before a bar appears: what is over
	// sooner needs none.
	barDelay = 300 * time.Millisecond
	// plainEvery is how often a line is printed where there is no terminal.
	plainEvery = 10 * time.Second
)

// progress shows indexing while it goes on: a bar with rate and time left on a
// terminal, now and then a line elsewhere. It is used from one goroutine at a
// time.
type progress struct {
	out   io.Writer
	mode  progressMode
	since time.Time // the first report, or the last line printed
	bar   *progressbar.ProgressBar
	stage string
	total int
}

type progressMode int

const (
	progressOff progressMode = iota
	progressPlain
	progressBar
)

func (a *app) newProgress() *progress {
	p := &progress{out: a.err, mode: progressPlain}
	switch {
	case a.quiet:
		p.mode = progressOff
	case a.terminal(a.err):
		p.mode = progressBar
	}
	return p
}

// report takes one report.
func (p *progress) report(r ragflow.Progress) {
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	switch p.mode {
	case progressPlain:
		if now.Sub(p.since) >= plainEvery {
			p.since = now
			fmt.Fprintln(p.out, plainProgress(r))
		}
	case progressBar:
		if p.bar == nil && now.Sub(p.since) < barDelay {
			return
		}
		p.show(r)
	case progressOff:
	}
}

func plainProgress(r ragflow.Progress) string {
	if r.Total <= 0 {
		return fmt.Sprintf("%s: %s", r.Stage, count(r.Done, "file"))
	}
	return fmt.Sprintf("%s: %d of %s", r.Stage, r.Done, count(r.Total, "file"))
}

// show moves the bar, and begins another one with a new stage or total. The bar
// is an ornament: that it cannot be drawn is no reason to stop.
func (p *progress) show(r ragflow.Progress) {
	total := r.Total
	if total <= 0 {
		total = -1 // unknown: a spinner
	}
	if p.bar == nil || p.stage != r.Stage || p.total != total {
		p.end()
		p.stage, p.total = r.Stage, total
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(r.Stage),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("files"),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)
	}
	_ = p.bar.Set(r.Done)
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
