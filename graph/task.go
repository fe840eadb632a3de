package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ragflow/graph/codec"
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

// prepare creates the outcomes of the next step. Tasks in the ledger are done; tasks with open
// questions wait.
func (x *run[S, U]) prepare() error {
	x.ready = x.plan.ready(x.ready, x.frontier)
	x.outcomes = slices.Grow(x.outcomes[:0], len(x.ready))[:len(x.ready)]
	for i, n := range x.ready {
		x.outcomes[i] = outcome[U]{node: n}
	}
	s := x.session
	if s.empty() {
		return nil
	}
	for i := range x.outcomes {
		o := &x.outcomes[i]
		name := x.plan.nodes[o.node].name
		if d, ok := s.get(x.place(o)); ok {
			var err error
			if o.update, err = decode[U](d.Body); err != nil {
				return fmt.Errorf("saved result of node %q: %w", name, err)
			}
			o.done, o.body, o.notes = true, d.Body, d.Notes
		} else if asked := s.unanswered(address(x.path, name, x.turn())); asked != nil {
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
	x.started(o)
	x.task(ctx, o, x.emit)
	x.finished(o)
	if o.err != nil && !o.waits {
		return x.firstCause(ctx, o.err)
	}
	err := x.interrupted()
	if o.done && (err != nil || x.path != "") && !superseded(ctx) {
		if err := x.keep(ctx, o); err != nil {
			return err
		}
	}
	return err
}

// firstCause returns the end of the context, if it ended, instead of the failure it caused.
func (*run[S, U]) firstCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return stopped(ctx)
	}
	return err
}

// message is a message from a worker to the loop.
type message struct {
	kind messageKind
	task int       // for taskEnded
	live liveEvent // for liveMessage
}

type messageKind int

const (
	liveMessage messageKind = iota
	taskEnded
	workerGone
)

// inboxSize is the maximum number of unread messages.
const inboxSize = 64

// runConcurrently runs tasks on workers. Only the loop yields and saves; workers block while it
// is busy. All workers have ended when it returns.
func (x *run[S, U]) runConcurrently(parent context.Context, todo int) error {
	ctx, cancel := context.WithCancelCause(parent)
	var first atomic.Pointer[error]
	fail := func(err error) {
		if parent.Err() == nil {
			first.CompareAndSwap(nil, &err)
		}
		cancel(err)
	}
	inbox := make(chan message, inboxSize)
	gone := make(chan struct{}) // closed when the loop stops reading, also if the consumer panics
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(gone)
	defer cancel(nil)

	post := func(m message) {
		select {
		case inbox <- m:
		case <-gone:
		}
	}
	var taken atomic.Int64
	n := min(x.o.Parallel, todo)
	for range n {
		workers.Go(func() {
			defer post(message{kind: workerGone})
			for ctx.Err() == nil {
				i := int(taken.Add(1)) - 1
				if i >= len(x.outcomes) {
					return
				}
				if o := &x.outcomes[i]; !o.done && !o.waits {
					x.runOnWorker(ctx, fail, i, inbox, post)
				}
			}
		})
	}
	for n > 0 {
		switch m := <-inbox; m.kind {
		case workerGone:
			n--
		case liveMessage:
			x.yieldLive(m.live)
		case taskEnded:
			if err := x.ended(parent, &x.outcomes[m.task], todo); err != nil {
				fail(err)
			}
		}
		if x.left {
			fail(errLeft)
		}
	}
	all := !slices.ContainsFunc(x.outcomes, func(o outcome[U]) bool { return !o.done })
	switch err := first.Load(); {
	case all && (err == nil || errors.Is(*err, errLeft)):
		return nil // save finished work, even if the run ends now
	case err != nil:
		return *err
	case parent.Err() != nil:
		return stopped(parent)
	}
	return x.interrupted()
}

// runOnWorker runs a task on a worker and sends its events to the loop. A failure cancels the
// siblings at once, so that the first failure is the cause.
func (x *run[S, U]) runOnWorker(ctx context.Context, fail func(error), i int, inbox chan<- message, post func(message)) {
	o := &x.outcomes[i]
	emit := x.emit
	if x.live {
		emit = func(p liveEvent) {
			select {
			case inbox <- message{live: p}:
			case <-ctx.Done():
			}
		}
		post(message{live: liveEvent{kind: TaskStarted, path: x.path, node: x.plan.nodes[o.node].name}})
	}
	x.started(o)
	defer post(message{kind: taskEnded, task: i}) // also if the node ends its goroutine
	defer func() {
		if o.err != nil && !o.waits {
			fail(o.err)
		}
	}()
	x.task(ctx, o, emit)
	x.finished(o)
}

// started and finished send the live events of a task in a subgraph to the root.
func (x *run[S, U]) started(o *outcome[U]) {
	if x.emit != nil {
		x.emit(liveEvent{kind: TaskStarted, path: x.path, node: x.plan.nodes[o.node].name})
	}
}

func (x *run[S, U]) finished(o *outcome[U]) {
	if x.emit != nil {
		x.emit(x.taskDone(o))
	}
}

// taskDone returns the live event of a finished task.
func (x *run[S, U]) taskDone(o *outcome[U]) liveEvent {
	d := x.delta(o)
	if x.session.modes&Updates == 0 {
		d.Body = nil
	}
	return liveEvent{kind: TaskDone, path: x.path, node: d.Node, tasks: []Delta{d}}
}

// ended saves a successful task of a step with several tasks, and yields its live event.
func (x *run[S, U]) ended(ctx context.Context, o *outcome[U], todo int) error {
	var err error
	if o.done && (todo > 1 || len(x.outcomes) > todo || x.path != "") && !superseded(ctx) {
		err = x.keep(ctx, o)
	}
	if x.live {
		x.yieldLive(x.taskDone(o))
	}
	return err
}

// task runs one node on the state before the step.
func (x *run[S, U]) task(ctx context.Context, o *outcome[U], emit func(liveEvent)) {
	if x.adopt(ctx, o, emit) {
		return
	}
	n := &x.plan.nodes[o.node]
	tc := &taskContext{Context: ctx, of: x.session, path: x.path, node: n.name, turn: x.turn(), step: int32(x.step + 1), left: int32(x.budget), emit: emit, reached: x.reached}
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

// errExited is the error of a node that called runtime.Goexit, as FailNow of a
// test does.
var errExited = errors.New("node ended its goroutine")

// caught turns a panic into an error. It must be deferred directly.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// inspected calls the methods of a node's error once, so that a panic of one of them is caught
// like a panic of the node.
func inspected(err error) error {
	if err != nil && !isPause(err) {
		_ = err.Error()
	}
	return err
}

func callNode[S, U any](ctx context.Context, run Node[S, U], s S) (u U, err error) {
	defer caught(&err)
	u, err = run(ctx, s)
	return u, inspected(err)
}

func callApply[S, U any](apply func(S, U) (S, error), s S, u U) (next S, err error) {
	defer caught(&err)
	return apply(s, u)
}

func callPick[S, U any](ctx context.Context, pick Picker[S, U], s S) (u U, next []string, err error) {
	defer caught(&err)
	u, next, err = pick(ctx, s)
	return u, next, inspected(err)
}

func callKey[S any](key func(S) string, s S) (k string, err error) {
	defer caught(&err)
	return key(s), nil
}

func callRoute[S any](route func(S) string, s S) (to string, err error) {
	defer caught(&err)
	return route(s), nil
}
