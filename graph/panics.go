package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errExited is the error of a node that called runtime.Goexit, as FailNow of a
// test does.
var errExited = errors.New("node ended its goroutine")

// caught turns a panic into an error. It must be deferred directly.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// protected calls a function of the graph and turns its panic into an error.
func protected(call func() error) (err error) {
	defer caught(&err)
	return call()
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

// applied returns the state after an update, if it can be saved.
func (x *run[S, U]) applied(s S, u U) (S, error) {
	next, err := callApply(x.plan.apply, s, u)
	if err != nil {
		return s, fmt.Errorf("apply update: %w", err)
	}
	return x.checked(next)
}

func callPick[S, U any](ctx context.Context, pick Picker[S, U], s S) (u U, next []string, err error) {
	defer caught(&err)
	u, next, err = pick(ctx, s)
	return u, next, inspected(err)
}
