package langgraph

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/door"
)

const (
	maxActive = 1_000    // runs under way or waiting
	maxKept   = 32 << 20 // bytes of the events of runs that have ended
	maxLive   = 10_000   // live events of one thread
)

// thread has the events of the runs of a thread that this process knows.
type thread struct {
	mu     sync.Mutex
	events []event // ordered by position
	live   int     // of events
	last   position
	runs   []*run        // oldest first
	more   chan struct{} // closed and replaced whenever something changes

	watched int // by streams of the newer protocol; guarded by registry.mu
}

// tell wakes the readers. The caller holds t.mu.
func (t *thread) tell() {
	close(t.more)
	t.more = make(chan struct{})
}

// add appends an event. Of too many live ones the older half is forgotten.
func (t *thread) add(e event) {
	size := e.size()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.n++; e.Seq > t.last.seq {
		t.last = position{seq: e.Seq}
	}
	e.at = t.last
	e.run.bytes += size
	if e.Live {
		t.live++
	}
	if t.live > maxLive {
		drop := t.live / 2
		t.live -= drop
		t.events = slices.DeleteFunc(t.events, func(e event) bool {
			if !e.Live || drop == 0 {
				return false
			}
			drop--
			return true
		})
	}
	t.events = append(t.events, e)
	t.tell()
}

// read yields the events of a run to its end or, if it is nil, of all runs until ctx ends.
func (t *thread) read(ctx context.Context, r *run) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		for at := (position{}); ; {
			events, more, over := t.since(at, r)
			for _, e := range events {
				if at = e.at; (r == nil || e.run == r) && !yield(e, nil) {
					return
				}
			}
			switch {
			case len(events) > 0:
				continue
			case over:
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(event{}, context.Cause(ctx))
				return
			}
		}
	}
}

// since returns the events after a position. more is closed when there may be others; over says that the run has
// ended, so that it has no others.
func (t *thread) since(at position, r *run) (events []event, more <-chan struct{}, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, _ := slices.BinarySearchFunc(t.events, at, func(e event, at position) int {
		if at.before(e.at) {
			return 1
		}
		return -1
	})
	return slices.Clone(t.events[i:]), t.more, r != nil && r.over()
}

// known returns the position of the first event, nil without any, and the runs, oldest first.
func (t *thread) known() (first *position, runs []*run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) > 0 {
		at := t.events[0].at
		first = &at
	}
	return first, slices.Clone(t.runs)
}

// drop forgets a run with its events.
func (t *thread) drop(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = slices.DeleteFunc(t.events, func(e event) bool { return e.run == r })
	t.runs = slices.DeleteFunc(t.runs, func(x *run) bool { return x == r })
}

// registry runs graphs. A run continues when its readers leave. It is safe for concurrent use.
type registry struct {
	mu      sync.Mutex
	threads map[string]*thread
	running int    // runs under way or waiting
	ended   []*run // that are remembered, the first to be forgotten first
	kept    int    // bytes of their events
}

func newRegistry() *registry { return &registry{threads: map[string]*thread{}} }

// thread returns the events of a thread, which begin after the commit head. The caller holds g.mu.
func (g *registry) thread(name string, head graph.CommitID) *thread {
	t := g.threads[name]
	if t == nil {
		t = &thread{more: make(chan struct{}), last: position{seq: int64(head)*4 + 3}}
		g.threads[name] = t
	}
	return t
}

// watch is thread for a reader that waits for later runs. It calls leave at the end.
func (g *registry) watch(name string, head graph.CommitID) (t *thread, leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t = g.thread(name, head)
	t.watched++
	return t, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		t.watched--
		g.clean(name, t)
	}
}

// clean forgets a thread that has neither runs nor watchers. The caller holds g.mu.
func (g *registry) clean(name string, t *thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched == 0 && len(t.runs) == 0 && g.threads[name] == t {
		delete(g.threads, name)
	}
}

// last returns the number of the last event of a thread.
func (g *registry) last(name string) int64 {
	g.mu.Lock()
	t := g.threads[name]
	g.mu.Unlock()
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return number(t.last, 1<<8-1)
}

// list returns the runs of a thread that are known, the oldest first.
func (g *registry) list(name string) []*run {
	g.mu.Lock()
	t := g.threads[name]
	g.mu.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.runs)
}

// active returns the runs of a thread that are under way or wait.
func (g *registry) active(name string) []*run {
	return slices.DeleteFunc(g.list(name), func(r *run) bool {
		status, _ := r.now()
		return isOver(status)
	})
}

// start runs a request, after the runs of the thread before it if it is enqueued. head is that of the thread.
func (g *registry) start(ctx context.Context, r *run, head graph.CommitID, req untyped.Request, b *brakes) error {
	r.ended, r.status, r.began, r.at = make(chan struct{}), "pending", time.Now(), time.Now()
	ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	before, err := g.enter(r, head)
	if err != nil {
		r.cancel(nil)
		return err
	}
	b.pause = make(chan struct{})
	req.Pause = b.pause
	go func() {
		defer g.leave(r)
		defer r.cancel(nil)
		r.work(ctx, before, req, b)
	}()
	return nil
}

// errSuperseded ends a run for which another one is begun.
var errSuperseded = errors.New("another run was begun")

// enter adds a run to its thread and returns those that it waits for.
func (g *registry) enter(r *run, head graph.CommitID) (before []*run, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running >= maxActive {
		return nil, door.Errorf(http.StatusServiceUnavailable, "%d runs are under way", g.running)
	}
	r.of = g.thread(r.thread, head)
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	for _, x := range r.of.runs {
		if !x.over() {
			before = append(before, x)
		}
	}
	switch {
	case r.strategy == "reject" && len(before) > 0:
		return nil, door.Errorf(http.StatusConflict, "the thread has a run under way; wait for it, or choose another multitask_strategy")
	case r.strategy == "interrupt" || r.strategy == "rollback":
		for _, x := range before {
			if x.status == "pending" {
				x.cancel(errSuperseded)
			}
		}
		before = nil // the engine stops the one under way
	}
	g.running++
	r.of.runs = append(r.of.runs, r)
	r.of.tell()
	return before, nil
}

// leave remembers a run that has ended, and forgets old ones.
func (g *registry) leave(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(r.ended)
	g.running--
	g.ended = append(g.ended, r)
	for g.kept += r.bytes; g.kept > maxKept || len(g.ended) > maxActive; g.ended = g.ended[1:] {
		old := g.ended[0]
		g.kept -= old.bytes
		old.of.drop(old)
		g.clean(old.thread, old.of)
	}
}

// forget cancels the runs of a thread, waits for them, and drops their events.
func (g *registry) forget(ctx context.Context, name string) error {
	for _, r := range g.list(name) {
		r.cancel(graph.ErrCancelled)
		select {
		case <-r.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = slices.DeleteFunc(g.ended, func(r *run) bool {
		if r.thread == name {
			g.kept -= r.bytes
		}
		return r.thread == name
	})
	t := g.threads[name]
	if t == nil || t.watched == 0 {
		delete(g.threads, name) // who reads a run gets the rest
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events, t.runs = nil, nil
	return nil
}
