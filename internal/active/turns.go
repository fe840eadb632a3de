package active

import (
	"context"
	"sync"
)

// Turns lets callers with the same key go on one after the other. The zero Turns has no caller. It is safe for
// concurrent use.
type Turns[K comparable] struct {
	mu     sync.Mutex
	queues map[K]*queue
}

// queue is the queue of a key. Callers send to turn, and blocked senders go on in order of arrival.
type queue struct {
	turn    chan struct{} // has room for one
	callers int           // that go on or wait
}

// Turn waits until all earlier callers with a turn of a key have left, or until ctx ends. If nobody is before the
// caller, it gets the turn also after the end of ctx.
func (t *Turns[K]) Turn(ctx context.Context, key K) (leave func(), err error) {
	t.mu.Lock()
	q := t.queues[key]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		if t.queues == nil {
			t.queues = map[K]*queue{}
		}
		t.queues[key] = q
	}
	q.callers++
	t.mu.Unlock()
	drop := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.callers--; q.callers == 0 {
			delete(t.queues, key)
		}
	}
	select {
	case q.turn <- struct{}{}:
	default:
		select {
		case q.turn <- struct{}{}:
		case <-ctx.Done():
			drop()
			return nil, context.Cause(ctx)
		}
	}
	return func() { <-q.turn; drop() }, nil
}
