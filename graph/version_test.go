package graph_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// versioned is a graph whose Apply differs between its versions: "2" writes capitals.
func versioned(t *testing.T, version string, o graph.Options) *runner {
	t.Helper()
	g := graph.Graph[list, item]{
		Name: "test", Version: version, Nodes: tasks{"a": {Run: says("a")}},
		Edges: chain(graph.Start, "a", graph.End),
		Apply: func(s list, u item) (list, error) {
			if version == "2" {
				u.Add = strings.ToUpper(u.Add)
			}
			return appendItem(s, item{u.Add[:min(len(u.Add), 100)]})
		},
	}
	return must(g).Runner(o)
}

// Another version of a graph must not fold the updates of an idle thread in its own way.
func TestVersionGuardsTheFold(t *testing.T) {
	store := memstore.New()
	if _, err := versioned(t, "1", graph.Options{Store: store}).Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}}); err != nil {
		t.Fatal(err)
	}
	later := versioned(t, "2", graph.Options{Store: store})
	for name, read := range map[string]func() error{
		"state":   func() error { _, _, err := later.State(t.Context(), "t"); return err },
		"history": func() error { _, err := later.History(t.Context(), "t", 0, 5); return err },
		"turn":    func() error { _, err := later.Invoke(t.Context(), ask{Thread: "t", Input: item{"x"}}); return err },
		"update": func() error {
			_, _, err := later.Update(t.Context(), edit{Thread: "t", Change: adds("x")})
			return err
		},
	} {
		if err := read(); !errors.Is(err, graph.ErrGraphChanged) || !strings.Contains(err.Error(), `version "1"`) {
			t.Errorf("%s: error %v, want ErrGraphChanged with the version", name, err)
		}
	}
	asked := 0
	o := graph.Options{Store: store, Migrate: func(head graph.Commit) ([]string, error) { asked++; return head.Frontier, nil }}
	if s, err := versioned(t, "2", o).Invoke(t.Context(), ask{Thread: "t", Input: item{"x"}}); err != nil || !slices.Equal(s.Items, []string{"IN", "A", "X", "A"}) {
		t.Errorf("migrated: %v, %v", s, err)
	}
	if asked == 0 {
		t.Error("Migrate was not asked")
	}
	// From now on the thread is of version 2: the migrated state was saved as a snapshot.
	if s, _, err := later.State(t.Context(), "t"); err != nil || !slices.Equal(s.Items, []string{"IN", "A", "X", "A"}) {
		t.Errorf("state after migration: %v, %v", s, err)
	}
}

// A run that logged far more bytes than the state holds ends with a snapshot, which any version reads.
func TestSnapshotOutlivesTheVersion(t *testing.T) {
	store, long := memstore.New(), strings.Repeat("x", 10<<10)
	if _, err := versioned(t, "1", graph.Options{Store: store}).Invoke(t.Context(), ask{Thread: "t", Input: item{long}}); err != nil {
		t.Fatal(err)
	}
	if s, _, err := versioned(t, "2", graph.Options{Store: store}).State(t.Context(), "t"); err != nil || !slices.Equal(s.Items, []string{long[:100], "a"}) {
		t.Errorf("%v, %v", len(s.Items), err)
	}
}

// The node whose update makes the state a number that JSON cannot hold is named, and nothing is saved.
func TestNotANumberNamesTheNode(t *testing.T) {
	type state struct {
		Ratio map[string][]float64
		Next  *state
	}
	count := func(_ context.Context, s state) (float64, error) { return 1, nil }
	zero := func(context.Context, state) (float64, error) { return 0, nil }
	r := must(graph.Graph[state, float64]{
		Apply: func(s state, u float64) (state, error) {
			return state{Next: &state{Ratio: map[string][]float64{"x": {1 / u}}}}, nil
		},
		Nodes: map[string]graph.Task[state, float64]{"count": {Run: count}, "zero": {Run: zero}},
		Edges: []graph.Edge{{From: graph.Start, To: "count"}, {From: graph.Start, To: "zero"}, {From: "count", To: graph.End}, {From: "zero", To: graph.End}},
	}).Runner(graph.Options{Store: memstore.New()})
	_, err := r.Invoke(t.Context(), graph.Request[float64]{Thread: "t", Input: 1})
	failed, ok := errors.AsType[*graph.NodeError](err)
	if !ok || failed.Node != "zero" || !strings.Contains(err.Error(), "Next.Ratio[x][0] is +Inf") {
		t.Errorf("error %v, want the node and the field", err)
	}
	if s, head, err := r.State(t.Context(), "t"); err != nil || s.Next.Ratio["x"][0] != 1 || head.Status != graph.Failed {
		t.Errorf("%v at %v, %v; want the state before the step", s.Next, head.Status, err)
	}
	if _, err := r.Invoke(t.Context(), graph.Request[float64]{Thread: "u", Input: math.Copysign(0, -1)}); err == nil || !strings.Contains(err.Error(), "is -Inf") {
		t.Errorf("input: %v", err)
	}
}
