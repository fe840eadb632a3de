//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package graph_test

import (
	"context"
	"testing"

	"example.com/ragflow/graph"
)

// A step costs one allocation, the same with a large state; a run has some more.
func TestChainAllocations(t *testing.T) {
	small, large := chainAllocations(t, chainOf[struct{}](t)), chainAllocations(t, chainOf[big](t))
	if small > 1.5 || large > small+0.1 {
		t.Errorf("%.2f allocations a step, %.2f with 100 KB of state; want at most 1.5, and the same", small, large)
	}
}

func chainAllocations[S any](t *testing.T, r *graph.Runner[*S, int]) float64 {
	t.Helper()
	return testing.AllocsPerRun(50, func() {
		if _, err := r.Invoke(t.Context(), graph.Request[int]{}); err != nil {
			t.Fatal(err)
		}
	}) / 100
}

// A fan-out of tasks that do not wait costs next to no allocation a task.
func TestFanOutAllocations(t *testing.T) {
	const n = 1000
	parts := make([]int, n)
	fan := graph.FanOut(0, func(int) []int { return parts },
		func(context.Context, int, int) (int, error) { return 1, nil },
		func(_ int, us []int) (int, error) { return len(us), nil })
	r := must(graph.Graph[int, int]{
		Apply: add, Nodes: map[string]graph.Task[int, int]{"fan": {Run: fan}},
		Order: []string{"fan"}, Edges: chain(graph.Start, "fan", graph.End),
	}).Runner(graph.Options{})
	perTask := testing.AllocsPerRun(20, func() {
		if _, err := r.Invoke(t.Context(), graph.Request[int]{}); err != nil {
			t.Fatal(err)
		}
	}) / n
	if perTask > 0.25 {
		t.Errorf("%.2f allocations a task, want at most 0.25", perTask)
	}
}
