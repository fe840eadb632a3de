package ragflow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/feed"
	"example.com/ragflow/state"
)

// Runs are the runs of an [Assistant]. A run does not end when its readers leave: any number
// of them may come, each at its own position, also after its end and from another process. It
// is safe for concurrent use.
type Runs struct {
	a       *Assistant
	drain   chan struct{} // closed by Drain
	drained sync.Once
	group   sync.WaitGroup

	mu     sync.Mutex
	active map[*run]bool // true once its question is saved
	closed bool
}

func newRuns(a *Assistant) *Runs {
	return &Runs{a: a, drain: make(chan struct{}), active: map[*run]bool{}}
}

// run is one run under way, with its events so far.
type run struct {
	id     string  // of its buffer, in positions
	info   RunInfo // known once the run has begun
	cancel context.CancelCauseFunc
	begun  chan struct{} // closed when the question is saved, or the run ended before
	ended  chan struct{} // closed after the last event
	base   int64         // number of the last saved event before those of events
	events feed.Feed[Event]
	err    error // that the run ended with; known when ended is closed
}

// RunInfo describes a run under way.
type RunInfo struct {
	Run    string    `json:"run_id"`
	Thread string    `json:"thread_id"`
	Owner  string    `json:"owner,omitempty"`
	Began  time.Time `json:"began"`
}

// Start begins to answer a question and returns when the question is saved, which may wait for
// another run of the thread. The run continues after ctx ends.
func (r *Runs) Start(ctx context.Context, q Question) (RunInfo, error) {
	x, err := r.start(ctx, context.WithoutCancel(ctx), q)
	if err != nil {
		return RunInfo{}, err
	}
	return x.info, nil
}

// start begins a run, which ends with life. ctx is for the time until it has begun.
func (r *Runs) start(ctx, life context.Context, q Question) (*run, error) {
	defer r.a.quiet.ask()()
	request, err := r.a.prepare(ctx, q)
	if err != nil {
		r.a.recordRefused(ctx, q, err)
		return nil, err
	}
	life, x, err := r.enter(life, request)
	if err != nil {
		return nil, err
	}
	go func() { _ = r.do(life, x, request, nil) }() // x has the error
	select {
	case <-x.begun:
	case <-ctx.Done():
		x.cancel(context.Cause(ctx))
		<-x.begun
	}
	if x.info.Run == "" { // the question was not saved
		<-x.ended
		return nil, x.err
	}
	return x, nil
}

// enter makes the run of a question, with its context.
func (r *Runs) enter(ctx context.Context, q *request) (context.Context, *run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &run{
		id: r.a.config.NewID(), info: RunInfo{Thread: q.graph.Thread, Began: r.a.config.Clock().UTC()},
		cancel: cancel, begun: make(chan struct{}), ended: make(chan struct{}),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		cancel(nil)
		return nil, nil, ErrDrained
	}
	r.active[x] = false
	r.group.Add(1)
	return ctx, x, nil
}

// do runs a question to its end. tap, which may be nil, gets the events of the engine.
func (r *Runs) do(ctx context.Context, x *run, q *request, tap func(graph.Event[state.State])) error {
	defer r.a.quiet.ask()()
	defer r.leave(x)
	defer x.cancel(nil)
	err := r.a.tell(ctx, q, x.id, func(id string, base int64) { r.begin(ctx, x, id, base, q.continues) }, x.events.Add, tap)
	x.err = err
	x.events.Close(err)
	r.a.record(ctx, x, q, err)
	return err
}

