package graph

import (
	"context"
	"fmt"
	"time"
)

// Timeout limits the time of one attempt of a node. At the timeout the node's context ends, and
// the node must return; the engine waits for it. If it returns without an error, its update
// still counts.
type Timeout struct {
	Run  time.Duration // since the start of the attempt; 0: no limit
	Idle time.Duration // since the last [Emit], [Beat], [Note], [Warn], [Skip] or [Count], also by workers of a [FanOut]; 0: no limit
}

// TimeoutError is the error of a node that exceeded its [Timeout]. It matches
// context.DeadlineExceeded.
type TimeoutError struct {
	After time.Duration
	Idle  bool   // Timeout.Idle was exceeded
	Said  string // the error that the node returned
}

func (e *TimeoutError) Error() string {
	if e.Idle {
		return fmt.Sprintf("no activity for %v: %s", e.After, e.Said)
	}
	return fmt.Sprintf("took longer than %v: %s", e.After, e.Said)
}

// Is matches context.DeadlineExceeded.
func (*TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// watchdog ends a context without activity.
type watchdog struct {
	timer *time.Timer
	after time.Duration
}

func (w *watchdog) reset() {
	if w != nil && w.timer.Stop() { // a fired timer stays fired
		w.timer.Reset(w.after)
	}
}

// noTimeout is the second result of watch without a timeout.
func noTimeout(err error) error { return err }

// watch applies the timeouts to a context. The returned function stops them and turns the error
// of a node that was stopped by a timeout into a *TimeoutError.
func (t Timeout) watch(parent context.Context, tc *taskContext) (context.Context, func(error) error) {
	if t == (Timeout{}) {
		return parent, noTimeout
	}
	ctx, cancel := context.WithCancelCause(parent)
	runLimit, idleLimit := &TimeoutError{After: t.Run}, &TimeoutError{After: t.Idle, Idle: true}
	var timer *time.Timer
	if t.Run > 0 {
		timer = time.AfterFunc(t.Run, func() { cancel(runLimit) })
	}
	if t.Idle > 0 {
		tc.setWatchdog(&watchdog{time.AfterFunc(t.Idle, func() { cancel(idleLimit) }), t.Idle})
	}
	return ctx, func(err error) error {
		if timer != nil {
			timer.Stop()
		}
		if idle := tc.setWatchdog(nil); idle != nil {
			idle.timer.Stop()
		}
		cause := context.Cause(ctx)
		cancel(nil)
		late, ok := cause.(*TimeoutError) //nolint:errorlint // compared with the values above
		if err == nil || !ok || late != runLimit && late != idleLimit {
			return err
		}
		late.Said = err.Error()
		return late
	}
}

// setWatchdog sets the watchdog of the task and returns the old one.
func (b *taskContext) setWatchdog(w *watchdog) *watchdog {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.idle
	b.idle = w
	return old
}
