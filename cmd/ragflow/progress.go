package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"example.com/ragflow/ingest"
)

const (
	// barDelay is how long indexing goes on before a bar appears: what is over
	// sooner needs none.
	barDelay = 300 * time.Millisecond
	// barEvery is how often the bar moves. Files come in bursts, and a rate
	// measured within one means nothing.
	barEvery = 250 * time.Millisecond
	// plainEvery is how often a line is printed where there is no terminal.
	plainEvery = 10 * time.Second
)

// progress shows indexing while it goes on: a bar with rate and time left on a
// terminal, now and then a line elsewhere. It is used from one goroutine at a
// time.
type progress struct {
	out   io.Writer
	gate  gate
	mode  progressMode
	since time.Time // the first report, or the last line printed
	moved time.Time // the bar's last move
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

// gate lets writes through once it is open. The bar runs behind it from the
// first report on, so that its rate is right when it appears.
type gate struct {
	w    io.Writer
	open bool
}

func (g *gate) Write(p []byte) (int, error) {
	if !g.open {
		return len(p), nil
	}
	return g.w.Write(p)
}

func (a *app) newProgress() *progress {
	p := &progress{out: a.err, gate: gate{w: a.err}, mode: progressPlain}
	switch {
	case a.quiet:
		p.mode = progressOff
	case a.terminal(a.err):
		p.mode = progressBar
	}
	return p
}

// report takes one report.
func (p *progress) report(r ingest.Progress) {
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
		p.gate.open = now.Sub(p.since) >= barDelay
		if now.Sub(p.moved) >= barEvery || r.Done == r.Total {
			p.moved = now
			p.show(r)
		}
	case progressOff:
	}
}

func plainProgress(r ingest.Progress) string {
	if r.Total <= 0 {
		return fmt.Sprintf("%s: %s", r.Stage, count(r.Done, unitOf(r)))
	}
	return fmt.Sprintf("%s: %d of %s", r.Stage, r.Done, count(r.Total, unitOf(r)))
}

// unitOf is what a report counts.
func unitOf(r ingest.Progress) string {
	switch r.Stage {
	case ingest.StageEmbedding:
		return "passage"
	case stageAsking:
		return "question"
	}
	return "file"
}

// show moves the bar, and begins another one with a new stage or total. The bar
// is an ornament: that it cannot be drawn is no reason to stop.
func (p *progress) show(r ingest.Progress) {
	total := r.Total
	if total <= 0 {
		total = -1 // unknown: a spinner
	}
	if p.bar == nil || p.stage != r.Stage || p.total != total {
		p.end()
		p.stage, p.total = r.Stage, total
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(&p.gate),
			progressbar.OptionSetDescription(r.Stage),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unitOf(r)+"s"),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)
		p.bar.StartWithoutRender()
		return // there is no rate yet
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
