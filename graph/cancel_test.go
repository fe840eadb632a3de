package graph_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// slowly is a → b; b takes a minute or until it is cancelled.
func slowly(t *testing.T) *graph.Plan[list, item] {
	t.Helper()
	return must(graph.Graph[list, item]{
		Apply: appendItem, Edges: graph.Chain(graph.Start, "a", "b", graph.End),
		Nodes: tasks{"a": {Run: says("a")}, "b": {Run: func(ctx context.Context, _ list) (item, error) {
			select {
			case <-time.After(time.Minute):
				return item{"b"}, nil
			case <-ctx.Done():
				return item{}, ctx.Err()
			}
		}}},
	})
}

// A run ends when it is cancelled, by its own runner or another one on the same store, and can be resumed.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		foreign bool
		run     string
		want    error
	}{
		"its runner":          {false, "r", graph.ErrCancelled},
		"its runner, any run": {false, "", graph.ErrCancelled},
		"another runner":      {true, "r", graph.ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := memstore.New(), slowly(t)
				owner, other := p.Runner(graph.Options{Store: s}), p.Runner(graph.Options{Store: s})
				ended := make(chan error, 1)
				go func() {
					_, err := owner.Invoke(t.Context(), ask{Thread: "t", Run: "r"})
					ended <- err
				}()
				time.Sleep(time.Second) // b runs
				if err := other.Cancel(t.Context(), "t", "another"); !errors.Is(err, graph.ErrNotFound) {
					t.Errorf("another run: %v", err)
				}
				by := owner
				if tt.foreign {
					by = other
				}
				if err := by.Cancel(t.Context(), "t", tt.run); err != nil {
					t.Fatal(err)
				}
				state, head, err := other.State(t.Context(), "t")
				if err != nil || head.Status != graph.Cancelled || head.Run != "r" || whole(state) != "a" {
					t.Errorf("%q, %s %s, %v", whole(state), head.Run, head.Status, err)
				}
				if err := <-ended; !errors.Is(err, tt.want) {
					t.Errorf("its error is %v, want %v", err, tt.want)
				}
				if state, err := other.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(state) != "ab" {
					t.Errorf("resumed: %q, %v", whole(state), err)
				}
				for _, r := range []*runner{owner, other} {
					if ended, ok := errors.AsType[*graph.MoveError](r.Cancel(t.Context(), "t", "r")); !ok || ended.From != graph.Completed {
						t.Errorf("a run that has ended: %v", ended)
					}
				}
			})
		})
	}
}

// A run that waits for a person can be cancelled, and its question is still open when it is resumed.
func TestCancelKeepsQuestions(t *testing.T) {
	t.Parallel()
	ran := 0
	r := three(t, map[string]node{"a": says("a"), "b": asks(&ran, "k"), "c": says("c")}).Runner(graph.Options{Store: memstore.New()})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); len(ids(err)) != 1 {
		t.Fatal(err)
	}
	if err := r.Cancel(t.Context(), "t", ""); err != nil {
		t.Fatal(err)
	}
	if ended, ok := errors.AsType[*graph.MoveError](r.Cancel(t.Context(), "t", "")); !ok || ended.From != graph.Cancelled {
		t.Errorf("cancelled twice: %v", ended)
	}
	if s, err := r.Invoke(t.Context(), answered("k")); err != nil || whole(s) != "ak:yescd" {
		t.Errorf("%q, %v", whole(s), err)
	}
	if err := r.Cancel(t.Context(), "nowhere", ""); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("unknown thread: %v", err)
	}
	if err := three(t, map[string]node{"a": says("a"), "b": says("b"), "c": says("c")}).Runner(graph.Options{}).Cancel(t.Context(), "t", ""); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("no store: %v", err)
	}
}
