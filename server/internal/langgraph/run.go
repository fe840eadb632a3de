package langgraph

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/feed"
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

	said  feed.Feed[event] // of this process
	bytes int              // that these take, about; the goroutine of the run owns it and the next two until it has ended
	live  int              // of these
	last  position         // of these
	after position         // behind which they are; no other run of the thread has the same

	mu     sync.Mutex
	status string // pending, running, success, error, interrupted
	at     time.Time
}

func (r *run) path() string { return "/threads/" + r.thread + "/runs/" + r.id }

// over reports whether the run has ended.
func (r *run) over() bool {
	status, _ := r.now()
	return status != "pending" && status != "running"
}

// now returns the status, and when it was reached.
func (r *run) now() (string, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status, r.at
}

func (r *run) set(status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.at = status, time.Now()
}

// shown is a run as clients know it.
func (r *run) shown() map[string]any {
	status, at := r.now()
	return map[string]any{
		"run_id": r.id, "thread_id": r.thread, "assistant_id": assistantID(r.graph), "metadata": merged(r.metadata), "status": status,
		"kwargs": struct{}{}, "multitask_strategy": r.strategy, "created_at": stamp(r.began), "updated_at": stamp(at),
	}
}

// add appends an event. When there are too many live ones, those so far are forgotten.
func (r *run) add(e event) {
	if r.last.n++; e.Seq > r.last.seq {
		r.last = position{seq: e.Seq}
	}
	e.at = r.last
	r.bytes += e.size()
	if e.Live {
		r.live++
	}
	if r.live > maxLive {
		r.live = 1
		r.said.Drop(func(e event) bool { return e.Live })
	}
	r.said.Add(e)
}

// work runs the request and keeps its events, after the runs before it.
func (r *run) work(ctx context.Context, before []*run, req untyped.Request, b *brakes) {
	err := r.follow(ctx, before, req, b)
	status := statusOf(err)
	if status == "error" {
		r.add(event{run: r, err: err})
	}
	r.set(status) // before readers see that there are no more events
	r.said.Close(nil)
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
		r.add(event{Event: e, run: r})
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
		return r.said.Read(ctx, 0)
	}
	return r.logged.read(ctx, r)
}

// pollEvery is how often the log is read of a run that another process works on.
const pollEvery = 250 * time.Millisecond

// loggedCall is one call of a run of the engine in the log.
type loggedCall struct {
	engine string
	after  int64 // number of the event before its first one
	whole  bool  // with all later calls of the run
}

// callID is the id of the call that continues the run of the newest commit of a thread.
func callID(head graph.Commit) string {
	if head.ID == 0 {
		return newID() // there is nothing to continue
	}
	return head.Run + "." + strconv.FormatInt(endOf(head.ID), 10)
}

// callOf is the inverse of callID.
func callOf(id string) *loggedCall {
	i := strings.LastIndexByte(id, '.')
	if seq, err := strconv.ParseInt(id[i+1:], 10, 64); err == nil && i > 0 {
		return &loggedCall{engine: id[:i], after: seq}
	}
	return &loggedCall{engine: id}
}

// read yields the events of the call. Of a run under way elsewhere it waits for more.
func (c *loggedCall) read(ctx context.Context, r *run) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		last, begun, ended, changed := c.after, false, false, time.Now()
		for time.Since(changed) <= stalled {
			for e, err := range r.runner.Events(ctx, r.thread, c.engine, last, graph.Values|graph.Updates|graph.Tasks) {
				if err == nil && e.Kind == graph.RunStarted && begun && !c.whole {
					return // the next call
				}
				begun, last, ended, changed = true, e.Seq, e.Kind == graph.RunEnded, time.Now()
				if !yield(event{Event: e, at: position{seq: e.Seq}, run: r}, err) || err != nil || ended && !c.whole {
					return
				}
			}
			if ended {
				return
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
				return fromLog(ctx, t, info, id, c), err
			}
		}
		return nil, err
	}
	return nil, door.Errorf(http.StatusNotFound, "there is no run %q", id)
}

// allInLog returns the runs in the log that end behind the event of a number, the oldest first; only the last one for 0.
func allInLog(ctx context.Context, t *found, since int64) (out []*run, err error) {
	query := graph.RunQuery{Thread: t.Thread}
	if since == 0 {
		query.Limit = 1
	}
	infos, err := t.Runs(ctx, query)
	for _, info := range slices.Backward(infos) {
		if int64(info.Last+1)*4 > seqOf(since) { // events of a commit are numbered from 4 times its id on
			out = append(out, fromLog(ctx, t, info, info.Run, &loggedCall{engine: info.Run, whole: true}))
		}
	}
	return out, err
}

// fromLog is a call of a run that is known from the log alone.
func fromLog(ctx context.Context, t *found, info graph.RunInfo, id string, c *loggedCall) *run {
	r := &run{
		id: id, thread: t.Thread, graph: t.graph, runner: t.Runner, owner: t.Owner, began: info.Began, strategy: "enqueue",
		modes: names{"values"}, resumable: true, metadata: unpacked(info.Metadata), at: info.Ended, ended: make(chan struct{}),
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
