package graph

import (
	"context"
	"strings"
	"testing"
)

// TestNoHook: without a hook a span costs nothing.
func TestNoHook(t *testing.T) {
	x := &run[int, int]{Runner: &Runner[int, int]{}}
	ctx := t.Context()
	n := testing.AllocsPerRun(100, func() {
		_, ended := x.span(ctx, SpanTask, "node", 0)
		ended(nil)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// noteReader is a hook that keeps the notes of each task and attempt as they are at its end.
type noteReader []string

func (h *noteReader) Begin(ctx context.Context, s Span) (context.Context, func(error)) {
	if s.Notes == nil {
		return ctx, nil
	}
	return ctx, func(error) { *h = append(*h, string(s.Kind)+" "+s.Notes().Details[0].Value) }
}

// TestSpanNotes: a hook reads what a task has noted when its span ends.
func TestSpanNotes(t *testing.T) {
	plan, err := Compile(Graph[int, int]{
		Apply: func(s, u int) (int, error) { return s + u, nil },
		Nodes: map[string]Task[int, int]{"count": {Run: func(ctx context.Context, s int) (int, error) {
			Note(ctx, "sources", "6")
			return 1, nil
		}}},
		Edges: []Edge{{From: Start, To: "count"}, {From: "count", To: End}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got noteReader
	if _, err := plan.Runner(Options{Hook: &got}).Invoke(t.Context(), Request[int]{}); err != nil {
		t.Fatal(err)
	}
	if want := "attempt 6, task 6"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
