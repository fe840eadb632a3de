package graph

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/internal/lifecycle"
)

// end decides how the run ended, saves it and yields RunEnded.
func (x *run[S, U]) end(ctx context.Context, cause error) error {
	move := endMove(ctx, cause)
	if move != lifecycle.Complete {
		if err := x.move(move); err != nil {
			return errors.Join(cause, err)
		}
	}
	failed := x.deltas(func(o *outcome[U]) bool { return o.err != nil })
	if x.log != nil && move != lifecycle.Complete && move != lifecycle.Supersede {
		if err := x.saveEnd(ctx, failed, cause); err != nil {
			cause = errors.Join(cause, fmt.Errorf("save the end of run %q: %w", x.id, err))
		}
	}
	if x.log != nil && move != lifecycle.Supersede {
		x.states.put(x.req.Thread, cachedState[S]{x.log.head, x.state, x.log.sizes})
	}
	x.log.close(ctx) // before RunEnded, so that consumers of that event find the thread free
	waits, _ := errors.AsType[*InterruptError](cause)
	x.yieldDurable(RunEnded, failed, waits)
	return cause
}

// endMove returns the move that ends a run with an error, or without one.
func endMove(ctx context.Context, cause error) string {
	_, limited := errors.AsType[*StepLimitError](cause)
	_, waits := errors.AsType[*InterruptError](cause)
	switch {
	case cause == nil:
		return lifecycle.Complete
	case errors.Is(cause, ErrSuperseded), errors.Is(cause, ErrConflict), superseded(ctx):
		return lifecycle.Supersede
	case limited:
		return lifecycle.Limit
	case waits, errors.Is(cause, ErrDrained), errors.Is(cause, ErrPaused):
		return lifecycle.Interrupt
	case errors.Is(cause, errLeft), errors.Is(cause, errStopped):
		return lifecycle.Cancel
	}
	return lifecycle.Fail
}

// yieldDurable yields a durable event.
func (x *run[S, U]) yieldDurable(kind EventKind, tasks []Delta, waits *InterruptError) {
	if x.yield == nil || x.left {
		return
	}
	x.number(kind)
	e := Event[S]{
		Kind: kind, Seq: x.seq, Thread: x.req.Thread, Run: x.id, Step: x.step, Status: x.status,
		Next: x.plan.names(x.ready), Interrupt: waits, Tasks: x.modes.shown(tasks),
	}
	if x.modes&Values != 0 {
		e.State = x.state
	}
	if x.log != nil {
		e.Commit, e.Time = x.log.head.ID, x.log.head.Time
	}
	x.left = !x.yield(e, nil)
}

// number sets the position of the next durable event. An event that the log does not show keeps that of the last one.
func (x *run[S, U]) number(kind EventKind) {
	if x.log == nil {
		x.seq++
		return
	}
	head := x.log.head
	switch {
	case kind == RunStarted && head.Source == SourceLoop: // continues after its process died
		kind = StepDone
	case kind == StepDone && (head.Source != SourceLoop || head.Step != x.step), // see SaveAtEnd
		kind == RunEnded && (head.Status != x.status || head.Source == SourceLoop && len(head.Frontier) > 0):
		return
	}
	x.seq = max(x.seq, seqOf(kind, head.ID))
}

// yieldLive yields a live event.
func (x *run[S, U]) yieldLive(p liveEvent) {
	if x.yield == nil || x.left || x.modes&p.mode() == 0 {
		return
	}
	x.left = !x.yield(Event[S]{
		Kind: p.kind, Seq: x.seq, Live: true, Thread: x.req.Thread, Run: x.id, Step: x.step + 1,
		Path: p.path, Node: p.node, Tasks: p.tasks, Value: p.value,
	}, nil)
}

// errStopped marks the error of a run whose context ended.
var errStopped = errors.New("run stopped")

// stopped returns the error and the cause of an ended context as one error.
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
