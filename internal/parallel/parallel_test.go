package parallel_test

import (
	"slices"
	"testing"

	"example.com/ragflow/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		calls := make([]int, n)
		parallel.Each(n, func(i int) { calls[i]++ })
		if slices.ContainsFunc(calls, func(c int) bool { return c != 1 }) {
			t.Errorf("of %d, calls %v", n, calls)
		}
	}
}

// A panic reaches the caller, wherever it was, and nothing is begun after it.
func TestEachPanics(t *testing.T) {
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("got panic %v, want broken", got)
		}
	}()
	parallel.Each(10, func(i int) {
		if i == 7 {
			panic("broken")
		}
	})
	t.Error("a panic went unheard")
}
