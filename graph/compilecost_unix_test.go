//go:build unix

package graph_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// sideBySide returns graphs of n nodes side by side.
func sideBySide(n int) map[string]graph.Graph[list, item] {
	names := make([]string, n)
	nodes := tasks{"join": {Run: says(""), Wait: graph.Join}, "last": {Run: says("")}, "first": {Run: says("")}}
	shared := []graph.Edge{{From: graph.Start, To: "first"}, {From: "join", To: "last"}, {From: "last", To: graph.End}}
	forked, ended := []graph.Edge{}, []graph.Edge{}
	for i := range names {
		names[i] = fmt.Sprint("n", i)
		nodes[names[i]] = graph.Task[list, item]{Run: says("")}
		forked = append(forked, graph.Edge{From: "first", To: names[i]})
		ended = append(ended, graph.Edge{From: names[i], To: "join"})
	}
	branch := []graph.Branch[list]{{From: "first", Route: func(list) string { return "n0" }, To: names}}
	made := map[string]graph.Graph[list, item]{
		"edges":  {Edges: append(append(forked, ended...), shared...)},
		"branch": {Edges: append(ended, shared...), Branches: branch},
	}
	for name, g := range made {
		g.Name, g.Apply, g.Nodes = "wide", appendItem, nodes
		made[name] = g
	}
	return made
}

// cost returns the processor time of so many calls without that of the garbage collector, the least of several.
func cost(calls int, call func()) time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := time.Hour
	for range 5 {
		runtime.GC()
		var before, after syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		for range calls {
			call()
		}
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		least = min(least, time.Duration(after.Utime.Nano()-before.Utime.Nano()+after.Stime.Nano()-before.Stime.Nano()))
	}
	return least
}

// Compile of nodes side by side takes time in proportion to their number: four times as many take
// about four times as long, and not 16 or 64 times. The limit is between the two, because more nodes
// also leave the processor's caches.
func TestWideCompile(t *testing.T) {
	for _, shape := range []string{"edges", "branch"} {
		took := map[int]time.Duration{}
		for n, calls := range map[int]int{1_000: 16, 4_000: 4} {
			g := sideBySide(n)[shape]
			took[n] = cost(calls, func() {
				if _, err := graph.Compile(g); err != nil {
					t.Fatal(err)
				}
			}) / time.Duration(calls)
		}
		t.Logf("%s: 1,000 nodes take %v, 4,000 take %v", shape, took[1_000], took[4_000])
		if ratio := float64(took[4_000]) / float64(took[1_000]); ratio > 10 {
			t.Errorf("%s: 4,000 nodes take %.1f times what 1,000 take, want at most 10", shape, ratio)
		}
	}
}
