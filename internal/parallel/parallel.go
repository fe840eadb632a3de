// Package parallel runs calls on several goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do(0) … do(n-1) on up to GOMAXPROCS goroutines and returns when all are done. do must be safe
// for concurrent use. After a panic of do no further call begins, and the panic is raised again once the
// others have returned.
func Each(n int, do func(i int)) {
	var (
		others   sync.WaitGroup
		next     atomic.Int64
		once     sync.Once
		panicked any
	)
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				next.Store(int64(n)) // begin no more
				once.Do(func() { panicked = v })
			}
		}()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if panicked != nil {
		panic(panicked)
	}
}

// Waiting calls do(0) … do(n-1) on at most limit goroutines and reports whether it did so for all before ctx
// ended. It is for calls that wait rather than compute; do must not panic. A goroutine starts another one
// when it takes its first number, so short calls need few goroutines and each waiting call has its own.
func Waiting(ctx context.Context, n, limit int, do func(i int)) (all bool) {
	var (
		taken, started atomic.Int64
		idle           atomic.Bool // a goroutine has no number yet, or the limit is reached
		workers        sync.WaitGroup
		work           func()
	)
	start := func() {
		if idle.CompareAndSwap(false, true) && started.Add(1) <= int64(limit) {
			workers.Go(work)
		}
	}
	work = func() {
		for first := true; ctx.Err() == nil; first = false {
			i := int(taken.Add(1)) - 1
			if i >= n {
				return
			}
			if first {
				idle.Store(false)
			}
			if i+1 < n {
				start()
			}
			do(i)
		}
	}
	start()
	workers.Wait()
	return int(taken.Load()) >= n
}
