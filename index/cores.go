package index

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// onAllCores calls do for each of n things, of as many at a time as there are
// processors to run on, and returns when all are done.
func onAllCores(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
