// Package parallel spreads work over the processors.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for each number below n, of as many at a time as there are
// processors to run on, and returns when all are done. The caller's goroutine
// works too. What the calls share, do guards; a panic of do is the caller's, once
// the calls under way have ended.
func Each(n int, do func(i int)) {
	var (
		others sync.WaitGroup
		next   atomic.Int64
		once   sync.Once
		went   any
	)
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				next.Store(int64(n)) // begin no more
				once.Do(func() { went = v })
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
	if went != nil {
		panic(went)
	}
}

// Waiting calls do for the numbers below n on at most limit goroutines, and reports whether it did so
// for all of them before ctx ended. It is for calls that wait rather than compute; do must not panic. Each goroutine that takes its first number starts one more, so that short calls
// need few goroutines, while each call that waits has its own.
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
