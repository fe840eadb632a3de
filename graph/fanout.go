package graph

import (
	"context"
	"errors"
	"sync/atomic"
)

// FanOut returns a node that works on the parts of a state side by side: split
// makes the parts, worker handles one, merge puts the results together, in the
// order of the parts whatever order they were ready in. At most limit workers
// run at once; 0 and less means one for each part. With no parts merge gets
// nil.
//
// The first worker to fail cancels the others and is the node's error; when
// several fail of themselves, that is the first in time. A panic of a worker is
// such a failure, a *[PanicError]. A worker may be a FanOut again. Workers may use [Note] and its kin: what they
// note becomes the node's notes in the order of the parts, a [Skip] as a detail
// with the key "skipped". All workers are gone when the node returns.
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
	books := booksFor(ctx, n)
	results := make([]U, n)
	var (
		failed atomic.Bool
		waits  atomic.Pointer[error]
	)
	team := crew{ctx: ctx, n: n, limit: limit, slots: slotsOf(parent), do: func(i int) {
		err := errExited // stands if the worker ends its goroutine
		defer func() {
			if err == nil {
				return
			}
			if _, asks := errors.AsType[*InterruptError](err); asks { // the others may have questions, too
				first := err // a copy, so that err itself stays off the heap
				waits.CompareAndSwap(nil, &first)
				return
			}
			failed.Store(true)
			cancel(err)
		}()
		results[i], err = guarded(books.open(ctx, i), i, work)
	}}
	team.run()
	books.merge(parent)
	if failed.Load() || !team.all() {
		return nil, context.Cause(ctx)
	}
	if err := waits.Load(); err != nil {
		return nil, *err
	}
	return results, nil
}

func guarded[U any](ctx context.Context, i int, work func(context.Context, int) (U, error)) (u U, err error) {
	defer caught(&err)
	return work(ctx, i)
}

// books are the notebooks of a fan's workers; none outside a run.
type books []notebook

// booksFor makes n notebooks whose contexts are made of ctx.
func booksFor(ctx context.Context, n int) books {
	task := bookOf(ctx)
	if task == nil {
		return nil
	}
	b := make(books, n)
	for i := range b {
		p := &b[i]
		p.Context, p.up, p.part = ctx, task, i //nolint:fatcontext // each is made of ctx, not of the one before
		p.of, p.path, p.node, p.turn, p.emit = task.of, task.path, task.node, task.turn, task.emit
	}
	return b
}

func (b books) open(ctx context.Context, i int) context.Context {
	if b == nil {
		return ctx
	}
	return &b[i]
}

// merge moves what the workers noted to the task's notebook, by index.
func (b books) merge(ctx context.Context) {
	for i := range b {
		part := b[i].close()
		if part == nil {
			continue
		}
		if part.Skipped != "" {
			part.Details = append(part.Details, Detail{"skipped", part.Skipped})
		}
		bookOf(ctx).write(func(n *Notes) {
			n.Details = append(n.Details, part.Details...)
			n.Calls = append(n.Calls, part.Calls...)
			n.Warnings = append(n.Warnings, part.Warnings...)
			n.Answers = append(n.Answers, part.Answers...)
		})
	}
}
