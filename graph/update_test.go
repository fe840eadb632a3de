package graph_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

type edit = graph.Edit[list, item]

// adds is an edit's Change that appends words.
func adds(words ...string) func(context.Context, list, graph.Commit) ([]item, error) {
	return func(context.Context, list, graph.Commit) ([]item, error) {
		var out []item
		for _, w := range words {
			out = append(out, item{w})
		}
		return out, nil
	}
}

func TestUpdate(t *testing.T) {
	store := newMemStore()
	r := build(t, "a", map[string]node{"a": says("a")}, "^ a, a $").Runner(graph.Options{Store: store, CheckCodec: true})
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", Change: adds("x")}); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("update of no thread: error = %v, want ErrNotFound", err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}}); err != nil {
		t.Fatal(err)
	}
	got, at, err := r.Update(t.Context(), edit{Thread: "t", Change: func(_ context.Context, s list, head graph.Commit) ([]item, error) {
		if !slices.Equal(s.Items, []string{"in", "a"}) || head.ID == 0 {
			t.Errorf("given %v at %d", s, head.ID)
		}
		return []item{{"x"}, {"y"}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := list{[]string{"in", "a", "x", "y"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	stored, head, err := r.State(t.Context(), "t")
	if err != nil || head.ID != at || head.Source != graph.SourceUpdate || head.Status != graph.Completed || len(head.Frontier) != 0 {
		t.Errorf("head = %+v, %v, want a completed update with id %d", head, err, at)
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("stored state (-want +got):\n%s", diff)
	}
	if _, same, err := r.Update(t.Context(), edit{Thread: "t", Change: adds()}); err != nil || same != at {
		t.Errorf("an update of nothing: commit %d, %v, want %d", same, err, at)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", Change: adds("x", "bad")}); !errors.Is(err, errRefused) {
		t.Errorf("error = %v, want errRefused", err)
	}
	if after, _, err := r.State(t.Context(), "t"); err != nil || len(after.Items) != 4 {
		t.Errorf("after a refused update: %v, %v", after, err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"next"}}); err != nil {
		t.Errorf("the thread is not free after updates: %v", err)
	}
}

func TestUpdateClosesAnUnfinishedRun(t *testing.T) {
	store := newMemStore()
	r := build(t, "a", map[string]node{"a": fails(errRefused)}, "^ a, a $").Runner(graph.Options{Store: store})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	got, _, err := r.Update(t.Context(), edit{Thread: "t", Source: graph.SourceUndo, Change: adds("x")})
	if err != nil || !slices.Equal(got.Items, []string{"in", "x"}) {
		t.Errorf("state = %v, %v", got, err)
	}
	var sources []graph.Source
	for c, err := range store.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, c.Source)
	}
	want := []graph.Source{graph.SourceUndo, graph.SourceClose, graph.SourceClose, graph.SourceInput}
	if diff := cmp.Diff(want, sources); diff != "" {
		t.Errorf("sources, newest first (-want +got):\n%s", diff)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); !errors.Is(err, graph.ErrNothingToDo) {
		t.Errorf("resume after an update: error = %v, want ErrNothingToDo", err)
	}
}

// TestDrain closes the channel while a node runs: that step is saved, the next
// one is not begun, and a resume continues there.
func TestDrain(t *testing.T) {
	store, drain := newMemStore(), make(chan struct{})
	ran := 0
	p := build(t, "a b", map[string]node{
		"a": func(context.Context, list) (item, error) { ran++; close(drain); return item{"a"}, nil },
		"b": says("b"),
	}, "^ a, a b, b $")
	got, err := p.Runner(graph.Options{Store: store, Drain: drain}).Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}})
	if !errors.Is(err, graph.ErrDrained) || !slices.Equal(got.Items, []string{"in", "a"}) {
		t.Errorf("drained run: %v, %v", got, err)
	}
	_, head, err := p.Runner(graph.Options{Store: store}).State(t.Context(), "t")
	if err != nil || head.Status != graph.Interrupted || !slices.Equal(head.Frontier, []string{"b"}) {
		t.Errorf("head = %+v, %v, want interrupted before b", head, err)
	}
	got, err = p.Runner(graph.Options{Store: store}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || !slices.Equal(got.Items, []string{"in", "a", "b"}) || ran != 1 {
		t.Errorf("resumed: %v, %v; a ran %d times", got, err, ran)
	}
}
