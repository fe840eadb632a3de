package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// OnBusy says what becomes of a new input for a thread on which a run is under
// way, in this process or another. Whatever it says, no two runs write to a
// thread at the same time, and every input that was told as [RunStarted] stands in
// the log. A resume and an update never disturb a run: for them, it is Reject.
type OnBusy int

const (
	// Reject refuses the new run with [ErrBusy], after [Request].Wait.
	Reject OnBusy = iota
	// Enqueue lets it wait for its turn, as long as its context lives: in the order
	// of arrival within a Runner, by chance between runners and processes.
	Enqueue
	// Interrupt stops the run under way, which gets [ErrSuperseded]: its nodes are
	// cancelled and it saves nothing more. It stands in the log as Superseded; its
	// input and the supersteps it saved stay part of the state.
	Interrupt
	// Rollback is Interrupt, and the state goes back to what it was before the
	// interrupted run's input, by a commit of [SourceUndo]. It needs [Graph].Restore.
	Rollback
)

// forever is as long as a store waits for its turn in Enqueue.
const forever = 100 * 365 * 24 * time.Hour

// crowd are the runs of a Runner that may meet.
type crowd struct {
	mu     sync.Mutex
	active map[string]*bystander      // runs under way, by thread
	queues map[string][]chan struct{} // who waits behind them, in Enqueue
}

type bystander struct {
	token  int64 // of its lease: the greater one has the thread
	cancel context.CancelCauseFunc
}

// turn waits until all who came before on a thread have left.
func (c *crowd) turn(ctx context.Context, thread string) (leave func(), err error) {
	c.mu.Lock()
	queue, taken := c.queues[thread]
	if c.queues == nil {
		c.queues = map[string][]chan struct{}{}
	}
	if !taken {
		c.queues[thread] = nil
		c.mu.Unlock()
		return func() { c.next(thread) }, nil
	}
	mine := make(chan struct{})
	c.queues[thread] = append(queue, mine)
	c.mu.Unlock()
	select {
	case <-mine:
		return func() { c.next(thread) }, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	i := slices.Index(c.queues[thread], mine)
	if i >= 0 {
		c.queues[thread] = slices.Delete(c.queues[thread], i, i+1)
	}
	c.mu.Unlock()
	if i < 0 { // its turn came in the same moment
		c.next(thread)
	}
	return nil, fmt.Errorf("wait for thread %q: %w (%w)", thread, context.Cause(ctx), ErrBusy)
}

func (c *crowd) next(thread string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.queues[thread]
	if len(queue) == 0 {
		delete(c.queues, thread)
		return
	}
	close(queue[0])
	c.queues[thread] = queue[1:]
}

// enter notes that a run has a thread. Of two that say so the one with the older
// lease has lost it, and is told; a run of another process learns it when it
// writes, or renews its lease.
func (c *crowd) enter(thread string, token int64, cancel context.CancelCauseFunc) (leave func()) {
	me := &bystander{token, cancel}
	lost := fmt.Errorf("stopped by a later input: %w", ErrSuperseded)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil {
		c.active = map[string]*bystander{}
	}
	switch other := c.active[thread]; {
	case other == nil:
		c.active[thread] = me
	case other.token < token:
		other.cancel(lost)
		c.active[thread] = me
	default:
		cancel(lost)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.active[thread] == me {
			delete(c.active, thread)
		}
	}
}

// open takes the thread of a run, as OnBusy says. The function it returns leaves
// it again.
func (x *run[S, U]) open(ctx context.Context, cancel context.CancelCauseFunc) (func(), error) {
	policy, wait := x.o.OnBusy, x.req.Wait
	if x.req.Resume {
		policy = Reject
	}
	after := func() {}
	if policy == Enqueue {
		leave, err := x.crowd.turn(ctx, x.req.Thread)
		if err != nil {
			return nil, err
		}
		after, wait = leave, forever
	}
	if policy == Interrupt || policy == Rollback {
		wait = 0 // the run under way is stopped, not waited for
	}
	o := AcquireOptions{Owner: x.o.Owner, TTL: x.o.LeaseTTL, Wait: wait}
	log, err := openLog(ctx, x.o.Store, x.req.Thread, o, cancel)
	if errors.Is(err, ErrBusy) && (policy == Interrupt || policy == Rollback) {
		o.Force, x.met = true, true
		log, err = openLog(ctx, x.o.Store, x.req.Thread, o, cancel)
	}
	if err != nil {
		after()
		return nil, err
	}
	x.log = log
	left := x.crowd.enter(x.req.Thread, log.lease.Token, cancel)
	return func() {
		left()
		log.close(ctx)
		after()
	}, nil
}

// undone returns what the state was before the input of the run at the head, and
// the deltas that lead back to it.
func (x *run[S, U]) undone(ctx context.Context, head Commit) (S, []Delta, error) {
	var then S
	for c, err := range x.o.Store.Walk(ctx, x.req.Thread, head.ID) {
		if err != nil {
			return then, nil, err
		}
		if c.Run != head.Run || c.Source != SourceInput {
			continue
		}
		if c.Parent != 0 {
			if then, _, err = x.load(ctx, x.req.Thread, c.Parent); err != nil {
				return then, nil, err
			}
		}
		updates, err := callRestore(x.plan.restore, x.state, then)
		if err != nil {
			return then, nil, err
		}
		return x.changed(updates)
	}
	return then, nil, fmt.Errorf("the input of run %q: %w", head.Run, ErrNotFound)
}

func callRestore[S, U any](restore func(now, then S) ([]U, error), now, then S) (us []U, err error) {
	defer caught(&err)
	return restore(now, then)
}
