package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// workerPool handles n parts on at most limit goroutines. It starts with one worker. Each worker
// that takes its first part starts one more, so at most one idle worker is ever pending. So
// short parts need few goroutines, while each part that waits has its own goroutine.
type workerPool struct {
	ctx   context.Context //nolint:containedctx // for one call only
	n     int
	limit int
	slots *Slots
	do    func(i int) // handles part i; called concurrently

	taken       atomic.Int64 // parts taken; more than n at the end
	started     atomic.Int64 // workers
	starting    atomic.Bool  // a worker is starting, or the limit is reached
	workers     sync.WaitGroup
	slotCtx     context.Context //nolint:containedctx // ends the wait for slots when all parts are taken
	stopWaiting context.CancelFunc
}

// run returns when all workers have ended: after the last part or, if the context ended, after
// the started parts.
func (c *workerPool) run() {
	c.slotCtx, c.stopWaiting = c.ctx, func() {}
	if c.slots != nil {
		c.slotCtx, c.stopWaiting = context.WithCancel(c.ctx)
		defer c.stopWaiting()
	}
	c.startWorker()
	c.workers.Wait()
}

// startWorker starts another worker if needed.
func (c *workerPool) startWorker() {
	if !c.starting.CompareAndSwap(false, true) || c.started.Load() >= int64(c.limit) {
		return
	}
	c.started.Add(1)
	c.workers.Go(func() {
		if c.slots.acquire(c.slotCtx) != nil {
			return
		}
		defer c.slots.release()
		c.parts()
	})
}

// parts handles parts until none is left.
func (c *workerPool) parts() {
	for first := true; c.ctx.Err() == nil; {
		i := int(c.taken.Add(1)) - 1
		if i >= c.n {
			c.stopWaiting()
			return
		}
		if first {
			first = false
			c.starting.Store(false)
		}
		if i+1 < c.n {
			c.startWorker()
		}
		c.do(i)
	}
}

// allTaken reports whether every part was started.
func (c *workerPool) allTaken() bool { return int(c.taken.Load()) >= c.n }
