package mutate

import (
	"fmt"
	"os"
	"reflect"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"time"
)

// guard ends the process when one input takes too long or too much memory, which
// nothing in it could do otherwise.
type guard struct {
	dir    string // where an input is kept
	target reflect.Type
	done   chan struct{}

	mu    sync.Mutex // held for what follows
	in    input      // that runs
	since time.Time  // it does
}

// newGuard begins to watch. The caller calls end.
func newGuard(dir string, target reflect.Type) *guard {
	g := &guard{dir: dir, target: target, done: make(chan struct{}), since: time.Now()}
	go g.watch()
	return g
}

// begin notes that an input runs from now on.
func (g *guard) begin(in input) {
	g.mu.Lock()
	g.in, g.since = in, time.Now()
	g.mu.Unlock()
}

func (g *guard) end() { close(g.done) }

// keep writes the input that runs to a file, and says where.
func (g *guard) keep() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	path, err := g.in.write(g.dir, g.target)
	if err != nil {
		return fmt.Sprintf("its input cannot be kept: %v", err)
	}
	return "its input is kept as " + path
}

func (g *guard) watch() {
	tick := time.NewTicker(min(time.Second, *longest))
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		select {
		case <-g.done:
			return
		case <-tick.C:
		}
		metrics.Read(heap)
		g.mu.Lock()
		took := time.Since(g.since)
		g.mu.Unlock()
		if bytes := heap[0].Value.Uint64(); took > *longest || bytes > widest {
			fmt.Fprintf(os.Stderr, "a mutation runs for %v with %d MiB in memory; %s\n", took.Round(time.Second), bytes>>20, g.keep())
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2) // where it is; the process ends in any case
			os.Exit(2)
		}
	}
}
