package graph

import "context"

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

// perform runs a node with its policies. The caller catches panics of them.
func (x *run[S, U]) perform(ctx context.Context, n *planNode[S, U], tc *taskContext) (U, error) {
	var key string
	if n.Cache != nil {
		key = n.Cache.Key(x.state)
	}
	if key != "" {
		if e, ok := n.Cache.find(tc, key, x.o.Clock()); ok { //nolint:contextcheck // tc carries ctx
			tc.write(func(n *Notes) { n.Cached, n.Goto = true, e.Next })
			return e.Update, nil
		}
	}
	u, next, err := x.attempts(ctx, n, tc)
	if err == nil {
		err = n.allows(next)
	}
	switch {
	case err == nil && len(next) > 0:
		tc.write(func(n *Notes) { n.Goto = next })
	case err != nil && n.OnError.Update != nil && ctx.Err() == nil && !isPause(err):
		var failed int
		tc.write(func(n *Notes) { n.Caught, failed = err.Error(), len(n.Failed) })
		return n.OnError.Update(x.state, Failure{Node: n.name, Err: err, Attempts: failed + 1}), nil
	}
	if err == nil && key != "" {
		n.Cache.add(tc, key, cacheEntry[U]{Update: u, Next: next}, x.o.Clock()) //nolint:contextcheck // tc carries ctx
	}
	return u, err
}
