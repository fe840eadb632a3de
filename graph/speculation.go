package graph

import (
	"context"
	"sync"
	"time"
)

// Speculation lets nodes run before their [Task] has decided that they follow. The first of Nodes is a
// possible successor of the task, and each other one a possible successor of the one before it. They
// run one after the other while the task runs.
//
// They read the state before the task, and the updates of each other. So the author declares that
// the task does not change what they read. If that holds, the result of the run is the same as without
// a speculation.
//
// Nothing of a speculation is saved or yielded before the run reaches its nodes: live events are held
// back in memory until then, and [Ask], [Once], [FanOut] and subgraphs wait. Any other effect of a node must be
// harmless when the node is cancelled. Policies of the nodes apply; a wait counts for their timeouts. When the run
// takes another route, stops at a breakpoint or fails, the nodes are cancelled and the engine waits
// for them; [Notes].Wasted of the task counts them. There is no speculation if other nodes run
// beside the task, nor for nodes of BreakBefore or beyond the step limit.
type Speculation[S any] struct {
	Nodes []string // none turns it off
	// If decides whether the speculation begins, from the state before the task. It must be pure. Nil means always.
	If func(S) bool
}

// Wasted is a node that was started early and cancelled; see [Speculation].
type Wasted struct {
	Node     string        `json:"node"`
	Duration time.Duration `json:"duration,omitempty"`
	Calls    []Call        `json:"calls,omitempty"`
}

// speculating is a speculation of a run. The loop of the run owns it.
type speculating[U any] struct {
	cancel context.CancelCauseFunc
	tasks  []*earlyTask[U] // those that the run has not reached and applied
	ended  sync.WaitGroup
}

// earlyTask is a task that runs before its superstep.
type earlyTask[U any] struct {
	outcome outcome[U]    // valid after ended is closed
	began   bool          // likewise
	reached chan struct{} // closed by the loop when the superstep of the task begins
	ended   chan struct{}
	adopted bool // the loop's

	mu   sync.Mutex
	held []liveEvent
	emit func(liveEvent) // where events go; nil: they are held
}

// speculate starts the speculation of the next superstep, if there is one. A panic of If is the failure of the task.
func (x *run[S, U]) speculate(ctx context.Context) error {
	if x.early != nil || len(x.frontier) != 1 || x.outcomes[0].waits {
		return nil
	}
	n := &x.plan.nodes[x.frontier[0]]
	if len(n.early) == 0 {
		return nil
	}
	if wanted, err := n.Speculate.wanted(x.state); err != nil {
		x.outcomes[0].err = &NodeError{Node: n.name, Step: x.step + 1, Err: err}
		return x.outcomes[0].err
	} else if !wanted {
		return nil
	}
	e := &speculating[U]{}
	for i, node := range n.early {
		if i >= x.budget || x.breaks(x.o.BreakBefore, []int{node}) != nil {
			break
		}
		e.tasks = append(e.tasks, &earlyTask[U]{outcome: outcome[U]{node: node}, reached: make(chan struct{}), ended: make(chan struct{})})
	}
	if len(e.tasks) == 0 {
		return nil
	}
	within, cancel := context.WithCancelCause(ctx)
	early := &run[S, U]{Runner: x.Runner, session: x.session, path: x.path, live: x.live, emit: x.emit, state: x.state, step: x.step, budget: x.budget}
	tasks := e.tasks // the loop shortens its slice
	e.ended.Go(func() { early.runEarly(within, tasks) })
	e.cancel, x.early = cancel, e
	return nil
}

func (s Speculation[S]) wanted(before S) (yes bool, err error) {
	defer caught(&err)
	return s.If == nil || s.If(before), nil
}

// runEarly runs early tasks one after the other, with x as the run that each of them sees.
func (x *run[S, U]) runEarly(ctx context.Context, tasks []*earlyTask[U]) {
	left := tasks
	defer func() { // also if a node ends its goroutine
		for _, t := range left {
			close(t.ended)
		}
	}()
	for _, t := range tasks {
		x.step, x.budget = x.step+1, x.budget-1
		var emit func(liveEvent)
		if x.live || x.emit != nil {
			emit = t.send
		}
		t.began, x.reached = true, t.reached
		x.task(ctx, &t.outcome, emit)
		if !t.outcome.done {
			return
		}
		next, err := x.applied(x.state, t.outcome.update)
		if err != nil {
			return // the run will find the same
		}
		x.state = next
		close(t.ended)
		left = left[1:]
	}
}

// send holds an event back, or sends it if the run has reached the task.
func (t *earlyTask[U]) send(e liveEvent) {
	t.mu.Lock()
	emit := t.emit
	if emit == nil {
		t.held = append(t.held, e)
	}
	t.mu.Unlock()
	if emit != nil {
		emit(e)
	}
}

// adopt waits for the early task of an outcome, if it has one, and takes its result and its events.
func (x *run[S, U]) adopt(ctx context.Context, o *outcome[U], emit func(liveEvent)) bool {
	e := x.early
	if e == nil || e.tasks[0].outcome.node != o.node {
		return false
	}
	t := e.tasks[0]
	close(t.reached)
	defer context.AfterFunc(ctx, func() { e.cancel(context.Cause(ctx)) })()
	if emit != nil {
		t.mu.Lock()
		for _, e := range t.held {
			emit(e)
		}
		t.held, t.emit = nil, emit
		t.mu.Unlock()
	}
	reached := x.o.Clock()
	<-t.ended
	if !t.began {
		return false
	}
	t.adopted = true
	*o = t.outcome
	o.notes.Early = max(0, min(reached.Sub(o.notes.Start), o.notes.Duration))
	return true
}

// followed ends the speculation if the run does not follow it; next are the nodes after the superstep.
func (x *run[S, U]) followed(next []int) {
	e := x.early
	if e == nil {
		return
	}
	if e.tasks[0].adopted {
		e.tasks = e.tasks[1:]
	}
	if len(e.tasks) == 0 || len(next) != 1 || next[0] != e.tasks[0].outcome.node {
		x.endEarly()
	}
}

// endEarly cancels the early tasks, waits for them and counts those that were cancelled.
func (x *run[S, U]) endEarly() {
	e := x.early
	if e == nil {
		return
	}
	x.early = nil
	e.cancel(nil)
	e.ended.Wait()
	o := &x.outcomes[0]
	for _, t := range e.tasks {
		if n := &t.outcome.notes; t.began && !t.adopted {
			w := Wasted{x.plan.nodes[t.outcome.node].name, n.Duration, n.Calls}
			o.notes.Wasted = append(o.notes.Wasted, w)
		}
	}
	if x.path != "" && o.done { // the ledger has it already
		x.session.enter(x.place(o), x.delta(o))
	}
}

// awaitReached waits until the run has reached the task, so that it may use the ledger.
func (b *taskContext) awaitReached(ctx context.Context) error {
	if b == nil || b.reached == nil {
		return nil
	}
	select {
	case <-b.reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
