package llm

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// DefaultPause is the time during which a model that failed is not called.
const DefaultPause = 30 * time.Second

// breaker is a circuit breaker. After a call failed without a connection, by a timeout, by
// a rate limit or because of an invalid key or model name, all calls fail at once with the
// same error for a pause. So a turn with several calls waits for a dead provider only once.
// It is safe for concurrent use. A nil breaker does nothing.
type breaker struct {
	pause time.Duration
	clock func() time.Time

	mu     sync.Mutex // guards the fields below
	failed int        // calls in a row
	until  time.Time
	last   Error
}

// open returns the last error during the pause, else nil.
func (b *breaker) open() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.clock().Before(b.until) {
		return nil
	}
	e := b.last
	e.Retries, e.Streamed, e.Transient, e.Skipped = 0, false, false, true
	return &e
}

// note takes the outcome of a call. The pause begins with the last failure of a call that is
// not retried, or with as many failures in a row as one call may have: those of calls side by
// side count together. It reports whether the model is not called any more.
func (b *breaker) note(e *Error, last bool) bool {
	if b == nil {
		return last
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case e == nil:
		b.failed = 0
	case slices.ContainsFunc([]error{ErrUnavailable, ErrTimeout, ErrRateLimited, ErrCredentials, ErrModelNotFound}, func(kind error) bool { return errors.Is(e, kind) }):
		b.failed++
		if last || b.failed > MaxRetries {
			b.until, b.last = b.clock().Add(b.pause), *e
			return true
		}
	}
	return last
}
