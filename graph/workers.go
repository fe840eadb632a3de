package graph

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// message is a message from a worker to the loop.
type message struct {
	kind messageKind
	task int       // for taskEnded
	live liveEvent // for liveMessage
}

type messageKind int

const (
	liveMessage messageKind = iota
	taskEnded
	workerGone
)

// inboxSize is the maximum number of unread messages.
const inboxSize = 64

// runConcurrently runs tasks on workers. Only the loop yields and saves; workers block while it
// is busy. All workers have ended when it returns.
func (x *run[S, U]) runConcurrently(parent context.Context, todo int) error {
	ctx, cancel := context.WithCancelCause(parent)
	var first atomic.Pointer[error]
	fail := func(err error) {
		if parent.Err() == nil {
			first.CompareAndSwap(nil, &err)
		}
		cancel(err)
	}
	inbox := make(chan message, inboxSize)
	gone := make(chan struct{}) // closed when the loop stops reading, also if the consumer panics
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(gone)
	defer cancel(nil)

	post := func(m message) { // never drops one while the loop reads
		select {
		case inbox <- m:
		case <-gone:
		}
	}
	var taken atomic.Int64
	n := min(x.o.Parallel, todo)
	for range n {
		workers.Go(func() {
			defer post(message{kind: workerGone})
			for ctx.Err() == nil {
				i := int(taken.Add(1)) - 1
				if i >= len(x.outcomes) {
					return
				}
				if o := &x.outcomes[i]; !o.done && !o.waits {
					x.runOnWorker(ctx, fail, i, post)
				}
			}
		})
	}
	for n > 0 {
		switch m := <-inbox; m.kind {
		case workerGone:
			n--
		case liveMessage:
			x.yieldLive(m.live)
		case taskEnded:
			o := &x.outcomes[m.task]
			if o.done && (todo > 1 || len(x.outcomes) > todo || x.path != "") && !superseded(parent) {
				if err := x.keep(parent, o); err != nil {
					fail(err)
				}
			}
		}
		if x.left {
			fail(errLeft)
		}
	}
	all := !slices.ContainsFunc(x.outcomes, func(o outcome[U]) bool { return !o.done })
	switch err := first.Load(); {
	case all && (err == nil || errors.Is(*err, errLeft)):
		return nil // save finished work, even if the run ends now
	case err != nil:
		return *err
	case parent.Err() != nil:
		return stopped(parent)
	}
	return x.interrupted()
}

// runOnWorker runs a task on a worker and sends its events to the loop. A failure cancels the
// siblings at once, so that the first failure is the cause.
func (x *run[S, U]) runOnWorker(ctx context.Context, fail func(error), i int, post func(message)) {
	o := &x.outcomes[i]
	emit := x.emit
	if x.live {
		emit = func(p liveEvent) { post(message{live: p}) }
	}
	defer post(message{kind: taskEnded, task: i}) // also if the node ends its goroutine
	defer func() {
		if o.err != nil && !o.waits {
			fail(o.err)
		}
		x.finished(o, emit)
	}()
	x.task(ctx, o, emit)
}
