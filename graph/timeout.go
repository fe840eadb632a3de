package graph

import (
	"context"
	"fmt"
	"time"
)

// Timeout bounds one attempt of a node. The node's context ends; it is for the
// node to return then, since no goroutine is left behind. What it returns
// without an error counts all the same.
type Timeout struct {
	Run  time.Duration // from its beginning; 0: no bound
	Idle time.Duration // from its last sign of life: [Emit], [Beat], [Note] and its kin, also by workers of a [FanOut]; 0: no bound
}

// TimeoutError is the failure of a node that took longer than its [Timeout].
// It matches context.DeadlineExceeded.
type TimeoutError struct {
	After time.Duration
	Idle  bool   // no sign of life for so long
	Said  string // the error that the node returned
}

func (e *TimeoutError) Error() string {
	if e.Idle {
		return fmt.Sprintf("no sign of life for %v: %s", e.After, e.Said)
	}
	return fmt.Sprintf("took longer than %v: %s", e.After, e.Said)
}

// Is matches context.DeadlineExceeded.
func (*TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// watchdog ends a context that shows no sign of life.
type watchdog struct {
	timer *time.Timer
	after time.Duration
}

func (w *watchdog) reset() {
	if w != nil && w.timer.Stop() { // one that has bitten bites once
		w.timer.Reset(w.after)
	}
}

// unwatched is what watch returns where there is nothing to watch.
func unwatched(err error) error { return err }

// watch bounds ctx. The function it returns ends the watch and turns the error
// of a node that was stopped by it into a *TimeoutError.
func (t Timeout) watch(parent context.Context, book *notebook) (context.Context, func(error) error) {
	if t == (Timeout{}) {
		return parent, unwatched
	}
	ctx, cancel := context.WithCancelCause(parent)
	long, quiet := &TimeoutError{After: t.Run}, &TimeoutError{After: t.Idle, Idle: true}
	var timer *time.Timer
	if t.Run > 0 {
		timer = time.AfterFunc(t.Run, func() { cancel(long) })
	}
	if t.Idle > 0 {
		book.watched(&watchdog{time.AfterFunc(t.Idle, func() { cancel(quiet) }), t.Idle})
	}
	return ctx, func(err error) error {
		if timer != nil {
			timer.Stop()
		}
		if idle := book.watched(nil); idle != nil {
			idle.timer.Stop()
		}
		cause := context.Cause(ctx)
		cancel(nil)
		late, ok := cause.(*TimeoutError) //nolint:errorlint // the very ones made above
		if err == nil || !ok || late != long && late != quiet {
			return err
		}
		late.Said = err.Error()
		return late
	}
}

// watched sets who hears of signs of life, and returns who did.
func (b *notebook) watched(w *watchdog) *watchdog {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.idle
	b.idle = w
	return old
}
