package postgres

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is where the ids of threads are notified whose lease was released.
const channel = "ragflow_released"

// waiters are the calls of Acquire of one process that wait for a lease. They share one
// connection, which is outside of the pool, so that they take none from the writer that
// they wait for. The goroutine that listens begins with the first waiter and ends with
// close. Without the connection, waiters look again at times.
type waiters struct {
	config *pgx.ConnConfig

	mu        sync.Mutex
	waiting   map[int64]map[chan struct{}]bool // by thread
	listening chan struct{}                    // closed once notifications arrive; nil before the first waiter
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// join returns a channel that gets a value when the lease of a thread was released, and
// the function that leaves.
func (w *waiters) join(ctx context.Context, thread int64) (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	w.mu.Lock()
	if w.listening == nil {
		w.listening, w.waiting = make(chan struct{}), map[int64]map[chan struct{}]bool{}
		var lifetime context.Context
		lifetime, w.stop = context.WithCancel(context.WithoutCancel(ctx))
		w.done.Go(func() { w.listen(lifetime) })
	}
	if w.waiting[thread] == nil {
		w.waiting[thread] = map[chan struct{}]bool{}
	}
	w.waiting[thread][wake] = true
	w.mu.Unlock()
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-w.listening:
	case <-timer.C:
	case <-ctx.Done():
	}
	return wake, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting[thread], wake)
		if len(w.waiting[thread]) == 0 {
			delete(w.waiting, thread)
		}
	}
}

// listen wakes waiters until ctx ends. It connects again after a failure.
func (w *waiters) listen(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := pgx.ConnectConfig(ctx, w.config.Copy())
		if err == nil {
			w.notify(ctx, conn)
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			_ = conn.Close(closing) // it was only read
			cancel()
		}
		timer := time.NewTimer(lookAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// notify wakes waiters until the connection fails.
func (w *waiters) notify(ctx context.Context, conn *pgx.Conn) {
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		return
	}
	w.mu.Lock()
	select {
	case <-w.listening:
	default:
		close(w.listening)
	}
	w.mu.Unlock()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		thread, _ := strconv.ParseInt(n.Payload, 10, 64)
		w.mu.Lock()
		for wake := range w.waiting[thread] {
			select {
			case wake <- struct{}{}:
			default: // it is about to look already
			}
		}
		w.mu.Unlock()
	}
}

func (w *waiters) close() {
	w.mu.Lock()
	stop := w.stop
	w.mu.Unlock()
	if stop != nil {
		stop()
		w.done.Wait()
	}
}
