package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// OnBusy decides what happens to a new input for a thread with an active run, in this
// process or another. Two runs never write to a thread at the same time, and every input
// with a [RunStarted] event is in the log. For a resume and an update the policy is
// always Reject.
type OnBusy int

const (
	// Reject fails the new run with [ErrBusy], after [Request].Wait.
	Reject OnBusy = iota
	// Enqueue makes the new run wait until its context ends: in order of arrival within a
	// Runner, in any order between runners and processes.
	Enqueue
	// Interrupt stops the active run with [ErrSuperseded]: its nodes are cancelled and it
	// saves nothing more. In the log it is Superseded. Its input and its saved supersteps
	// remain part of the state.
	Interrupt
	// Rollback is like Interrupt, and a commit of [SourceUndo] restores the state before
	// the input of the interrupted run. It needs [Graph].Restore.
	Rollback
)

// forever is the time that Enqueue waits in a store.
const forever = 100 * 365 * 24 * time.Hour

var errNoRestore = errors.New("OnBusy is Rollback, but the graph has no Restore")

// onBusy is the policy of the request, else that of the runner.
func (x *run[S, U]) onBusy() OnBusy { return cmp.Or(x.req.OnBusy, x.o.OnBusy) }

// open acquires the thread of a run according to OnBusy. The returned function releases
// it.
func (x *run[S, U]) open(ctx context.Context, cancel context.CancelCauseFunc) (func(), error) {
	policy, wait := x.onBusy(), x.req.Wait
	switch {
	case x.req.Resume || x.req.ResumeOrStart:
		policy = Reject
	case policy == Rollback && x.plan.restore == nil:
		return nil, errNoRestore
	}
	after := func() {}
	if policy == Enqueue {
		leave, err := x.active.Turn(ctx, x.req.Thread)
		if err != nil {
			return nil, fmt.Errorf("wait for thread %q: %w (%w)", x.req.Thread, err, ErrBusy)
		}
		after, wait = leave, forever
	}
	if policy == Interrupt || policy == Rollback {
		wait = 0 // the active run is stopped without waiting
	}
	o := AcquireOptions{Owner: x.o.Owner, TTL: x.o.LeaseTTL, Wait: wait}
	log, err := openLog(ctx, x.o.Store, x.req.Thread, o, cancel)
	if errors.Is(err, ErrBusy) && (policy == Interrupt || policy == Rollback) {
		o.Force, x.tookOver = true, true
		log, err = openLog(ctx, x.o.Store, x.req.Thread, o, cancel)
	}
	if err != nil {
		after()
		return nil, err
	}
	x.log = log
	// A run in another process notices the loss when it writes or renews its lease.
	lost := fmt.Errorf("stopped by a later input: %w", ErrSuperseded)
	me, left := x.active.Enter(x.req.Thread, log.lease.Token, cancel, lost)
	x.me = me
	return func() {
		log.close(ctx)
		left(string(x.status))
		after()
	}, nil
}

// undone returns the state before the input of the run at the head, and the deltas that
// restore it.
func (x *run[S, U]) undone(ctx context.Context, head Commit) (S, []Delta, error) {
	var then S
	for c, err := range x.o.Store.Walk(ctx, x.req.Thread, head.ID) {
		if err != nil {
			return then, nil, err
		}
		if c.Run != head.Run || c.Source != SourceInput {
			continue
		}
		if c.Parent != 0 {
			if then, _, err = x.load(ctx, x.req.Thread, c.Parent); err != nil {
				return then, nil, err
			}
		}
		return x.changedTo(then)
	}
	return then, nil, fmt.Errorf("the input of run %q: %w", head.Run, ErrNotFound)
}

// salvage calls OnSupersede of the tasks of the unfinished superstep at the head. It returns the state with their updates.
func (x *run[S, U]) salvage(ctx context.Context, head Commit) (_ S, deltas []Delta, err error) {
	before := x.state
	defer func() { x.state = before }()
	ctx = context.WithoutCancel(ctx) // nothing waits, and all results that are saved count
	for i := range x.plan.nodes {
		n := &x.plan.nodes[i]
		if n.OnSupersede == nil || !slices.Contains(head.Frontier, n.name) {
			continue
		}
		s := &session{o: &x.o, thread: x.req.Thread, run: head.Run, frozen: true}
		if _, err := s.recall(ctx, x.o.Store, head, x.plan.fingerprint); err != nil {
			return before, nil, err
		}
		notes := &Notes{Start: x.now()}
		tc := &taskContext{Context: ctx, of: s, node: n.name, step: int32(head.Step + 1), notes: notes, retries: true} // so a FanOut knows its parts
		u, err := callNode(tc, n.OnSupersede, x.state)                                                                 //nolint:contextcheck // ctx is the parent of tc
		state, updates, fault := x.changed([]U{u})
		d := Delta{Node: n.name, Rank: n.rank, Notes: *tc.close()}
		if err = cmp.Or(err, fault); err != nil {
			d.Error = err.Error()
		} else {
			x.state, d.Body = state, updates[0].Body
		}
		deltas = append(deltas, d)
	}
	return x.state, deltas, nil
}
