package langgraph

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/door"
)

// run is one call of a run of the engine: one of this process, or one that is known from the log alone.
type run struct {
	id, thread, graph string
	runner            untyped.Runner
	owner             string
	began             time.Time
	strategy          string
	modes             names
	subgraphs         bool
	resumable         bool
	metadata          map[string]any
	cancel            context.CancelCauseFunc
	ended             chan struct{}
	logged            *loggedCall // nil: of this process

	of     *thread // guards the fields below
	bytes  int     // that its events take, about
	status string  // pending, running, success, error, interrupted
	at     time.Time
}

func isOver(status string) bool { return status != "pending" && status != "running" }

func (r *run) path() string { return "/threads/" + r.thread + "/runs/" + r.id }

// over reports whether a run has ended. The caller holds of.mu.
func (r *run) over() bool { return isOver(r.status) }

// now returns the status, and when it was reached.
func (r *run) now() (string, time.Time) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.status, r.at
}

func (r *run) set(status string) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.status, r.at = status, time.Now()
	r.of.tell()
}

// shown is a run as clients know it.
func (r *run) shown() map[string]any {
	status, at := r.now()
	return map[string]any{
		"run_id": r.id, "thread_id": r.thread, "assistant_id": assistantID(r.graph), "metadata": merged(r.metadata), "status": status,
		"kwargs": struct{}{}, "multitask_strategy": r.strategy, "created_at": stamp(r.began), "updated_at": stamp(at),
	}
}

// work runs the request and keeps its events, after the runs before it.
func (r *run) work(ctx context.Context, before []*run, req untyped.Request, b *brakes) {
	err := r.follow(ctx, before, req, b)
	status := statusOf(err)
	if status == "error" {
		r.of.add(event{run: r, err: err})
	}
	r.set(status) // before readers see that there are no more events
}

func (r *run) follow(ctx context.Context, before []*run, req untyped.Request, b *brakes) (err error) {
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
	for e, fault := range r.runner.Stream(ctx, req) {
		if fault != nil {
			return b.reason(fault)
		}
		if b.see(e); b.hit && e.Kind == graph.RunEnded {
			e.Status = graph.Limited
		}
		r.of.add(event{Event: e, run: r})
	}
	return nil
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

// events yields the events of a run from its beginning, to its end.
func (r *run) events(ctx context.Context) iter.Seq2[event, error] {
	if r.logged == nil {
		return r.of.read(ctx, r)
	}
	return r.logged.read(ctx, r)
}

// pollEvery is how often the log is read of a run that another process works on.
const pollEvery = 250 * time.Millisecond

// loggedCall is one call of a run of the engine in the log.
type loggedCall struct {
	engine string
	after  int64 // number of the event before its first one
}

// callID is the id of a call that continues a run of the engine after its event with the number seq; 0 is none.
func callID(engine string, seq int64) string {
	if seq == 0 {
		return engine
	}
	return engine + "." + strconv.FormatInt(seq, 10)
}

// callOf is the inverse of callID.
func callOf(id string) *loggedCall {
	i := strings.LastIndexByte(id, '.')
	if seq, err := strconv.ParseInt(id[i+1:], 10, 64); err == nil && i > 0 {
		return &loggedCall{id[:i], seq}
	}
	return &loggedCall{engine: id}
}

// read yields the events of the call. Of a run under way elsewhere it waits for more.
func (c *loggedCall) read(ctx context.Context, r *run) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		last, begun, changed := c.after, false, time.Now()
		for time.Since(changed) <= stalled {
			for e, err := range r.runner.Events(ctx, r.thread, c.engine, last, graph.Values|graph.Updates|graph.Tasks) {
				if err == nil && e.Kind == graph.RunStarted && begun {
					return // the next call
				}
				begun, last, changed = true, e.Seq, time.Now()
				if !yield(event{Event: e, at: position{seq: e.Seq}, run: r}, err) || err != nil || e.Kind == graph.RunEnded {
					return
				}
			}
			select {
			case <-time.After(pollEvery):
			case <-ctx.Done():
				yield(event{}, context.Cause(ctx))
				return
			}
		}
	}
}

// inLog returns a run that this process does not know.
func inLog(ctx context.Context, t *found, id string) (*run, error) {
	c := callOf(id)
	for e, err := range t.Events(ctx, t.Thread, c.engine, c.after, graph.Tasks) {
		if err != nil && !errors.Is(err, graph.ErrNotFound) {
			return nil, err
		}
		if err != nil || e.Kind != graph.RunStarted {
			break
		}
		infos, err := t.Runs(ctx, graph.RunQuery{Thread: t.Thread})
		for _, info := range infos {
			if info.Run == c.engine {
				return fromLog(ctx, t, info, c), err
			}
		}
		return nil, err
	}
	return nil, door.Errorf(http.StatusNotFound, "there is no run %q", id)
}

// fromLog is a call of a run that is known from the log alone.
func fromLog(ctx context.Context, t *found, info graph.RunInfo, c *loggedCall) *run {
	r := &run{
		id: callID(c.engine, c.after), thread: t.Thread, graph: t.graph, runner: t.Runner, owner: t.Owner, began: info.Began, strategy: "enqueue",
		modes: names{"values"}, resumable: true, metadata: unpacked(info.Metadata), of: &thread{}, at: info.Ended, ended: make(chan struct{}),
		logged: c,
		cancel: func(error) { _ = t.Cancel(context.WithoutCancel(ctx), t.Thread, info.Run) }, // it fails if the run has ended
	}
	close(r.ended)
	switch info.Status {
	case graph.Completed, graph.Interrupted:
		r.status = "success"
	case graph.Cancelled, graph.Superseded:
		r.status = "interrupted"
	case graph.Running, graph.Pending:
		if r.status = "running"; time.Since(info.Ended) > stalled {
			r.status = "error"
		}
	default:
		r.status = "error"
	}
	return r
}
