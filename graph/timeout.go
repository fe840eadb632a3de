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
	Run time.Duration // since the start of the attempt; 0: no limit
}

// TimeoutError is the error of a node that exceeded its [Timeout]. It matches
// context.DeadlineExceeded.
type TimeoutError struct {
	After time.Duration
	Said  string // the error that the node returned
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("took longer than %v: %s", e.After, e.Said) }

// Is matches context.DeadlineExceeded.
func (*TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// noTimeout is the second result of watch without a timeout.
func noTimeout(err error) error { return err }

// watch applies the timeout to a context. The returned function stops it and turns the error
// of a node that it stopped into a *TimeoutError.
func (t Timeout) watch(parent context.Context) (context.Context, func(error) error) {
	if t.Run <= 0 {
		return parent, noTimeout
	}
	late := &TimeoutError{After: t.Run}
	ctx, stop := context.WithTimeoutCause(parent, t.Run, late)
	return ctx, func(err error) error {
		cause := context.Cause(ctx)
		stop()
		if err == nil || cause != error(late) { //nolint:errorlint // compared with the value above
			return err
		}
		late.Said = err.Error()
		return late
	}
}