// begin makes a run known, whose question is saved. continues says that the thread may have
// been begun by its owner before.
func (r *Runs) begin(ctx context.Context, x *run, id string, base int64, continues bool) {
	if x.info.Owner = graph.OwnerOf(ctx); x.info.Owner == "" && continues {
		if info, err := r.a.store.Info(ctx, x.info.Thread); err == nil {
			x.info.Owner = info.Owner
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x.info.Run, x.base, r.active[x] = id, base, true
	close(x.begun)
}

func (r *Runs) leave(x *run) {
	r.mu.Lock()
	begun := r.active[x]
	delete(r.active, x)
	r.mu.Unlock()
	close(x.ended)
	if !begun {
		close(x.begun)
	}
	r.group.Done()
}

// tell runs a question. It calls begun with the run and the number of its last saved event
// when the question is saved, hands the events to each, and those of the engine to tap, which may be nil.
func (a *Assistant) tell(
	ctx context.Context, r *request, buffer string, begun func(run string, base int64), each func(Event), tap func(graph.Event[state.State]),
) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &graph.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	n := newNarrator(buffer, each)
	var durable []graph.Event[state.State]
	for e, err := range r.runner.Stream(context.WithValue(ctx, turnKey{}, r.turn), r.graph) {
		if err != nil {
			return err
		}
		if !e.Live {
			durable = append(durable, e)
		}
		if e.Kind == graph.RunStarted {
			begun(e.Run, e.Seq)
		}
		n.take(e)
		if tap != nil {
			tap(e)
		}
	}
	reply, err := a.replyOf(ctx, r, durable)
	if err == nil {
		n.done(reply)
		a.keep(ctx, r, durable, reply)
	}
	return err
}

// Events yields the events of a run after a position, none of them twice: of a run under
// way in this process as they come, of any other from the log. The run continues when the loop
// breaks. A run that another process works on is followed as it saves its steps. Errors are
// those of the run, or ErrNotFound.
func (r *Runs) Events(ctx context.Context, run string, after Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		from, err := parsePosition(after)
		if err != nil {
			yield(Event{}, err)
			return
		}
		if from.ended {
			return
		}
		if x := r.find(ctx, run, ""); x != nil {
			r.a.join(ctx, x, from)(yield)
			return
		}
		r.a.logged(ctx, run, from)(yield)
	}
}

// join yields the events of a run under way after a position. A position of another buffer,
// such as that of the process which began the run, continues with what the log has: then follow
// the events of this buffer. Text that was shown and is not in the log is withdrawn.
func (a *Assistant) join(ctx context.Context, x *run, from position) iter.Seq2[Event, error] {
	if from.buffer == x.id || from == (position{}) && x.base <= 1 {
		return x.events.Read(ctx, from.seq)
	}
	return func(yield func(Event, error) bool) {
		before, at, err := a.readEvents(ctx, x.info.Run, from, x.base)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for _, e := range before {
			if !yield(e, nil) {
				return
			}
		}
		at.shown, at.hash, at.step, at.began, at.done = 0, 0, x.base, 0, 0
		if from.shown > 0 && !yield(Event{Kind: Withdrawn, Position: Position(at.String()), Thread: x.info.Thread, Run: x.info.Run}, nil) {
			return
		}
		x.events.Read(ctx, 0)(yield)
	}
}

// find returns the run under way of an id or, if that is empty, of a thread. It is nil if
// there is none that the owner in ctx may see.
func (r *Runs) find(ctx context.Context, run, thread string) *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	for x, begun := range r.active {
		if begun && (x.info.Run == run || run == "" && x.info.Thread == thread) && x.info.visible(ctx) {
			return x
		}
	}
	return nil
}

// visible reports whether the owner in a context may see the run.
func (i RunInfo) visible(ctx context.Context) bool {
	owner := graph.OwnerOf(ctx)
	return owner == "" || owner == i.Owner
}

// List returns the runs of the owner in ctx that are under way in this process, the oldest
// first.
func (r *Runs) List(ctx context.Context) []RunInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []RunInfo
	for x, begun := range r.active {
		if begun && x.info.visible(ctx) {
			out = append(out, x.info)
		}
	}
	slices.SortFunc(out, func(a, b RunInfo) int {
		if c := a.Began.Compare(b.Began); c != 0 {
			return c
		}
		return strings.Compare(a.Run, b.Run)
	})
	return out
}

// Cancel ends a run, named by its id or its thread, and waits for its end. Its saved steps
// stay, and the run can be resumed. A run of another process ends there when that process
// next renews its hold of the thread. The error matches ErrNotFound, or is a *graph.MoveError
// if the run has ended.
func (r *Runs) Cancel(ctx context.Context, name string) error {
	if x := cmp.Or(r.find(ctx, name, ""), r.find(ctx, "", name)); x != nil {
		x.cancel(graph.ErrCancelled)
		select {
		case <-x.ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	thread, _, err := r.a.store.FindRun(ctx, name)
	if errors.Is(err, graph.ErrNotFound) {
		return r.a.runner.Cancel(ctx, name, "")
	}
	if err != nil {
		return err
	}
	return r.a.runner.Cancel(ctx, thread, name)
}

// Drain lets runs finish the step they are at, save it and end with ErrDrained. It does not
// wait. Later questions end so, too.
func (r *Runs) Drain() { r.drained.Do(func() { close(r.drain) }) }

// close cancels all runs, or drains them at once after Drain, and waits for them.
func (r *Runs) close() {
	cause := graph.ErrCancelled
	select {
	case <-r.drain:
		cause = graph.ErrDrained
	default:
	}
	r.mu.Lock()
	r.closed = true
	for x := range r.active {
		x.cancel(cause)
	}
	r.mu.Unlock()
	r.group.Wait()
}
