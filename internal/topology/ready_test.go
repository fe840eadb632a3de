package topology

import (
	"slices"
	"testing"
)

// TestReady uses the graph 0 → 1 → 2 → 3 → 2, in which some nodes wait.
func TestReady(t *testing.T) {
	t.Parallel()
	next := [][]int{{1}, {2}, {3, -1}, {2}}
	for _, tt := range []struct {
		wait           []Wait
		frontier, want []int
	}{
		{make([]Wait, 4), []int{0, 2}, []int{0, 2}},
		{[]Wait{2: Join, 3: NoWait}, []int{0, 2}, []int{0}},                    // 0 leads to 2
		{[]Wait{NoWait, Join, NoWait, NoWait}, []int{1, 2, 3}, []int{1, 2, 3}}, // nothing reached leads to 1
		{[]Wait{Last, NoWait, NoWait, NoWait}, []int{0, 3}, []int{3}},
		{[]Wait{NoWait, NoWait, Join, Join}, []int{2, 3}, []int{2}}, // they wait for each other
		{[]Wait{NoWait, NoWait, Last, Join}, []int{2, 3}, []int{3}}, // those without Last are first
	} {
		w := NewWaiting(tt.wait, func(n int) []int { return next[n] })
		if got := w.Ready(nil, tt.frontier); !slices.Equal(got, tt.want) {
			t.Errorf("wait %v, reached %v: ready %v, want %v", tt.wait, tt.frontier, got, tt.want)
		}
	}
}
