package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// Runs of two runners, each with the file open for itself, meet on one thread:
// nothing is lost, and what was told as begun is in the log.
func TestRunsMeet(t *testing.T) {
	for name, policy := range map[string]graph.OnBusy{"enqueue": graph.Enqueue, "interrupt": graph.Interrupt, "rollback": graph.Rollback} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "threads.db")
			plan, err := graph.Compile(graph.Graph[[]string, []string]{
				Apply: func(s, u []string) ([]string, error) {
					if slices.Equal(u, []string{"-"}) {
						return slices.Clip(s[:len(s)-1]), nil
					}
					return append(slices.Clip(s), u...), nil
				},
				Restore: func(now, then []string) ([][]string, error) {
					return slices.Repeat([][]string{{"-"}}, len(now)-len(then)), nil
				},
				Nodes: map[string]graph.Task[[]string, []string]{"a": {Run: func(context.Context, []string) ([]string, error) { return []string{"a"}, nil }}},
				Order: []string{"a"}, Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: "a", To: graph.End}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var began, completed atomic.Int64
			var runs sync.WaitGroup
			stores := []*checkpoint.SQLite{open(t, path), open(t, path)}
			for w, s := range stores {
				r := plan.Runner(graph.Options{Store: s, OnBusy: policy})
				for i := range 20 {
					runs.Go(func() {
						for e, err := range r.Run(t.Context(), graph.Request[[]string]{Thread: "t", Input: []string{fmt.Sprintf("r%d.%d", w, i)}}) {
							switch {
							case err != nil && !errors.Is(err, graph.ErrSuperseded) && !errors.Is(err, graph.ErrConflict):
								t.Errorf("run: %v", err)
							case e.Kind == graph.RunStarted:
								began.Add(1)
							case e.Kind == graph.RunEnded && e.Status == graph.Completed:
								completed.Add(1)
							}
						}
					})
				}
			}
			runs.Wait()
			var inputs, undone int64
			for c, err := range stores[0].Walk(t.Context(), "t", 0) {
				if err != nil {
					t.Fatal(err)
				}
				switch c.Source { //nolint:exhaustive // the others do not count
				case graph.SourceInput:
					inputs++
				case graph.SourceUndo:
					undone++
				}
			}
			if inputs != began.Load() || completed.Load() == 0 || policy == graph.Enqueue && completed.Load() != 40 {
				t.Errorf("%d inputs, %d began, %d completed", inputs, began.Load(), completed.Load())
			}
			state, _, err := plan.Runner(graph.Options{Store: stores[1]}).State(t.Context(), "t")
			got := int64(0)
			for _, w := range state {
				if strings.HasPrefix(w, "r") {
					got++
				}
			}
			if err != nil || got != inputs-undone {
				t.Errorf("%d inputs in the state, %v; want %d - %d", got, err, inputs, undone)
			}
			if found, err := stores[0].Verify(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("Verify: %v, %v", found, err)
			}
			for _, s := range stores {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A run whose input is refused leaves no row of its thread behind.
func TestThreadsThatWereNeverWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Verify(t.Context(), "t"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("the thread is in the file: %v, %v", found, err)
	}
	again, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{})
	if err != nil || again.Token <= l.Token {
		t.Errorf("token %d after %d, %v", again.Token, l.Token, err)
	}
	if err := s.Release(t.Context(), l); err != nil { // a lease that was lost
		t.Error(err)
	}
	if err := s.Renew(t.Context(), again, 0); err != nil {
		t.Error(err)
	}
}
