package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"example.com/ragflow/internal/address"
	"example.com/ragflow/internal/codec"
)

// outcome is the result of one task of the current step.
type outcome[U any] struct {
	node   int
	done   bool  // succeeded: update, body and notes are set
	err    error // the failure; nil with !done: it did not run
	update U
	body   []byte // update as JSON, if there is a store; empty for no change
	notes  Notes
	waits  bool // waits for answers to the questions in notes; err is an InterruptError
}

// prepare applies the edits of a subgraph that follow its last step and creates the outcomes of the
// next step. Tasks in the ledger are done; tasks with open questions wait.
func (x *run[S, U]) prepare() error {
	x.ready = x.plan.waiting.Ready(x.ready, x.frontier)
	x.outcomes = slices.Grow(x.outcomes[:0], len(x.ready))[:len(x.ready)]
	for i, n := range x.ready {
		x.outcomes[i] = outcome[U]{node: n}
	}
	s := x.session
	if s.empty() {
		return nil
	}
	var err error
	if x.state, err = x.fold(x.state, x.path, x.edits()); err != nil {
		return err
	}
	for i := range x.outcomes {
		o := &x.outcomes[i]
		name := x.plan.nodes[o.node].name
		if d, ok := s.get(x.place(o)); ok {
			if o.update, err = decode[U](d.Body); err != nil {
				return fmt.Errorf("saved result of node %q: %w", name, err)
			}
			o.done, o.body, o.notes = true, d.Body, d.Notes
		} else if asked := s.unanswered(address.Of(x.path, name, x.turn())); asked != nil {
			o.notes.Questions, o.waits = asked, true
			o.err = &NodeError{Node: name, Step: x.step + 1, Err: &InterruptError{Questions: asked}}
		}
	}
	return nil
}

// place returns the place of a task's result in the ledger.
func (x *run[S, U]) place(o *outcome[U]) place {
	return place{x.path, x.plan.nodes[o.node].name, x.turn()}
}

// turn returns the current step for the address of a task: 0 at the root.
func (x *run[S, U]) turn() int {
	if x.path == "" {
		return 0
	}
	return x.step + 1
}

// keep saves a finished task of the current step, so that it does not run again.
func (x *run[S, U]) keep(ctx context.Context, o *outcome[U]) error {
	switch {
	case x.path != "":
		return x.session.put(ctx, x.place(o), x.delta(o))
	case x.log != nil:
		return x.pend(ctx, o)
	}
	return nil
}

