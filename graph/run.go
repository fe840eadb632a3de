package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// run is one run under way. The goroutine that ranges over its events owns
// every field; tasks read state, and write only to their own outcome.
type run[S, U any] struct {
	*Runner[S, U]
	req   Request[U]
	live  bool                       // tell live events too
	yield func(Event[S], error) bool // nil when nobody wants events
	left  bool                       // the consumer broke the loop; yield must not be called again

	session  *session
	path     string      // of a subgraph; empty at the root
	emit     func(pulse) // of a subgraph: where its live events go
	passed   bool        // the breakpoint before the next step is behind
	id       string
	log      *threadLog // nil without a store
	life     *Lifecycle
	state    S
	step     int   // the last finished one
	frontier []int // the nodes that were reached, by rank
	ready    []int // those of them that run in the next step; the others wait
	spare    []int // memory of the last frontier

	outcomes []outcome[U] // of the step under way, by rank
	stale    bool         // saved results of the step must not be used on resume
}

// do runs the request from start to end.
func (x *run[S, U]) do(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.life = NewLifecycle(Pending)
	x.session = &session{o: &x.o, pause: x.req.Pause}
	if x.fault != nil {
		return x.fault
	}
	if x.o.Store != nil {
		log, err := openLog(ctx, x.o, x.req.Thread, x.req.Wait, cancel)
		if err != nil {
			return err
		}
		defer log.close(ctx)
		x.log = log
		x.session.save = log.pend
	}
	if err := x.begin(ctx); err != nil {
		return fmt.Errorf("thread %q: %w", x.req.Thread, err)
	}
	return x.end(ctx, x.loop(ctx))
}

// begin brings the run to where its next superstep can start.
func (x *run[S, U]) begin(ctx context.Context) error {
	var head Commit
	if x.log != nil {
		var err error
		if head, err = x.log.readHead(ctx); err != nil {
			return err
		}
		if len(x.req.Answers) > 0 && !x.req.Resume {
			return errors.New("answers go with Resume")
		}
		if x.req.Resume {
			if err := x.resumable(head); err != nil {
				return err
			}
		}
		if x.state, x.log.sizes, err = x.at(ctx, head.ID); err != nil {
			return err
		}
	}
	switch {
	case x.req.Resume && x.log == nil:
		return ErrNothingToDo
	case x.req.Resume:
		return x.resume(ctx, head)
	}
	return x.admit(ctx, head)
}

// at is the state at the head: remembered, or read. In the mode that checks
// codecs it is always read.
func (x *run[S, U]) at(ctx context.Context, head CommitID) (s S, z sizes, err error) {
	if head == 0 {
		return s, z, nil
	}
	if s, z, ok := x.warm.get(x.req.Thread, head); ok && !x.o.CheckCodec {
		return s, z, nil
	}
	return x.load(ctx, x.req.Thread, head)
}

// resumable says whether this graph can go on from the head. It is asked
// before state is read: another graph may not understand it.
func (x *run[S, U]) resumable(head Commit) error {
	if len(head.Frontier) == 0 {
		return ErrNothingToDo
	}
	if head.Fingerprint != x.plan.fingerprint {
		return fmt.Errorf("run %q: %w", head.Run, ErrGraphChanged)
	}
	return nil
}

// admit begins a new run, after closing one that was left unfinished.
func (x *run[S, U]) admit(ctx context.Context, head Commit) error {
	input := outcome[U]{update: x.req.Input}
	if err := x.encode(&input); err != nil {
		return fmt.Errorf("encode input: %w", err)
	}
	state, err := callApply(x.plan.apply, x.state, input.update)
	if err != nil {
		return fmt.Errorf("apply input: %w", err)
	}
	if x.state, err = x.checked(state); err != nil {
		return err
	}
	if x.id = x.req.Run; x.id == "" {
		x.id = x.o.NewID()
	}
	if err := x.life.Move(ctx, MoveStart); err != nil {
		return err
	}
	x.frontier = slices.Clone(x.plan.first)
	x.session.at(x.id, x.step+1)
	if err := x.prepare(); err != nil {
		return err
	}
	if x.log != nil {
		if err := x.supersede(ctx, head); err != nil {
			return err
		}
		body := Delta{Body: input.body, Notes: Notes{Start: x.now()}}
		if err := x.save(ctx, SourceInput, []Delta{body}); err != nil {
			return fmt.Errorf("save input: %w", err)
		}
	}
	x.tell(RunStarted, nil)
	return nil
}

