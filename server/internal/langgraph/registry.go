package langgraph

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

const (
	maxActive = 1_000    // runs under way or waiting
	maxKept   = 32 << 20 // bytes of the events of runs that have ended
	maxLive   = 10_000   // live events of one thread
)

// run is one call of a run of the engine.
type run struct {
	id, thread, graph string
	owner             string
	began             time.Time
	strategy          string
	modes             modes
	subgraphs         bool
	resumable         bool
	metadata          map[string]any
	cancel            context.CancelCauseFunc
	ended             chan struct{}
	bytes             int // of its events at its end; guarded by registry.mu

	of     *thread // guards the fields below
	status string  // pending, running, success, error, interrupted
	at     time.Time
}

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

// registry runs graphs. A run continues when its readers leave. It is safe for concurrent use.
type registry struct {
	mu      sync.Mutex
	threads map[string]*thread
	active  int
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

// watch is thread for a reader that waits for later runs. It calls leaveAlone at the end.
func (g *registry) watch(name string, head graph.CommitID) *thread {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.thread(name, head)
	t.watched++
	return t
}

func (g *registry) leaveAlone(name string, t *thread) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.watched--
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

// kept returns the position of the first event, nil without any, and all runs but the newest.
func (t *thread) kept() (first *position, old []*run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) > 0 {
		at := t.events[0].at
		first = &at
	}
	if n := len(t.runs); n > 0 {
		old = slices.Clone(t.runs[:n-1])
	}
	return first, old
}

// start runs a request. It waits for the runs of the thread before it, if the request is enqueued.
func (g *registry) start(ctx context.Context, r *run, head graph.CommitID, runner untyped.Runner, req untyped.Request, brakes *brakes) error {
	r.ended, r.status, r.began, r.at = make(chan struct{}), "pending", time.Now(), time.Now()
	ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	before, err := g.enter(r, head)
	if err != nil {
		r.cancel(nil)
		return err
	}
	req.Pause = brakes.pause
	go func() {
		defer g.leave(r)
		defer r.cancel(nil)
		r.end(r.follow(ctx, before, runner, req, brakes))
	}()
	return nil
}

// errSuperseded ends a run for which another one is begun.
var errSuperseded = errors.New("another run was begun")

// enter adds a run to its thread and returns those that it waits for.
func (g *registry) enter(r *run, head graph.CommitID) ([]*run, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.of = g.thread(r.thread, head)
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	var before []*run
	for _, x := range r.of.runs {
		if !x.over() {
			before = append(before, x)
		}
	}
	switch {
	case g.active >= maxActive:
		return nil, failed(http.StatusServiceUnavailable, "%d runs are under way", g.active)
	case r.strategy == "reject" && len(before) > 0:
		return nil, failed(http.StatusConflict, "the thread has a run under way; wait for it, or choose another multitask_strategy")
	case r.strategy == "interrupt" || r.strategy == "rollback":
		for _, x := range before {
			if x.status == "pending" {
				x.cancel(errSuperseded)
			}
		}
		before = nil // the engine stops the one under way
	}
	g.active++
	r.of.runs = append(r.of.runs, r)
	r.of.tell()
	return before, nil
}

// leave remembers a run that has ended, and forgets old ones.
func (g *registry) leave(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(r.ended)
	g.active--
	g.ended = append(g.ended, r)
	r.bytes = r.size()
	g.kept += r.bytes
	for g.kept > maxKept && len(g.ended) > 0 || len(g.ended) > maxActive {
		old := g.ended[0]
		g.ended = g.ended[1:]
		g.kept -= old.bytes
		if old.drop() && old.of.watched == 0 {
			delete(g.threads, old.thread)
		}
	}
}

// forget cancels the runs of a thread, waits for them, and drops its events.
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
	for _, r := range g.ended {
		if r.thread == name {
			g.kept -= r.bytes
		}
	}
	g.ended = slices.DeleteFunc(g.ended, func(r *run) bool { return r.thread == name })
	if t := g.threads[name]; t != nil && t.watched > 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events, t.runs = nil, nil
	} else {
		delete(g.threads, name)
	}
	return nil
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

