package graph

import "context"

// OnError takes the failure of a node, after its last attempt, as data: Update
// makes the node's update of it, which is applied and saved like any other, and
// the run goes on at To. The siblings of the node go on, too. A crash between
// the failure and what handles it resumes there, for the failure is in the state
// by then. What ends a run as a whole is not handled: the end of its context, an
// open question, a drain, the step limit of a subgraph.
type OnError[S, U any] struct {
	Update func(s S, f Failure) U // must be pure; nil: failures are not handled
	To     string                 // where to go on; empty: where the node leads anyway
}

// Failure is what became of a node.
type Failure struct {
	Node     string
	Err      error
	Attempts int
}

// perform runs a node under its policies.
func (x *run[S, U]) perform(ctx context.Context, n *planNode[S, U], book *notebook) (U, error) {
	var key string
	if n.cache != nil {
		var err error
		if key, err = callKey(n.cache.Key, x.state); err != nil {
			var zero U
			return zero, err
		}
		if u, next, ok := n.cache.get(key, x.o.Clock()); ok && key != "" {
			book.write(func(n *Notes) { n.Cached, n.Goto = true, next })
			return u, nil
		}
	}
	u, next, err := x.attempts(ctx, n, book)
	if err == nil {
		err = n.allows(next)
	}
	switch {
	case err == nil && len(next) > 0:
		book.write(func(n *Notes) { n.Goto = next })
	case err != nil && n.onError.Update != nil && ctx.Err() == nil && !isPause(err):
		return x.handle(n, book, err)
	}
	if err == nil && key != "" {
		n.cache.put(key, u, next, x.o.Clock())
	}
	return u, err
}

// handle makes an update of a failure.
func (x *run[S, U]) handle(n *planNode[S, U], book *notebook, cause error) (u U, err error) {
	defer caught(&err)
	var failed int
	book.write(func(n *Notes) { n.Caught, failed = cause.Error(), len(n.Failed) })
	return n.onError.Update(x.state, Failure{Node: n.name, Err: cause, Attempts: failed + 1}), nil
}
