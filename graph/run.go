package graph

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/internal/active"
	"example.com/ragflow/internal/address"
	"example.com/ragflow/internal/lifecycle"
)

// run is an active run. The goroutine that ranges over its events owns every field. Tasks only
// read state, and write only to their own outcome.
type run[S, U any] struct {
	*Runner[S, U]
	req   Request[U]
	live  bool                       // yield live events too
	yield func(Event[S], error) bool // nil without a consumer
	modes Mode                       // events that the consumer wants
	left  bool                       // the consumer broke the loop; yield must not be called again

	seq      int64 // of the last durable event
	session  *session
	path     string          // path of the subgraph; empty at the root
	emit     func(liveEvent) // in a subgraph: sends its live events to the root
	passed   []string        // nodes of BreakBefore in the next step at which the run has stopped before
	id       string
	log      *threadLog // nil without a store
	migrated bool       // the state contains updates of another version of the graph, and no snapshot yet
	tookOver bool       // the thread was taken over from an active run
	status   Status
	state    S
	step     int     // the last finished step
	budget   int     // supersteps that this call may still run
	held     []Delta // of finished steps that are not saved yet; see SaveAtEnd
	frontier []int   // the reached nodes, by rank
	ready    []int   // nodes of the frontier that run in the next step; the others wait
	spare    []int   // memory of the last frontier, for reuse

	outcomes []outcome[U] // outcomes of the current step, by rank

	me      *active.Run     // nil without a store
	early   *speculating[U] // nil without one
	reached <-chan struct{} // for an early task: closed when its superstep begins
}

// do runs the request from start to end.
func (x *run[S, U]) do(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.status = Pending
	x.session = &session{o: &x.o, modes: x.modes, pause: x.req.Pause, thread: x.req.Thread}
	if x.fault != nil {
		return x.fault
	}
	if x.o.Store != nil {
		leave, err := x.open(ctx, cancel)
		if err != nil {
			return err
		}
		defer leave()
		x.session.save = x.log.pend
	}
	if err := x.begin(ctx); err != nil {
		if superseded(ctx) { // report the cause of the cancellation
			err = context.Cause(ctx)
		}
		return fmt.Errorf("thread %q: %w", x.req.Thread, err)
	}
	return x.end(ctx, x.spanned(ctx, SpanRun, x.loop))
}

