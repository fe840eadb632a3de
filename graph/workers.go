package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// crew does n parts of some work on at most limit goroutines. It begins with one.
// Each worker that takes its first part starts one more, so at most one idle
// worker is ever pending. So few goroutines do short parts, while parts
// that wait, for the world outside or for each other, have one each as soon as
// it can run.
type crew struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call
	n     int
	limit int
	slots *Slots
	do    func(i int) // part i; on several goroutines at once

	taken   atomic.Int64 // parts; more than n once all are
	hired   atomic.Int64
	coming  atomic.Bool // one is on its way, or there are as many as may be
	workers sync.WaitGroup
	spare   context.Context //nolint:containedctx // ends the wait for slots when all parts are taken
	enough  context.CancelFunc
}

// run returns when all goroutines are gone: after the last part, or, once the
// context has ended, after those that were begun.
func (c *crew) run() {
	c.spare, c.enough = c.ctx, func() {}
	if c.slots != nil {
		c.spare, c.enough = context.WithCancel(c.ctx)
		defer c.enough()
	}
	c.hired.Store(1)
	c.coming.Store(true)
	c.workers.Go(c.parts) // in the slot of the task itself, so that nobody waits for ever
	c.workers.Wait()
}

// hire brings in another goroutine where one is wanted.
func (c *crew) hire() {
	if !c.coming.CompareAndSwap(false, true) || c.hired.Load() >= int64(c.limit) {
		return
	}
	c.hired.Add(1)
	c.workers.Go(func() {
		if c.slots.take(c.spare) != nil {
			return
		}
		defer c.slots.give()
		c.parts()
	})
}

// parts does one part after the other.
func (c *crew) parts() {
	for arrived := false; c.ctx.Err() == nil; {
		i := int(c.taken.Add(1)) - 1
		if i >= c.n {
			c.enough()
			return
		}
		if !arrived {
			arrived = true
			c.coming.Store(false)
		}
		if i+1 < c.n {
			c.hire()
		}
		c.do(i)
	}
}

// all tells whether every part was begun on.
func (c *crew) all() bool { return int(c.taken.Load()) >= c.n }
