package offline

import (
	"slices"
	"testing"
)

// TestSideBySide does everything once, and a panic is the caller's.
func TestSideBySide(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		calls := make([]int, n)
		sideBySide(n, func(i int) { calls[i]++ })
		if slices.ContainsFunc(calls, func(c int) bool { return c != 1 }) {
			t.Errorf("of %d, calls %v", n, calls)
		}
	}
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("got panic %v", got)
		}
	}()
	sideBySide(10, func(i int) {
		if i == 7 {
			panic("broken")
		}
	})
	t.Error("a panic went unheard")
}