// interrupted returns an error with the open questions of the step and the breakpoints in its subgraphs, or nil.
func (x *run[S, U]) interrupted() error {
	var all *InterruptError
	for i := range x.outcomes {
		o := &x.outcomes[i]
		if !o.waits {
			continue
		}
		if all == nil {
			all = &InterruptError{}
		}
		all.Questions = append(all.Questions, o.notes.Questions...)
		if stop, ok := errors.AsType[*InterruptError](o.err); ok {
			all.Before, all.After = append(all.Before, stop.Before...), append(all.After, stop.After...)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

// execute runs the tasks of the step that are not done yet. Its error is the first failure in
// time; errors of siblings that were cancelled because of it are ignored.
func (x *run[S, U]) execute(ctx context.Context) error {
	todo := 0
	last := 0
	for i := range x.outcomes {
		if o := &x.outcomes[i]; !o.done && !o.waits {
			todo, last = todo+1, i
		}
	}
	switch {
	case todo == 0:
		return x.interrupted()
	case todo > 1 || x.live:
		return x.runConcurrently(ctx, todo)
	}
	o := &x.outcomes[last]
	x.task(ctx, o, x.emit)
	x.finished(o, x.emit)
	switch {
	case o.err == nil || o.waits:
	case ctx.Err() != nil: // the end of the context caused the failure
		return stopped(ctx)
	default:
		return o.err
	}
	err := x.interrupted()
	if o.done && (err != nil || x.path != "") && !superseded(ctx) {
		if err := x.keep(ctx, o); err != nil {
			return err
		}
	}
	return err
}

// task runs one node on the state before the step.
func (x *run[S, U]) task(ctx context.Context, o *outcome[U], emit func(liveEvent)) {
	n := &x.plan.nodes[o.node]
	if emit != nil && x.reached == nil { // an early task is told when it is adopted
		emit(liveEvent{kind: TaskStarted, path: x.path, node: n.name})
	}
	if x.adopt(ctx, o, emit) {
		return
	}
	tc := &taskContext{Context: ctx, of: x.session, path: x.path, node: n.name, turn: x.turn(), step: int32(x.step + 1), left: int32(x.budget), emit: emit, reached: x.reached, retries: n.Retry.Attempts > 1}
	began := x.o.Clock()
	o.err = errExited // remains if the node ends its goroutine
	defer func() {
		if notes := tc.close(); notes != nil {
			o.notes = *notes
		}
		o.notes.Start, o.notes.Duration = began.UTC().Truncate(time.Microsecond), x.o.Clock().Sub(began)
		if o.done = o.err == nil; !o.done {
			stop, ok := errors.AsType[*InterruptError](o.err)
			if o.waits = ok && len(tc.questions)+len(stop.Before)+len(stop.After) > 0; o.waits {
				o.notes.Questions = tc.questions
			}
			o.err = &NodeError{Node: n.name, Step: x.step + 1, Err: o.err}
		}
	}()
	ctx, ended := x.span(tc, SpanTask, n.name, 0)
	defer func() { ended(o.err) }()
	o.update, o.err = x.guarded(ctx, n, tc) //nolint:contextcheck // ctx is the parent of the taskContext
	if o.err == nil {
		if o.err = x.encode(o); o.err != nil {
			o.err = fmt.Errorf("encode update: %w", o.err)
		}
	}
}

// finished sends the live event of a finished task, unless nobody wants it.
func (x *run[S, U]) finished(o *outcome[U], emit func(liveEvent)) {
	if emit == nil {
		return
	}
	d := x.delta(o)
	if x.session.modes&Updates == 0 {
		d.Body = nil
	}
	emit(liveEvent{kind: TaskDone, path: x.path, node: d.Node, tasks: []Delta{d}})
}

// guarded calls perform and turns panics of policies such as Retry.If into errors.
func (x *run[S, U]) guarded(ctx context.Context, n *planNode[S, U], tc *taskContext) (u U, err error) {
	defer caught(&err)
	return x.perform(ctx, n, tc)
}

// encode sets the body of an outcome, if a store or the consumer needs it.
func (x *run[S, U]) encode(o *outcome[U]) error {
	if x.o.Store == nil && !x.o.CheckCodec && x.session.modes&Updates == 0 {
		return nil
	}
	body, err := encode(o.update)
	if err != nil {
		return err
	}
	if !bytes.Equal(body, x.blank) {
		o.body = body
	}
	if x.o.CheckCodec || x.o.Store != nil && (x.plan.updateDiffers || codec.InvalidUTF8(o.body)) {
		o.update, err = decode[U](o.body) // Apply must see what a reload returns
	}
	return err
}

// checked refuses a state that cannot be saved. If CheckCodec is set, it returns the state after a
// round trip through JSON.
func (x *run[S, U]) checked(s S) (S, error) {
	if len(x.plan.floats) > 0 && (x.o.Store != nil || x.o.CheckCodec) {
		if path, bad := x.plan.floats.NotFinite(reflect.ValueOf(s)); bad != "" {
			return s, fmt.Errorf("apply update: state%s is %s, which JSON cannot hold", path, bad)
		}
	}
	if !x.o.CheckCodec {
		return s, nil
	}
	var back S
	body, err := encode(s)
	if err == nil {
		err = json.Unmarshal(body, &back)
	}
	if err != nil {
		return s, fmt.Errorf("state through its codec: %w", err)
	}
	return back, nil
}

// deltas returns the deltas of the selected outcomes, by rank.
func (x *run[S, U]) deltas(of func(*outcome[U]) bool) []Delta {
	var out []Delta
	for i := range x.outcomes {
		if o := &x.outcomes[i]; of(o) {
			out = append(out, x.delta(o))
		}
	}
	return out
}

func (x *run[S, U]) delta(o *outcome[U]) Delta {
	d := Delta{Path: x.path, Node: x.plan.nodes[o.node].name, Rank: o.node, Notes: o.notes}
	if o.err == nil {
		d.Body = o.body
		return d
	}
	if failure, ok := errors.AsType[*NodeError](o.err); ok {
		d.Error = failure.Err.Error() // the delta has the name of the node
		if len(o.notes.Questions) > 0 {
			d.Error = (&InterruptError{Questions: o.notes.Questions}).Error()
		}
	}
	return d
}
