// Package parallel spreads work over the processors.
package parallel

import (
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
