package graph

import (
	"context"
	"errors"
	"time"
)

// Retry limits the attempts of a failing node. Its notes are kept. Each failed attempt is in
// its [Notes] and causes a [TaskRetried] event. The end of the run's context, an open
// question and a drain are never retried.
type Retry struct {
	Attempts int              // maximum number of attempts; 0 and 1 mean one
	First    time.Duration    // pause before the second attempt, doubled before each later one; default 100 ms
	Longest  time.Duration    // maximum pause; default 10 s
	If       func(error) bool // which errors are retried; default: all but panics
}

// again reports whether to make another attempt after the n-th failed, and after which pause.
// Half of the pause is fixed and half is random (chance is from 0 to 1), so that tasks that
// failed together do not retry at the same time.
func (r Retry) again(n int, err error, chance func() float64) (time.Duration, bool) {
	if n >= r.Attempts || isPause(err) {
		return 0, false
	}
	retryable := r.If
	if retryable == nil {
		retryable = func(err error) bool { _, panicked := errors.AsType[*PanicError](err); return !panicked }
	}
	if !retryable(err) {
		return 0, false
	}
	first, longest := r.First, r.Longest
	if first <= 0 {
		first = 100 * time.Millisecond
	}
	if longest <= 0 {
		longest = 10 * time.Second
	}
	pause := first
	for i := 1; i < n && pause < longest; i++ {
		pause *= 2
	}
	pause = min(pause, longest)
	return pause/2 + time.Duration(chance()*float64(pause/2)), true
}

// attempts runs a node until it succeeds or must not be retried.
func (x *run[S, U]) attempts(ctx context.Context, n *planNode[S, U], tc *taskContext) (u U, next []string, err error) {
	if n.Retry.Attempts <= 1 {
		return x.attempt(ctx, n, tc, 1)
	}
	for i := 1; ; i++ {
		began := x.o.Clock()
		u, next, err = x.attempt(ctx, n, tc, i)
		if err == nil || ctx.Err() != nil {
			return u, next, err
		}
		pause, again := n.Retry.again(i, err, x.o.Rand)
		if !again {
			return u, next, err
		}
		failed := Attempt{Error: err.Error(), Duration: x.o.Clock().Sub(began), Pause: pause}
		tc.write(func(n *Notes) { n.Failed = append(n.Failed, failed) })
		if tc.emit != nil {
			d := Delta{Path: x.path, Node: n.name, Rank: n.rank, Error: failed.Error, Notes: Notes{Failed: []Attempt{failed}}}
			tc.emit(liveEvent{kind: TaskRetried, path: x.path, node: n.name, tasks: []Delta{d}})
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return u, next, err
		}
	}
}

// attempt runs a node once.
func (x *run[S, U]) attempt(ctx context.Context, n *planNode[S, U], tc *taskContext, i int) (u U, next []string, err error) {
	tc.mu.Lock()
	tc.used, tc.fans, tc.attempt = nil, 0, int32(i)
	tc.mu.Unlock()
	ctx, ended := x.span(ctx, SpanAttempt, n.name, i)
	defer func() { ended(err) }()
	ctx, stop := withTimeout(ctx, n.Timeout)
	defer func() { err = stop(err) }()
	if n.Pick != nil {
		return callPick(ctx, n.Pick, x.state)
	}
	u, err = callNode(ctx, n.Run, x.state)
	return u, nil, err
}