// supersede closes the unfinished run at the head, if there is one.
func (x *run[S, U]) supersede(ctx context.Context, head Commit) error {
	if len(head.Frontier) == 0 {
		return nil
	}
	old := NewLifecycle(head.Status)
	if err := old.Move(ctx, MoveSupersede); err != nil {
		return err
	}
	b := Batch{Commit: Commit{
		Run: head.Run, Step: head.Step, Source: SourceClose, Status: old.Status(), Time: x.now(),
		Fingerprint: head.Fingerprint, Error: "superseded by run " + x.id,
	}}
	if err := x.log.commit(ctx, b); err != nil {
		return fmt.Errorf("close run %q: %w", head.Run, err)
	}
	return nil
}

// resume goes on with the unfinished run at the head.
func (x *run[S, U]) resume(ctx context.Context, head Commit) error {
	x.life = NewLifecycle(head.Status)
	if err := x.life.Move(ctx, MoveResume); err != nil {
		return err
	}
	var err error
	if x.frontier, err = x.plan.frontier(head.Frontier); err != nil {
		return fmt.Errorf("run %q: %w", head.Run, err)
	}
	x.id, x.step = head.Run, head.Step
	x.passed = head.Status == Interrupted || head.Status == Failed
	x.session.at(x.id, x.step+1)
	if err := x.recall(ctx, head); err != nil {
		return err
	}
	if err := x.session.answer(ctx, x.req.Answers); err != nil {
		return err
	}
	if err := x.prepare(); err != nil {
		return err
	}
	if !slices.ContainsFunc(x.outcomes, func(o outcome[U]) bool { return !o.waits }) {
		return x.interrupted() // nothing could run
	}
	x.tell(RunStarted, nil)
	return nil
}

// recall takes over what the step has so far: finished tasks, and questions.
func (x *run[S, U]) recall(ctx context.Context, head Commit) error {
	pending, err := x.log.pending(ctx)
	if err != nil {
		return err
	}
	x.session.recall(pending)
	if head.Source != SourceClose {
		return nil
	}
	for c, err := range x.o.Store.Walk(ctx, x.req.Thread, head.ID) {
		if err != nil {
			return fmt.Errorf("read open questions: %w", err)
		}
		for _, d := range c.Deltas {
			x.session.open = append(x.session.open, d.Notes.Questions...)
		}
		break
	}
	return nil
}

// loop runs supersteps until nothing is left to run or something is in the way.
func (x *run[S, U]) loop(ctx context.Context) error {
	for budget := x.o.MaxSteps; len(x.frontier) > 0; budget-- {
		switch {
		case x.left:
			return errLeft
		case ctx.Err() != nil:
			return stopped(ctx)
		case budget == 0:
			return &StepLimitError{Limit: x.o.MaxSteps, Next: x.plan.names(x.ready)}
		}
		if err := x.session.stopping(); err != nil {
			return err
		}
		if names := x.breaks(x.o.BreakBefore); names != nil && !x.passed {
			return &InterruptError{Before: names}
		}
		x.passed = false
		after := x.breaks(x.o.BreakAfter)
		if err := x.superstep(ctx); err != nil {
			return err
		}
		if after != nil && len(x.frontier) > 0 {
			return &InterruptError{After: after}
		}
	}
	return nil
}

// superstep runs the tasks of one step, applies what they return, and saves.
func (x *run[S, U]) superstep(ctx context.Context) error {
	if err := x.execute(ctx); err != nil {
		return err
	}
	if superseded(ctx) {
		return stopped(ctx)
	}
	state, next, err := x.apply()
	if err != nil {
		x.stale = true
		return err
	}
	if len(next) == 0 {
		if err := x.life.Move(ctx, MoveComplete); err != nil {
			return err
		}
	}
	var deltas []Delta
	if x.log != nil || x.yield != nil {
		deltas = x.deltas(func(o *outcome[U]) bool { return o.done })
	}
	held, at := x.state, x.frontier
	x.state, x.frontier, x.step = state, next, x.step+1
	if err := x.save(ctx, SourceLoop, deltas); err != nil {
		x.state, x.frontier, x.step = held, at, x.step-1
		x.life = NewLifecycle(Running) // what could not be saved did not happen
		return fmt.Errorf("save step %d: %w", x.step+1, err)
	}
	x.spare = at[:0]
	if x.path == "" {
		x.session.at(x.id, x.step+1)
	}
	if err := x.prepare(); err != nil {
		return err
	}
	x.tell(StepDone, deltas)
	return nil
}

