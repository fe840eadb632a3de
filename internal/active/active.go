// Package active keeps the runs of one process that write to threads, and the queues of those that wait for a thread.
package active

import (
	"context"
	"sync"
)

// Runs are the active and waiting runs. The zero Runs is empty. It is safe for concurrent use.
type Runs struct {
	Turns[string] // by thread

	mu     sync.Mutex
	active map[string]*Run // by thread
}

// Run is a run that has entered a thread.
type Run struct {
	token  int64 // of its lease; the run with the greatest token owns the thread
	cancel context.CancelCauseFunc
	id     string        // set by Name
	end    string        // set before gone is closed
	gone   chan struct{} // closed when the run has left the thread
}

// Enter registers a run as the owner of a thread. If another run is registered, the one with the older lease
// has lost it and is cancelled with lost. The run calls leave with the status at its end.
func (c *Runs) Enter(thread string, token int64, cancel context.CancelCauseFunc, lost error) (me *Run, leave func(end string)) {
	me = &Run{token: token, cancel: cancel, gone: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil {
		c.active = map[string]*Run{}
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
	return me, func(end string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.active[thread] == me {
			delete(c.active, thread)
		}
		me.end = end
		close(me.gone)
	}
}

// Name sets the ID of a run; a nil run has none.
func (c *Runs) Name(me *Run, id string) {
	if me != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		me.id = id
	}
}

// Find returns the active run of a thread, if it has the ID or that is empty; else nil.
func (c *Runs) Find(thread, id string) *Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.active[thread]; r != nil && (id == "" || id == r.id) {
		return r
	}
	return nil
}

// Cancel cancels a run and waits until it has left its thread. It returns the status at the end of the run.
func (r *Run) Cancel(ctx context.Context, cause error) (end string, err error) {
	r.cancel(cause)
	select {
	case <-r.gone:
		return r.end, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