// loop runs supersteps until the run ends or must stop.
func (x *run[S, U]) loop(ctx context.Context) error {
	x.budget = x.o.MaxSteps
	defer x.endEarly()
	for len(x.frontier) > 0 {
		fresh := x.fresh()
		switch {
		case x.left:
			return errLeft
		case ctx.Err() != nil:
			return stopped(ctx)
		case x.budget == 0 && fresh:
			return &StepLimitError{Limit: x.o.MaxSteps, Next: x.plan.names(x.ready)}
		}
		if err := x.session.stopping(); err != nil {
			return err
		}
		names := x.breaks(x.o.BreakBefore, x.ready)
		if slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(x.passed, n) }) {
			if err := x.stopAt(ctx, &InterruptError{Before: names}); err != nil {
				return err
			}
		}
		x.passed = nil
		after := x.breaks(x.o.BreakAfter, x.ready)
		if fresh { // a step that is restored from the ledger does not count
			x.budget--
			if after == nil {
				if err := x.speculate(ctx); err != nil {
					return err
				}
			}
		}
		if err := x.spanned(ctx, SpanStep, x.superstep); err != nil {
			return err
		}
		if after != nil && len(x.frontier) > 0 {
			if err := x.stopAt(ctx, &InterruptError{After: after}); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh reports whether a task of the next step has no result yet.
func (x *run[S, U]) fresh() bool {
	return slices.ContainsFunc(x.outcomes, func(o outcome[U]) bool { return !o.done })
}

// spanned runs do in a span.
func (x *run[S, U]) spanned(ctx context.Context, kind SpanKind, do func(context.Context) error) error {
	ctx, ended := x.span(ctx, kind, "", 0)
	err := do(ctx)
	ended(err)
	return err
}

// superstep runs the tasks of one step, applies their updates and saves the step.
func (x *run[S, U]) superstep(ctx context.Context) error {
	if err := x.execute(ctx); err != nil {
		return err
	}
	if superseded(ctx) {
		return stopped(ctx)
	}
	state, next, err := x.apply()
	if err != nil {
		return err
	}
	x.followed(next)
	if len(next) == 0 && x.path == "" {
		if err := x.move(lifecycle.Complete); err != nil {
			return err
		}
	}
	var deltas []Delta
	if x.log != nil || x.yield != nil {
		deltas = x.deltas(func(o *outcome[U]) bool { return o.done })
		if x.path == "" && !x.session.empty() {
			deltas = append(deltas, x.inner()...)
			slices.SortStableFunc(deltas, func(a, b Delta) int { return a.Rank - b.Rank }) // as the log has them
		}
	}
	oldState, oldFrontier := x.state, x.frontier
	x.state, x.frontier, x.step = state, next, x.step+1
	if err := x.save(ctx, SourceLoop, deltas); err != nil {
		x.state, x.frontier, x.step = oldState, oldFrontier, x.step-1
		x.status = Running // an unsaved step did not happen
		return fmt.Errorf("save step %d: %w", x.step+1, err)
	}
	x.spare = oldFrontier[:0]
	if x.path == "" {
		x.session.beginStep(x.id, x.step+1, x.log)
	}
	if err := x.prepare(); err != nil {
		return err
	}
	x.yieldDurable(StepDone, deltas, nil)
	return nil
}

// breaks returns the nodes that are in the names of breakpoints.
func (x *run[S, U]) breaks(names []string, nodes []int) []string {
	if len(names) == 0 {
		return nil
	}
	within := address.Nodes(x.path)
	var out []string
	for _, n := range x.plan.names(nodes) {
		if slices.Contains(names, within+n) || x.path == "" && slices.Contains(names, Every) {
			out = append(out, within+n)
		}
	}
	return out
}

// stopAt returns the error for a breakpoint. In a subgraph the ledger has the breakpoints at which the run stopped, for
// which it returns nil.
func (x *run[S, U]) stopAt(ctx context.Context, stop *InterruptError) error {
	if x.path == "" {
		return stop
	}
	p := place{x.path, breakNode + stop.Error(), x.step}
	if _, passed := x.session.get(p); passed {
		return nil
	}
	if err := x.session.put(ctx, p, Delta{Path: p.path, Node: p.node}); err != nil {
		return fmt.Errorf("save breakpoint: %w", err)
	}
	return stop
}

// inner returns the deltas of the subgraphs of the step.
func (x *run[S, U]) inner() []Delta {
	var out []Delta
	for i := range x.outcomes {
		out = append(out, x.session.inner(x.plan.nodes[x.outcomes[i].node].name)...)
	}
	return out
}

// apply applies the updates of the step by rank and returns the new state and frontier. It
// does not change the run, except that an error marks the outcome that caused it.
func (x *run[S, U]) apply() (S, []int, error) {
	s := x.state
	var err error
	for i := range x.outcomes {
		o := &x.outcomes[i]
		if s, err = x.applied(s, o.update); err != nil {
			return s, nil, x.blame(o, err)
		}
	}
	if err := x.conflicts(); err != nil {
		return s, nil, err
	}
	next := x.spare
	for i := range x.outcomes {
		o := &x.outcomes[i]
		if next, err = x.plan.nodes[o.node].successors(next, s, &o.notes); err != nil {
			return s, nil, x.blame(o, err)
		}
	}
	if len(x.ready) < len(x.frontier) {
		next = append(next, without(x.frontier, x.ready)...)
	}
	return s, reachedNodes(next), nil
}

// conflicts asks the graph about each pair of updates of the step.
func (x *run[S, U]) conflicts() error {
	for i := range x.outcomes {
		if x.plan.conflict == nil {
			break
		}
		for j := range i {
			err := protected(func() error { return x.plan.conflict(x.outcomes[j].update, x.outcomes[i].update) })
			if err != nil {
				return x.blame(&x.outcomes[i], fmt.Errorf("conflict with node %q: %w", x.plan.nodes[x.outcomes[j].node].name, err))
			}
		}
	}
	return nil
}

// blame turns a finished outcome into a failed one.
func (x *run[S, U]) blame(o *outcome[U], err error) error {
	name := x.plan.nodes[o.node].name
	x.session.drop(x.place(o), address.Of(x.path, name, x.turn()))
	o.done, o.err = false, &NodeError{Node: name, Step: x.step + 1, Err: err}
	return o.err
}

// move changes the status of the run; an illegal move is a [*MoveError] and changes nothing.
func (x *run[S, U]) move(move string) (err error) {
	x.status, err = x.status.after(move)
	return err
}
