package graphtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"example.com/ragflow/graph"
)

func editClauses() []clause {
	return []clause{
		{"an edit as a node keeps the questions, results and breakpoints of the others", editAsNode},
	}
}

// editAsNode stops a run before the breakpoint d and at the questions of a and b, edits a, and resumes with the answer
// for b. Each call has a runner of its own, as after a restart.
func editAsNode(t *testing.T, s graph.Store) {
	t.Helper()
	var keys, ran []string
	charges := func(name string) graph.Task[[]string, []string] {
		return graph.Task[[]string, []string]{Run: func(ctx context.Context, _ []string) ([]string, error) {
			ran = append(ran, name)
			_, err := graph.Once(ctx, "charge", func(_ context.Context, key string) (int, error) {
				keys = append(keys, key)
				return 1, nil
			})
			if err != nil {
				return nil, err
			}
			answer, err := graph.Ask[string](ctx, name, name+"?")
			return []string{name + answer}, err
		}}
	}
	says := func(name string) graph.Task[[]string, []string] {
		return graph.Task[[]string, []string]{Run: func(context.Context, []string) ([]string, error) {
			ran = append(ran, name)
			return []string{name}, nil
		}}
	}
	z := says("z")
	z.Wait = graph.Join
	plan, err := graph.Compile(graph.Graph[[]string, []string]{
		Name:  "edits",
		Apply: func(s, u []string) ([]string, error) { return append(slices.Clip(s), u...), nil },
		Nodes: map[string]graph.Task[[]string, []string]{"d": says("d"), "a": charges("a"), "b": charges("b"), "c": says("c"), "z": z},
		Order: []string{"d", "a", "b", "c", "z"},
		Edges: []graph.Edge{
			{From: graph.Start, To: "d"}, {From: "d", To: "a"}, {From: "d", To: "b"}, {From: "a", To: "c"}, {From: "c", To: "z"}, {From: "b", To: "z"}, {From: "z", To: graph.End},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := graph.Options{Store: s, Parallel: 1, BreakBefore: []string{"d", "a", "c"}}
	call := func(want string, q graph.Request[[]string]) {
		t.Helper()
		q.Thread = "t"
		_, err := plan.Runner(o).Invoke(t.Context(), q)
		got := "end"
		if stop, ok := errors.AsType[*graph.InterruptError](err); ok {
			got = stop.Error()
		} else if err != nil {
			got = err.Error()
		}
		wantEqual(t, "stop", got, want)
	}
	edit := func(as string) {
		t.Helper()
		if _, _, err := plan.Runner(graph.Options{Store: s}).Update(t.Context(), graph.Edit[[]string, []string]{Thread: "t", As: as, Updates: [][]string{{"edit"}}}); err != nil {
			t.Fatal(err)
		}
	}
	resume := graph.Request[[]string]{Resume: true}
	answer := graph.Request[[]string]{Resume: true, Answers: map[string]any{"b": "!"}}
	call(`stopped before ["d"]`, graph.Request[[]string]{})
	edit("d")
	call(`stopped before ["a"]`, resume)
	edit("d")
	call(`waits for answers to "a/a", "b/b"`, resume)
	edit("a")
	call(`stopped before ["c"]`, answer)
	call("end", resume)
	wantEqual(t, "charges", len(keys), 2)
	wantEqual(t, "nodes that ran", ran, []string{"a", "b", "b", "c", "z"})
	state, _, err := plan.Runner(o).State(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "state", state, []string{"edit", "edit", "edit", "b!", "c", "z"})
}