// breaks lists those of the nodes that run next which are among names.
func (x *run[S, U]) breaks(names []string) []string {
	if len(names) == 0 || x.path != "" {
		return nil
	}
	var out []string
	for _, n := range x.plan.names(x.ready) {
		if slices.Contains(names, n) {
			out = append(out, n)
		}
	}
	return out
}

// apply folds the step's updates by rank and finds what runs next. It leaves
// the run as it was; an error marks the outcome that caused it.
func (x *run[S, U]) apply() (S, []int, error) {
	s := x.state
	var err error
	for i := range x.outcomes {
		o := &x.outcomes[i]
		if s, err = callApply(x.plan.apply, s, o.update); err != nil {
			return s, nil, x.blame(o, fmt.Errorf("apply update: %w", err))
		}
	}
	if s, err = x.checked(s); err != nil {
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
	slices.Sort(next)
	next = slices.Compact(next)
	if len(next) > 0 && next[0] == endIndex {
		next = next[1:]
	}
	return s, next, nil
}

// blame turns a finished outcome into a failed one.
func (x *run[S, U]) blame(o *outcome[U], err error) error {
	o.done, o.err = false, &NodeError{Node: x.plan.nodes[o.node].name, Step: x.step + 1, Err: err}
	return o.err
}

// end settles how the run ended, saves that and tells it.
func (x *run[S, U]) end(ctx context.Context, cause error) error {
	move := verdict(ctx, cause)
	if move != MoveComplete {
		if err := x.life.Move(ctx, move); err != nil {
			return errors.Join(cause, err)
		}
	}
	failed := x.deltas(func(o *outcome[U]) bool { return o.err != nil })
	if x.log != nil && move != MoveComplete && move != MoveSupersede {
		if err := x.saveEnd(ctx, failed, cause); err != nil {
			cause = errors.Join(cause, fmt.Errorf("save the end of run %q: %w", x.id, err))
		}
	}
	if x.log != nil && move != MoveSupersede {
		x.warm.put(x.req.Thread, x.log.head, x.state, x.log.sizes)
	}
	x.log.close(ctx) // first, so that who hears of the end finds the thread free
	x.tell(RunEnded, failed)
	return cause
}

func verdict(ctx context.Context, cause error) Move {
	_, limited := errors.AsType[*StepLimitError](cause)
	_, waits := errors.AsType[*InterruptError](cause)
	switch {
	case cause == nil:
		return MoveComplete
	case errors.Is(cause, ErrSuperseded), errors.Is(cause, ErrConflict), superseded(ctx):
		return MoveSupersede
	case limited:
		return MoveLimit
	case waits, errors.Is(cause, ErrDrained), errors.Is(cause, ErrPaused):
		return MoveInterrupt
	case errors.Is(cause, errLeft), errors.Is(cause, errStopped):
		return MoveCancel
	}
	return MoveFail
}

// tell yields a durable event.
func (x *run[S, U]) tell(kind EventKind, tasks []Delta) {
	if x.yield == nil || x.left {
		return
	}
	bare := slices.Clone(tasks)
	for i := range bare {
		bare[i].Body = nil
	}
	e := Event[S]{
		Kind: kind, Thread: x.req.Thread, Run: x.id, Step: x.step, Status: x.life.Status(),
		State: x.state, Next: x.plan.names(x.ready), Tasks: bare,
	}
	if x.log != nil {
		e.Commit = x.log.head
	}
	x.left = !x.yield(e, nil)
}

// tellLive yields a live event.
func (x *run[S, U]) tellLive(p pulse) {
	if x.yield == nil || x.left {
		return
	}
	x.left = !x.yield(Event[S]{
		Kind: p.kind, Live: true, Thread: x.req.Thread, Run: x.id, Step: x.step + 1,
		Path: p.path, Node: p.node, Tasks: p.tasks, Value: p.value,
	}, nil)
}

// errStopped marks the error of a run whose context ended.
var errStopped = errors.New("run stopped")

// stopped tells why a context ended, by its error and by its cause.
func stopped(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrSuperseded), errors.Is(cause, errLeft):
		return cause
	case errors.Is(cause, err):
		return fmt.Errorf("%w: %w", errStopped, cause)
	}
	return fmt.Errorf("%w: %w: %w", errStopped, err, cause)
}

func superseded(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrSuperseded) }
