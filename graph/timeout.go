package graph

import (
	"context"
	"fmt"
	"time"
)

// TimeoutError is the error of a node that exceeded the Timeout of its [Task]. It matches
// context.DeadlineExceeded.
type TimeoutError struct {
	After time.Duration
	Said  string // the error that the node returned
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("took longer than %v: %s", e.After, e.Said) }

// Is matches context.DeadlineExceeded.
func (*TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// withTimeout applies a timeout to a context. The returned function stops it and turns the error
// of a node that it stopped into a *TimeoutError.
func withTimeout(parent context.Context, limit time.Duration) (context.Context, func(error) error) {
	if limit <= 0 {
		return parent, func(err error) error { return err }
	}
	late := &TimeoutError{After: limit}
	ctx, stop := context.WithTimeoutCause(parent, limit, late)
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
