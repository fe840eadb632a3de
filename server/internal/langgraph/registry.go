package langgraph

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/feed"
	"example.com/ragflow/server/internal/door"
)

const (
	maxActive = 1_000    // runs under way or waiting
	maxKept   = 32 << 20 // bytes of the events of runs that have ended
	maxLive   = 10_000   // live events of one run
)

// thread has the runs of a thread that this process knows, the oldest first. One is under way at a time.
type thread struct {
	feed.Feed[*run]

	// Guarded by registry.mu.
	watched int // by streams of the thread
	begun   int // runs
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

// thread returns a thread. The caller holds g.mu.
func (g *registry) thread(name string) *thread {
	t := g.threads[name]
	if t == nil {
		t = &thread{}
		g.threads[name] = t
	}
	return t
}

// watch is thread for a reader that waits for later runs. It calls leave at the end.
func (g *registry) watch(name string) (t *thread, leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t = g.thread(name)
	t.watched++
	return t, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		t.watched--
		g.clean(name)
	}
}

// clean forgets a thread that has neither runs nor watchers. The caller holds g.mu.
func (g *registry) clean(name string) {
	if t := g.threads[name]; t != nil && t.watched == 0 && len(t.All()) == 0 {
		delete(g.threads, name)
	}
}

// list returns the runs of a thread that are known, the oldest first.
func (g *registry) list(name string) []*run {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.threads[name]; t != nil {
		return t.All()
	}
	return nil
}

// active returns the runs of a thread that are under way or wait.
func (g *registry) active(name string) []*run { return slices.DeleteFunc(g.list(name), (*run).over) }

// start runs a request, after the runs of the thread before it if it is enqueued. head is that of the thread.
func (g *registry) start(ctx context.Context, r *run, head graph.CommitID, req untyped.Request, b *brakes) error {
	r.ended, r.status, r.began, r.at = make(chan struct{}), "pending", time.Now(), time.Now()
	r.after.seq = endOf(head)
	ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	before, err := g.enter(r)
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
func (g *registry) enter(r *run) (before []*run, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running >= maxActive {
		return nil, door.Errorf(http.StatusServiceUnavailable, "%d runs are under way", g.running)
	}
	t := g.thread(r.thread)
	before = slices.DeleteFunc(t.All(), (*run).over)
	switch {
	case r.strategy == "reject" && len(before) > 0:
		return nil, door.Errorf(http.StatusConflict, "the thread has a run under way; wait for it, or choose another multitask_strategy")
	case r.strategy == "interrupt" || r.strategy == "rollback":
		for _, x := range before {
			if status, _ := x.now(); status == "pending" {
				x.cancel(errSuperseded)
			}
		}
		before = nil // the engine stops the one under way
	}
	g.running++
	t.begun++
	r.after.n = t.begun
	r.last = r.after
	t.Add(r)
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
		if t := g.threads[old.thread]; t != nil {
			t.Drop(func(x *run) bool { return x == old })
		}
		g.clean(old.thread)
	}
}

// forget cancels the runs of a thread, waits for them, and drops them. Who reads one gets the rest.
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
	if t := g.threads[name]; t != nil {
		t.Drop(func(*run) bool { return true })
	}
	g.clean(name)
	return nil
}
