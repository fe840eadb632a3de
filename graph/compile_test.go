package graph_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// sound is a graph without fault; each row below breaks it.
func sound() graph.Graph[list, item] {
	return graph.Graph[list, item]{
		Name: "g", Apply: appendItem,
		Nodes: tasks{"a": {Run: says("a")}, "b": {Run: says("b")}, "c": {Run: says("c")}},
		Order: []string{"a", "b", "c"},
		Edges: chain(graph.Start, "a", "b", "c"),
		Branches: []graph.Branch[list]{{
			From: "c", Route: func(list) string { return graph.End }, To: []string{"a", graph.End},
		}},
	}
}

func TestCompileFaults(t *testing.T) {
	type g = graph.Graph[list, item]
	edge := func(from, to string) func(*g) {
		return func(g *g) { g.Edges = append(g.Edges, graph.Edge{From: from, To: to}) }
	}
	end := func(list) string { return graph.End }
	for _, tt := range []struct {
		name  string
		spoil func(*g)
		want  []string
	}{
		{"sound", func(*g) {}, nil},
		{"nil Apply", func(g *g) { g.Apply = nil }, []string{"Apply is nil: reduce: graph_test.list has no field Add to set"}},
		{"nil Run", func(g *g) { g.Nodes["b"] = graph.Task[list, item]{} }, []string{`node "b": Run is nil`}},
		{"missing in order", func(g *g) { g.Order = []string{"a", "c"} }, []string{`order: node "b" is missing`}},
		{"twice in order", func(g *g) { g.Order = append(g.Order, "a") }, []string{`order: node "a" is listed twice`}},
		{"unknown in order", func(g *g) { g.Order = append(g.Order, "z") }, []string{`order: unknown node "z"`}},
		{"empty name", func(g *g) {
			g.Nodes[""] = graph.Task[list, item]{Run: says("")}
			g.Order = append(g.Order, "")
			edge("", graph.End)(g)
			edge(graph.Start, "")(g)
		}, []string{"a node has an empty name"}},
		{"reserved name", func(g *g) {
			g.Nodes["__x"] = graph.Task[list, item]{Run: says("")}
			g.Order = append(g.Order, "__x")
			edge("__x", graph.End)(g)
			edge(graph.Start, "__x")(g)
		}, []string{`node "__x": names beginning with __ are reserved`}},
		{"name like an address", func(g *g) {
			g.Nodes["a[0]"] = graph.Task[list, item]{Run: says("")}
			g.Order = append(g.Order, "a[0]")
			edge("a[0]", graph.End)(g)
			edge(graph.Start, "a[0]")(g)
		}, []string{`node "a[0]": names must not contain any of / # [, which separate the parts of an address`}},
		{"name that cannot be shown", func(g *g) {
			g.Nodes["x\n\xff"] = graph.Task[list, item]{Run: says("")}
			g.Order = append(g.Order, "x\n\xff")
			edge("x\n\xff", graph.End)(g)
			edge(graph.Start, "x\n\xff")(g)
		}, []string{`node "x\n\xff": names need printable characters`}},
		{"edge to unknown", edge("a", "z"), []string{`edge "a" → "z": unknown node "z"`}},
		{"edge from unknown", edge("z", "a"), []string{`edge "z" → "a": unknown node "z"`}},
		{"edge twice", edge("a", "b"), []string{`edge "a" → "b": listed twice`}},
		{"edge into Start", edge("a", graph.Start), []string{`edge "a" → "__start__": no edge can lead to Start`}},
		{"edge out of End", edge(graph.End, "a"), []string{`edge "__end__" → "a": no edge can leave End`}},
		{"edge past all nodes", edge(graph.Start, graph.End), []string{`edge "__start__" → "__end__": a run needs a node`}},
		{"no edge from Start", func(g *g) { g.Edges = g.Edges[1:] }, []string{
			"no edge leaves Start",
			`node "a": no path leads to it`, `node "b": no path leads to it`, `node "c": no path leads to it`,
		}},
		{"unreachable", func(g *g) { g.Edges[1].To = "c" }, []string{`node "b": no path leads to it`}},
		{"dead end", func(g *g) { g.Branches = nil }, []string{`node "c": dead end, it has no edge and no branch`}},
		{"no path to End", func(g *g) { g.Branches[0].To = []string{"a", "b"} }, []string{
			`node "a": no path to End`, `node "b": no path to End`, `node "c": no path to End`,
		}},
		{"unbounded cycle", func(g *g) { g.Branches = nil; edge("c", "b")(g) }, []string{`unbounded cycle b → c → b: no branch can leave it`}},
		{"cycle that another edge leaves", func(g *g) { g.Branches = nil; edge("c", "a")(g); edge("c", graph.End)(g) }, []string{`unbounded cycle a → b → c → a: no branch can leave it`}},
		{"edge and branch", edge("c", graph.End), nil},
		{"two branches", func(g *g) { g.Branches = append(g.Branches, g.Branches[0]) }, nil},
		{"branch from Start", func(g *g) {
			g.Branches = append(g.Branches, graph.Branch[list]{From: graph.Start, Route: end, To: []string{"a"}})
		}, nil},
		{"branch from Start to End", func(g *g) {
			g.Branches = append(g.Branches, graph.Branch[list]{From: graph.Start, Route: end, To: []string{"a", graph.End}})
		}, []string{"branch from Start: a run needs a node, so End cannot be a target"}},
		{"branch from unknown", func(g *g) {
			g.Branches = append(g.Branches, graph.Branch[list]{From: "z", Route: end, To: []string{"a"}})
		}, []string{`branch from "z": unknown node "z"`}},
		{"branch to unknown", func(g *g) { g.Branches[0].To = []string{"z", graph.End} }, []string{`branch from "c": unknown node "z"`}},
		{"branch into Start", func(g *g) { g.Branches[0].To = []string{graph.Start, graph.End} }, []string{`branch from "c": no path can lead to Start`}},
		{"branch target twice", func(g *g) { g.Branches[0].To = []string{"a", "a", graph.End} }, []string{`branch from "c": target "a" is listed twice`}},
		{"branch without targets", func(g *g) { g.Branches[0].To = nil }, []string{
			`branch from "c": To is empty`,
			`node "a": no path to End`, `node "b": no path to End`, `node "c": no path to End`,
		}},
		{"nil Route", func(g *g) { g.Branches[0].Route = nil }, []string{`branch from "c": Route is nil`}},
		{"label of no target", func(g *g) { g.Branches[0].Label = map[string]string{"b": "never"} }, []string{`branch from "c": label for "b", which is not a target`}},
		{"empty graph", func(empty *g) { *empty = g{Name: "g"} }, []string{"Apply is nil: reduce: graph_test.list has no field Add to set", "no edge leaves Start"}},
		{"all at once", func(g *g) {
			g.Apply = nil
			g.Nodes["b"] = graph.Task[list, item]{}
			g.Order = []string{"a", "b", "b", "c"}
			edge("b", "z")(g)
			edge("c", graph.End)(g)
		}, []string{
			"Apply is nil: reduce: graph_test.list has no field Add to set", `node "b": Run is nil`, `order: node "b" is listed twice`,
			`edge "b" → "z": unknown node "z"`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := sound()
			tt.spoil(&g)
			_, err := graph.Compile(g)
			var got []string
			if err != nil {
				got = strings.Split(strings.TrimPrefix(err.Error(), `compile graph "g": `), "\n")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// The work of Compile grows with the nodes of a chain, not with their square.
func TestCompileOfALongChain(t *testing.T) {
	compile := func(n int) uint64 {
		g := graph.Graph[list, item]{Apply: appendItem, Nodes: tasks{}}
		from := graph.Start
		for i := range n {
			name := fmt.Sprint("n", i)
			g.Nodes[name] = graph.Task[list, item]{Run: says("")}
			g.Edges = append(g.Edges, graph.Edge{From: from, To: name})
			from = name
		}
		g.Edges = append(g.Edges, graph.Edge{From: from, To: graph.End})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := graph.Compile(g); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if short, long := compile(100), compile(2_000); long > 60*short { // 20 times the nodes; the square would be 400
		t.Errorf("%d bytes allocated for 100 nodes, %d for 2,000", short, long)
	}
}

func TestFingerprint(t *testing.T) {
	print := func(change func(*graph.Graph[list, item])) string {
		g := sound()
		change(&g)
		p, err := graph.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint()
	}
	type g = graph.Graph[list, item]
	same := print(func(*g) {})
	for name, tt := range map[string]struct {
		change func(*g)
		same   bool
	}{
		"order of edges":   {func(g *g) { g.Edges[0], g.Edges[2] = g.Edges[2], g.Edges[0] }, true},
		"order of targets": {func(g *g) { g.Branches[0].To = []string{graph.End, "a"} }, true},
		"labels":           {func(g *g) { g.Branches[0].Label = map[string]string{"a": "again"} }, true},
		"name":             {func(g *g) { g.Name = "h" }, false},
		"version":          {func(g *g) { g.Version = "2" }, false},
		"order":            {func(g *g) { g.Order = []string{"b", "a", "c"} }, false},
		"targets":          {func(g *g) { g.Branches[0].To = []string{"a", "b", graph.End} }, false},
		"edges":            {func(g *g) { g.Edges[0].To = "b" }, false},
		"policies":         {func(g *g) { g.Nodes["a"] = graph.Task[list, item]{Run: says("a"), Retry: graph.Retry{Attempts: 3}} }, true},
		"wait":             {func(g *g) { g.Nodes["b"] = graph.Task[list, item]{Run: says("b"), Wait: graph.Join} }, false},
		"handler": {func(g *g) {
			g.Nodes["a"] = graph.Task[list, item]{Run: says("a"), OnError: graph.OnError[list, item]{Update: sorry, To: "c"}}
		}, false},
	} {
		if got := print(tt.change) == same; got != tt.same {
			t.Errorf("%s: same fingerprint = %v, want %v", name, got, tt.same)
		}
	}
}

// A plan does not change when the literal it came from does.
func TestPlanIsItsOwn(t *testing.T) {
	g := sound()
	p, err := graph.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	g.Edges[0].To, g.Order[0], g.Branches[0].To[1] = "c", "x", "b"
	clear(g.Nodes)
	s, err := p.Runner(graph.Options{}).Invoke(context.Background(), ask{})
	if err != nil || strings.Join(s.Items, "") != "abc" {
		t.Errorf("ran %v, %v", s.Items, err)
	}
	if want := []string{"a", "b", "c"}; !cmp.Equal(p.Nodes(), want) || p.Name() != "g" {
		t.Errorf("nodes %v of %q", p.Nodes(), p.Name())
	}
}

func add(s, u int) (int, error) { return s + u, nil }

// chain connects names one after the other.
func chain(names ...string) []graph.Edge {
	edges := []graph.Edge{}
	for i := 1; i < len(names); i++ {
		edges = append(edges, graph.Edge{From: names[i-1], To: names[i]})
	}
	return edges
}

// Without an Order, nodes rank as the edges name them.
func TestOrderByDefault(t *testing.T) {
	run := graph.Task[int, int]{Run: func(context.Context, int) (int, error) { return 1, nil }}
	p, err := graph.Compile(graph.Graph[int, int]{
		Apply: add,
		Nodes: map[string]graph.Task[int, int]{"a": run, "b": run, "z": run},
		Edges: append(chain(graph.Start, "z", "b", graph.End), chain("z", "a", graph.End)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Nodes(), []string{"z", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
