package graph

import (
	"context"
	"errors"
	"time"
)

// Retry says how often a node that fails is run again. What it noted stays; each
// failed attempt stands in its [Notes] and is told as [TaskRetried]. The end of
// the run's context, an open question and a drain are never retried.
type Retry struct {
	Attempts int              // runs in all; 0 and 1 mean one
	First    time.Duration    // pause before the second attempt, doubled before each later one; default 100 ms
	Longest  time.Duration    // bound of the pause; default 10 s
	Budget   time.Duration    // no attempt begins later after the first; 0: any time
	If       func(error) bool // which errors are worth another attempt; default: all but panics
}

// again says whether another attempt is worth it after the n-th failed, and
// after which pause. Of the pause the half is certain, the other half a chance
// between 0 and 1, so that tasks that failed together do not come back together.
func (r Retry) again(n int, err error, spent time.Duration, chance func() float64) (time.Duration, bool) {
	if n >= r.Attempts || isPause(err) {
		return 0, false
	}
	worth := r.If
	if worth == nil {
		worth = func(err error) bool { _, panicked := errors.AsType[*PanicError](err); return !panicked }
	}
	if !worth(err) {
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
	pause = pause/2 + time.Duration(chance()*float64(pause/2))
	return pause, r.Budget <= 0 || spent+pause <= r.Budget
}

// attempts runs a node until it ends well or is not worth another attempt.
func (x *run[S, U]) attempts(ctx context.Context, n *planNode[S, U], book *notebook) (u U, next []string, err error) {
	if n.retry.Attempts <= 1 {
		return x.attempt(ctx, n, book, 1)
	}
	first := x.o.Clock()
	for i := 1; ; i++ {
		began := x.o.Clock()
		u, next, err = x.attempt(ctx, n, book, i)
		if err == nil || ctx.Err() != nil {
			return u, next, err
		}
		now := x.o.Clock()
		pause, again := n.retry.again(i, err, now.Sub(first), x.o.Rand)
		if !again {
			return u, next, err
		}
		failed := Attempt{Error: err.Error(), Duration: now.Sub(began), Pause: pause}
		book.write(func(n *Notes) { n.Failed = append(n.Failed, failed) })
		if book.emit != nil {
			d := Delta{Path: x.path, Node: n.name, Rank: n.rank, Error: failed.Error, Notes: Notes{Failed: []Attempt{failed}}}
			book.emit(pulse{kind: TaskRetried, path: x.path, node: n.name, tasks: []Delta{d}})
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
func (x *run[S, U]) attempt(ctx context.Context, n *planNode[S, U], book *notebook, i int) (u U, next []string, err error) {
	if err := x.o.Slots.take(ctx); err != nil {
		return u, nil, err
	}
	defer x.o.Slots.give()
	ctx, ended := x.span(ctx, SpanAttempt, n.name, i)
	defer func() { ended(err) }()
	ctx, stop := n.timeout.watch(ctx, book)
	defer func() { err = stop(err) }()
	if n.pick != nil {
		return callPick(ctx, n.pick, x.state)
	}
	u, err = callNode(ctx, n.run, x.state)
	return u, nil, err
}
