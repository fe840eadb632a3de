package graph

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"

	"example.com/ragflow/internal/codec"
	"example.com/ragflow/internal/parallel"
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
//
// The result of each part is saved soon after it finishes, together with others. If the node runs again in the same
// superstep, after a failure, an [Ask], a retry or a crash, only the other parts run. So split
// must be pure. Without a store, another attempt of [Retry] knows finished parts too. Parts or results that
// JSON cannot restore are not saved.
func FanOut[S, U, T any](
	limit int,
	split func(S) []T,
	worker func(context.Context, S, T) (U, error),
	merge func(S, []U) (U, error),
) Node[S, U] {
	json := partCodec{lost: len(codec.Faults(reflect.TypeFor[U]())) > 0, differs: codec.MayDiffer(reflect.TypeFor[U]())}
	return func(ctx context.Context, s S) (u U, err error) {
		if err := taskContextOf(ctx).awaitReached(ctx); err != nil {
			return u, err
		}
		f := newFan[T, U](ctx, json, split(s))
		if len(f.parts) == 0 {
			return merge(s, nil)
		}
		err = f.run(ctx, limit, func(ctx context.Context, i int) (U, error) { return worker(ctx, s, f.parts[i]) })
		if err == nil {
			u, err = merge(s, slices.Clone(f.results))
		}
		f.close(err)
		return u, err
	}
}

// run calls work for all parts, at most limit at once.
func (f *fan[T, U]) run(parent context.Context, limit int, work func(context.Context, int) (U, error)) error {
	n := len(f.parts)
	if limit <= 0 || limit > n {
		limit = n
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	workers := newWorkerContexts(ctx, n)
	var (
		failed atomic.Bool
		waits  atomic.Pointer[error]
	)
	f.done.Fail = func(err error) {
		failed.Store(true)
		cancel(err)
	}
	all := parallel.Waiting(ctx, n, limit, func(i int) {
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
			f.done.Fail(err)
		}()
		err = f.part(workers.open(ctx, i), i, work)
	})
	workers.merge(parent)
	if failed.Load() || !all {
		return context.Cause(ctx)
	}
	if err := waits.Load(); err != nil {
		return *err
	}
	return nil
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
		p.of, p.path, p.node, p.turn, p.emit, p.retries = task.of, task.path, task.node, task.turn, task.emit, task.retries
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
