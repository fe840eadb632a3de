package graph_test

import (
	"context"
	"errors"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// One request starts a run, continues it after a failure, and starts the next one after its end.
func TestResumeOrStart(t *testing.T) {
	t.Parallel()
	fails := 1
	p := three(t, map[string]node{"a": says("a"), "b": func(context.Context, list) (item, error) {
		if fails--; fails >= 0 {
			return item{}, errFlaky
		}
		return item{"b"}, nil
	}, "c": says("c")})
	r := p.Runner(graph.Options{Store: memstore.New(), OnBusy: graph.Enqueue})
	q := ask{Thread: "t", Input: item{"in"}, ResumeOrStart: true}
	for i, want := range []struct {
		state string
		err   error
	}{{"ina", errFlaky}, {"inabcd", nil}, {"inabcdinabcd", nil}} {
		if s, err := r.Invoke(t.Context(), q); whole(s) != want.state || !errors.Is(err, want.err) {
			t.Errorf("call %d: %q, %v, want %v", i, whole(s), err, want)
		}
	}
	fails = 1
	if _, err := r.Invoke(t.Context(), q); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	other := build(t, "a", map[string]node{"a": says("a")}, "^ a, a $").Runner(graph.Options{Store: memstore.New()})
	if s, err := other.Invoke(t.Context(), ask{Input: item{"in"}, Thread: "t", ResumeOrStart: true}); err != nil || whole(s) != "ina" {
		t.Errorf("new thread: %q, %v", whole(s), err)
	}
	if s, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{Input: item{"in"}, ResumeOrStart: true}); err != nil || whole(s) != "inabcd" {
		t.Errorf("no store: %q, %v", whole(s), err)
	}
	both := q
	both.Resume = true
	if _, err := r.Invoke(t.Context(), both); err == nil {
		t.Error("Resume and ResumeOrStart: no error")
	}
	q.Answers = map[string]any{"k": true}
	if _, err := r.Invoke(t.Context(), q); err == nil {
		t.Error("answers: no error")
	}
}