// busy reports whether a run of a thread is under way or waits.
func (g *registry) busy(name string) bool {
	return slices.ContainsFunc(g.list(name), func(r *run) bool { status, _ := r.now(); return status == "pending" || status == "running" })
}

// tell wakes the readers. The caller holds t.mu.
func (t *thread) tell() {
	close(t.more)
	t.more = make(chan struct{})
}

// since returns the events after a position, of one run or, if it is nil, of all. more is closed when there
// may be others; over says that the run has ended, so that there are none.
func (t *thread) since(at position, r *run) (events []event, more <-chan struct{}, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, _ := slices.BinarySearchFunc(t.events, at, func(e event, at position) int {
		if at.before(e.at) {
			return 1
		}
		return -1
	})
	for _, e := range t.events[i:] {
		if r == nil || e.run == r {
			events = append(events, e)
		}
	}
	return events, t.more, r != nil && r.over()
}

// over reports whether a run has ended. The caller holds of.mu.
func (r *run) over() bool { return r.status != "pending" && r.status != "running" }

// now returns the status, and when it was reached.
func (r *run) now() (string, time.Time) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.status, r.at
}

// follow runs the request and keeps its events.
func (r *run) follow(ctx context.Context, before []*run, runner untyped.Runner, req untyped.Request, b *brakes) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &graph.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	for _, x := range before {
		select {
		case <-x.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.set("running")
	for e, fault := range runner.Stream(ctx, req) {
		if fault != nil {
			return b.reason(fault)
		}
		if b.see(e); b.hit && e.Kind == graph.RunEnded {
			e.Status = graph.Limited
		}
		r.add(event{Event: e})
	}
	return nil
}

func (r *run) set(status string) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.status, r.at = status, time.Now()
	r.of.tell()
}

// add appends an event to those of the thread. Of too many live ones the older half is forgotten.
func (r *run) add(e event) {
	t := r.of
	t.mu.Lock()
	defer t.mu.Unlock()
	e.run = r
	if t.last = (position{t.last.seq, t.last.n + 1}); e.Seq > t.last.seq {
		t.last = position{seq: e.Seq}
	}
	e.at = t.last
	if e.Live {
		if t.live++; t.live > maxLive {
			drop := t.live / 2
			t.events = slices.DeleteFunc(t.events, func(e event) bool {
				drop--
				return e.Live && drop >= 0
			})
			t.live = 0
			for _, e := range t.events {
				if e.Live {
					t.live++
				}
			}
		}
	}
	t.events = append(t.events, e)
	t.tell()
}

// end sets the final status, before readers see the last event.
func (r *run) end(err error) {
	status := statusOf(err)
	if status == "error" {
		r.add(event{err: err})
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.status, r.at = status, time.Now()
	r.of.tell()
}

// statusOf is the status of a run that ended with an error.
func statusOf(err error) string {
	_, asks := errors.AsType[*graph.InterruptError](err)
	switch {
	case err == nil, asks, errors.Is(err, graph.ErrPaused), errors.Is(err, graph.ErrNothingToDo):
		return "success"
	case errors.Is(err, context.Canceled), errors.Is(err, graph.ErrCancelled), errors.Is(err, graph.ErrSuperseded),
		errors.Is(err, errSuperseded), errors.Is(err, graph.ErrDrained):
		return "interrupted"
	}
	return "error"
}

// size is about what the events of a run take.
func (r *run) size() (n int) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	for _, e := range r.of.events {
		if e.run == r {
			n += e.size()
		}
	}
	return n
}

// drop forgets a run with its events, and reports whether its thread has no other.
func (r *run) drop() bool {
	t := r.of
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = slices.DeleteFunc(t.events, func(e event) bool { return e.run == r })
	t.runs = slices.DeleteFunc(t.runs, func(x *run) bool { return x == r })
	return len(t.runs) == 0
}
