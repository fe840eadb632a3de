package graph

import (
	"context"
	"fmt"
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

// spanReader is a hook that keeps the state of each run when it begins and ends, and the notes of each task and attempt
// when it ends.
type spanReader []string

func (h *spanReader) Begin(ctx context.Context, s Span) (context.Context, func(error)) {
	switch {
	case s.State != nil:
		*h = append(*h, fmt.Sprint(s.Kind, " begins with ", s.State()))
		return ctx, func(error) { *h = append(*h, fmt.Sprint(s.Kind, " ends with ", s.State())) }
	case s.Notes != nil:
		return ctx, func(error) { *h = append(*h, string(s.Kind)+" "+s.Notes().Details[0].Value) }
	}
	return ctx, nil
}

// TestSpans: a hook reads what a task has noted when its span ends, and the state of a run when that begins and ends.
func TestSpans(t *testing.T) {
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
	var got spanReader
	if _, err := plan.Runner(Options{Hook: &got}).Invoke(t.Context(), Request[int]{Input: 1}); err != nil {
		t.Fatal(err)
	}
	if want := "run begins with 1, attempt 6, task 6, run ends with 2"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
