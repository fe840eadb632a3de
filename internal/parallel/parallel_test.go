package parallel_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// TestEachPanics checks that a panic reaches the caller from any goroutine, and that no call begins after it.
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

// TestWaiting checks that at most limit calls wait at once, that as many as allowed do, and that no call
// begins after ctx ends.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			n, limit int
			want     time.Duration
		}{{0, 1, 0}, {1, 5, time.Second}, {10, 5, 2 * time.Second}, {10, 100, time.Second}} {
			var calls atomic.Int64
			began := time.Now()
			all := parallel.Waiting(t.Context(), tt.n, tt.limit, func(int) { calls.Add(1); time.Sleep(time.Second) })
			if took := time.Since(began); !all || int(calls.Load()) != tt.n || took != tt.want {
				t.Errorf("%+v: %d calls, all %v, in %v", tt, calls.Load(), all, took)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		if all := parallel.Waiting(ctx, 10, 1, func(int) { calls++; cancel() }); all || calls != 1 {
			t.Errorf("after the end: %d calls, all %v", calls, all)
		}
	})
}
