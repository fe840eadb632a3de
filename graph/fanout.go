package graph

import (
	"context"
	"errors"
	"sync/atomic"
)

// FanOut returns a node that handles the parts of a state concurrently: split returns the
// parts, worker handles one part, and merge combines the results in the order of the
// parts. At most limit workers run at once; 0 or less means one per part. Without parts,
// merge gets nil.
//
// The first failure in time cancels the other workers and is the error of the node. A
// panic of a worker is a *[PanicError]. A worker can be a FanOut too. Workers can use
// [Note], [Warn], [Skip] and [Count]: their notes are added to the node's notes in the
// order of the parts, a [Skip] as a detail with the key "skipped". All workers have
// returned when the node returns.
func FanOut[S, U, T any](
	limit int,
	split func(S) []T,
	worker func(context.Context, S, T) (U, error),
	merge func(S, []U) (U, error),
) Node[S, U] {
	return func(ctx context.Context, s S) (U, error) {
		parts := split(s)
		if len(parts) == 0 {
			return merge(s, nil)
		}
		results, err := fan(ctx, limit, len(parts), func(ctx context.Context, i int) (U, error) {
			return worker(ctx, s, parts[i])
		})
		if err != nil {
			var zero U
			return zero, err
		}
		return merge(s, results)
	}
}

// fan calls work for 0 … n-1, at most limit at once, and returns the results by
// index.
func fan[U any](parent context.Context, limit, n int, work func(context.Context, int) (U, error)) ([]U, error) {
	if limit <= 0 || limit > n {
		limit = n
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	workers := newWorkerContexts(ctx, n)
	results := make([]U, n)
	var (
		failed atomic.Bool
		waits  atomic.Pointer[error]
	)
	pool := workerPool{ctx: ctx, n: n, limit: limit, slots: slotsOf(parent), do: func(i int) {
		err := errExited // remains if the worker ends its goroutine
		defer func() {
			if err == nil {
				return
			}
			if _, asks := errors.AsType[*InterruptError](err); asks { // do not cancel: the others may have questions too
				first := err // a copy, so that err itself stays off the heap
				waits.CompareAndSwap(nil, &first)
				return
			}
			failed.Store(true)
			cancel(err)
		}()
		results[i], err = guarded(workers.open(ctx, i), i, work)
	}}
	_ = pool.slots.without(parent, taskContextOf(parent), func(context.Context) error { pool.run(); return nil })
	workers.merge(parent)
	if failed.Load() || !pool.allTaken() {
		return nil, context.Cause(ctx)
	}
	if err := waits.Load(); err != nil {
		return nil, *err
	}
	return results, nil
}

func guarded[U any](ctx context.Context, i int, work func(context.Context, int) (U, error)) (u U, err error) {
	defer caught(&err)
	u, err = work(ctx, i)
	return u, inspected(err)
}

// workerContexts are the task contexts of the workers of a FanOut; nil outside a run.
type workerContexts []taskContext

// newWorkerContexts returns n task contexts with ctx as their parent context.
func newWorkerContexts(ctx context.Context, n int) workerContexts {
	task := taskContextOf(ctx)
	if task == nil {
		return nil
	}
	b := make(workerContexts, n)
	for i := range b {
		p := &b[i]
		p.Context, p.up, p.part = ctx, task, i //nolint:fatcontext // ctx is the same in every iteration
		p.of, p.path, p.node, p.turn, p.emit = task.of, task.path, task.node, task.turn, task.emit
	}
	return b
}

func (b workerContexts) open(ctx context.Context, i int) context.Context {
	if b == nil {
		return ctx
	}
	return &b[i]
}

// merge adds the workers' notes to the task's taskContext, by index.
func (b workerContexts) merge(ctx context.Context) {
	for i := range b {
		part := b[i].close()
		if part == nil {
			continue
		}
		if part.Skipped != "" {
			part.Details = append(part.Details, Detail{"skipped", part.Skipped})
		}
		taskContextOf(ctx).write(func(n *Notes) {
			n.Details = append(n.Details, part.Details...)
			n.Calls = append(n.Calls, part.Calls...)
			n.Warnings = append(n.Warnings, part.Warnings...)
			n.Answers = append(n.Answers, part.Answers...)
		})
	}
}
