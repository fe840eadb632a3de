package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/langgraph"
)

const (
	resumeEvery  = 15 * time.Second
	resumeWithin = time.Hour // of its last saved step, so that a run which ends its process each time is given up
	resumeAtOnce = 4         // runs
	maxUnended   = 200       // threads of one status that are looked at, the last used first
)

// resumer continues runs whose process was killed or drained: at its start, and every resumeEvery those of other
// servers of the same store. The lease of a thread decides who works on it.
type resumer struct {
	*Server

	slots chan struct{}

	mu    sync.Mutex
	tried map[string]graph.CommitID // last commit of runs that were resumed from there
}

// resume works until ctx ends. Runs that were resumed continue after that; their readers and drain see to them.
func (s *Server) resume(ctx context.Context) {
	r := &resumer{Server: s, slots: make(chan struct{}, resumeAtOnce), tried: map[string]graph.CommitID{}}
	for quiet := time.Duration(0); ; quiet = 2 * graph.DefaultTTL { // the first pass takes runs of any age; a lease keeps those of another server
		for _, status := range []graph.Status{graph.Running, graph.Interrupted} {
			for name, g := range s.graphs {
				if err := r.pass(ctx, name, g, status, quiet); err != nil && ctx.Err() == nil {
					s.o.Logger.WarnContext(ctx, "unfinished runs cannot be listed", "graph", name, "error", err)
				}
			}
		}
		select {
		case <-time.After(resumeEvery):
		case <-ctx.Done():
			return
		}
	}
}

// pass resumes the runs of a graph with a status that saved nothing for a while.
func (r *resumer) pass(ctx context.Context, name string, g untyped.Runner, status graph.Status, quiet time.Duration) error {
	if name == langgraph.FlowName && r.a != nil && r.a.ReadOnly() {
		return nil
	}
	page, err := g.Threads(ctx, graph.ThreadQuery{Status: status, Limit: maxUnended})
	if err != nil {
		return err
	}
	for _, t := range page.Threads {
		since := time.Since(t.Touched)
		if since < quiet || since > resumeWithin || cmp.Or(t.Metadata["graph_id"], langgraph.FlowName) != name {
			continue
		}
		last, err := g.Runs(ctx, graph.RunQuery{Thread: t.Thread, Limit: 1})
		if errors.Is(err, graph.ErrNotFound) || err == nil && (len(last) == 0 || !r.take(ctx, last[0])) {
			continue
		}
		if err != nil {
			return err
		}
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		go func() {
			defer func() { <-r.slots }()
			r.one(graph.OwnedBy(context.WithoutCancel(ctx), t.Owner), g, t.Thread, last[0])
		}()
	}
	return nil
}

// take reports whether a run shall be resumed, once from each commit: one that nobody works on, or that was drained.
// One that waits for answers of a person waits on.
func (r *resumer) take(ctx context.Context, run graph.RunInfo) bool {
	if run.Status != graph.Running && !strings.Contains(run.Error, graph.ErrDrained.Error()) {
		return false
	}
	if r.a != nil && slices.ContainsFunc(r.a.Runs().List(ctx), func(active ragflow.RunInfo) bool { return active.Run == run.Run }) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried[run.Run] == run.Last {
		return false
	}
	r.tried[run.Run] = run.Last
	return true
}

// one resumes a run and waits for its end.
func (r *resumer) one(ctx context.Context, g untyped.Runner, thread string, run graph.RunInfo) {
	log := r.o.Logger.With("thread", thread, "run", run.Run)
	var err error
	for e, fault := range g.Stream(ctx, untyped.Request{Thread: thread, Resume: true}) {
		if err = fault; e.Kind == graph.RunStarted {
			log.InfoContext(ctx, "a run that had not ended is resumed", "step", run.Step)
		}
	}
	_, asks := errors.AsType[*graph.InterruptError](err)
	switch {
	case errors.Is(err, graph.ErrBusy): // its process lives
		r.mu.Lock()
		delete(r.tried, run.Run)
		r.mu.Unlock()
	case err != nil && !asks && !errors.Is(err, graph.ErrDrained) && !errors.Is(err, graph.ErrNothingToDo): // else it has ended meanwhile
		log.WarnContext(ctx, "a run that had not ended failed when it was resumed", "error", err)
	}
}
