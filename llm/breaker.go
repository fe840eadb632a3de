package llm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// DefaultPause is the time during which a [Breaker] does not call a provider.
const DefaultPause = 30 * time.Second

// Breaker is a circuit breaker. After a call failed without a connection, by a timeout, by
// a rate limit or because of an invalid key or model name, all calls fail at once with the
// same error for the given pause. So a turn with several calls waits for a dead provider
// only once. pause 0 means
// [DefaultPause]; clock nil means time.Now.
func Breaker(c Chat, pause time.Duration, clock func() time.Time) Chat {
	if pause == 0 {
		pause = DefaultPause
	}
	if clock == nil {
		clock = time.Now
	}
	return &breaker{Chat: c, pause: pause, clock: clock}
}

type breaker struct {
	Chat
	pause time.Duration
	clock func() time.Time

	mu    sync.Mutex // guards the fields below
	until time.Time
	last  Error
}

func (b *breaker) Complete(ctx context.Context, r Request, token func(string)) (Response, error) {
	if err := b.open(); err != nil {
		return Response{}, err
	}
	out, err := b.Chat.Complete(ctx, r, token)
	e, ok := errors.AsType[*Error](err)
	if ok && slices.Contains([]error{ErrUnavailable, ErrTimeout, ErrRateLimited, ErrCredentials, ErrModelNotFound}, e.Kind) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.until, b.last = b.clock().Add(b.pause), *e
	}
	return out, err
}

// open returns the last error during the pause, else nil.
func (b *breaker) open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.clock().Before(b.until) {
		return nil
	}
	e := b.last
	e.Retries, e.Streamed, e.Transient, e.Skipped = 0, false, false, true
	return &e
}
