package graph_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ragflow/graph"
)

// fanned runs a fan-out of n parts outside of any run and sums what they return.
func fanned(t *testing.T, limit, n int, worker func(ctx context.Context, part int) (int, error)) (int, error) {
	t.Helper()
	parts := make([]int, n)
	for i := range parts {
		parts[i] = i
	}
	node := graph.FanOut(limit, func(int) []int { return parts },
		func(ctx context.Context, _, part int) (int, error) { return worker(ctx, part) },
		func(_ int, us []int) (int, error) {
			sum := 0
			for _, u := range us {
				sum += u
			}
			return sum, nil
		})
	return node(t.Context(), 0)
}

// Without a limit every part gets to run, even if each waits for all others.
func TestPartsThatWaitForEachOther(t *testing.T) {
	const n = 500
	var all sync.WaitGroup
	all.Add(n)
	got, err := fanned(t, 0, n, func(context.Context, int) (int, error) {
		all.Done()
		all.Wait()
		return 1, nil
	})
	if err != nil || got != n {
		t.Errorf("sum %d, %v; want %d", got, err, n)
	}
}

// Parts that wait reach the limit and never exceed it.
func TestLimitOfParts(t *testing.T) {
	for _, limit := range []int{1, 3, 16} {
		var now, most atomic.Int64
		full := make(chan struct{})
		got, err := fanned(t, limit, 64, func(context.Context, int) (int, error) {
			at := now.Add(1)
			defer now.Add(-1)
			for was := most.Load(); at > was && !most.CompareAndSwap(was, at); was = most.Load() {
			}
			if at == int64(limit) && most.Load() == at {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			<-full
			return 1, nil
		})
		if err != nil || got != 64 || most.Load() != int64(limit) {
			t.Errorf("limit %d: at most %d side by side, sum %d, %v", limit, most.Load(), got, err)
		}
	}
}

// After a failure no part is begun, and parts that wait are told.
func TestFailureEndsParts(t *testing.T) {
	broken := errors.New("broken")
	var begun atomic.Int64
	_, err := fanned(t, 4, 1000, func(ctx context.Context, part int) (int, error) {
		begun.Add(1)
		if part == 3 {
			return 0, broken
		}
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	if !errors.Is(err, broken) || begun.Load() != 4 {
		t.Errorf("%d parts were begun, error %v; want 4, and what broke", begun.Load(), err)
	}
}
