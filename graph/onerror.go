package graph

import (
	"context"
	"time"
)

// OnError handles the error of a node after its last attempt. Update turns the failure into an
// update, which is applied and saved like any other, and the run continues at To. The other
// tasks of the step continue too. After a crash, the run resumes at To, because the failure
// is in the state. OnError does not handle the end of the context, an open question, a drain
// or the step limit of a subgraph.
type OnError[S, U any] struct {
	Update func(s S, f Failure) U // must be pure; nil turns OnError off
	To     string                 // next node; empty: the normal successors
}

// Failure is a failed node.
type Failure struct {
	Node     string
	Err      error
	Attempts int
}

// perform runs a node with its policies.
func (x *run[S, U]) perform(ctx context.Context, n *planNode[S, U], tc *taskContext) (U, error) {
	var key string
	if n.cache != nil {
		var err error
		if key, err = callKey(n.cache.Key, x.state); err != nil {
			var zero U
			return zero, err
		}
		if u, next, ok := n.cached(tc, key, x.o.Clock()); ok { //nolint:contextcheck // tc carries ctx
			tc.write(func(n *Notes) { n.Cached, n.Goto = true, next })
			return u, nil
		}
	}
	u, next, err := x.attempts(ctx, n, tc)
	if err == nil {
		err = n.allows(next)
	}
	switch {
	case err == nil && len(next) > 0:
		tc.write(func(n *Notes) { n.Goto = next })
	case err != nil && n.onError.Update != nil && ctx.Err() == nil && !isPause(err):
		return x.handle(n, tc, err)
	}
	if err == nil && key != "" {
		n.cache.add(tc, key, u, next, x.o.Clock()) //nolint:contextcheck // tc carries ctx
	}
	return u, err
}

// cached returns the entry of a key that is not empty.
func (n *planNode[S, U]) cached(ctx context.Context, key string, now time.Time) (u U, next []string, ok bool) {
	if key == "" {
		return u, nil, false
	}
	return n.cache.find(ctx, key, now)
}

// handle turns a failure into an update.
func (x *run[S, U]) handle(n *planNode[S, U], tc *taskContext, cause error) (u U, err error) {
	defer caught(&err)
	var failed int
	tc.write(func(n *Notes) { n.Caught, failed = cause.Error(), len(n.Failed) })
	return n.onError.Update(x.state, Failure{Node: n.name, Err: cause, Attempts: failed + 1}), nil
}
