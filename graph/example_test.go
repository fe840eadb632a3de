package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
)

// must is for examples: graphs that are known to be sound.
func must[S, U any](g graph.Graph[S, U]) *graph.Plan[S, U] {
	p, err := graph.Compile(g)
	if err != nil {
		panic(err)
	}
	return p
}

// The smallest graph: a number, and a node that adds it to itself.
func Example() {
	plan, err := graph.Compile(graph.Graph[int, int]{
		Apply: func(s, u int) (int, error) { return s + u, nil },
		Nodes: map[string]graph.Task[int, int]{
			"double": {Run: func(_ context.Context, s int) (int, error) { return s, nil }},
		},
		Edges: []graph.Edge{{From: graph.Start, To: "double"}, {From: "double", To: graph.End}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[int]{Input: 21})
	fmt.Println(state, err)
	// Output: 42 <nil>
}

// All faults of a graph are told at once.
func ExampleCompile() {
	_, err := graph.Compile(graph.Graph[int, int]{
		Name:  "draft",
		Nodes: map[string]graph.Task[int, int]{"a": {}},
		Order: []string{"a"},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: "a", To: "b"}},
	})
	fmt.Println(err)
	// Output:
	// compile graph "draft": Apply is nil: reduce: int and int must be structs
	// node "a": Run is nil
	// edge "a" → "b": unknown node "b"
}

// Words are counted side by side; the results come in the order of the words.
func ExampleFanOut() {
	count := graph.FanOut(4,
		func(s string) []string { return strings.Fields(s) },
		func(_ context.Context, _, word string) (string, error) {
			return fmt.Sprintf(" %s=%d", word, len(word)), nil
		},
		func(_ string, parts []string) (string, error) { return strings.Join(parts, ""), nil })
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{"count": {Run: count}},
		Order: []string{"count"},
		Edges: []graph.Edge{{From: graph.Start, To: "count"}, {From: "count", To: graph.End}},
	})
	state, err := plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[string]{Input: "ab cde f"})
	fmt.Println(state, err)
	// Output: ab cde f ab=2 cde=3 f=1 <nil>
}

// halve divides by two until the number is odd.
func halve() *graph.Plan[int, int] {
	return must(graph.Graph[int, int]{
		Name:  "halve",
		Apply: func(s, u int) (int, error) { return s + u, nil },
		Nodes: map[string]graph.Task[int, int]{
			"halve": {Run: func(ctx context.Context, s int) (int, error) {
				graph.Emit(ctx, fmt.Sprintf("%d is even", s))
				return -s / 2, nil
			}},
		},
		Order: []string{"halve"},
		Edges: []graph.Edge{{From: graph.Start, To: "halve"}},
		Branches: []graph.Branch[int]{{
			From: "halve",
			Route: func(s int) string {
				if s%2 == 0 {
					return "halve"
				}
				return graph.End
			},
			To:    []string{"halve", graph.End},
			Label: map[string]string{"halve": "even", graph.End: "odd"},
		}},
	})
}

// A branch may lead back: the node runs until the branch leaves the loop.
func ExampleBranch() {
	fmt.Print(draw.Mermaid(halve().Shape()))
	state, err := halve().Runner(graph.Options{}).Invoke(context.Background(), graph.Request[int]{Input: 40})
	fmt.Println(state, err)
	// Output:
	// flowchart TD
	//     start([Start])
	//     n1["halve"]
	//     stop([End])
	//     start --> n1
	//     n1 -.->|"even"| n1
	//     n1 -.->|"odd"| stop
	// 5 <nil>
}

// Stream reports what nodes emit between the durable events.
func ExampleRunner_Stream() {
	r := halve().Runner(graph.Options{})
	for e, err := range r.Stream(context.Background(), graph.Request[int]{Input: 12}) {
		switch {
		case err != nil:
			fmt.Println(err)
		case e.Kind == graph.Custom:
			fmt.Println("  ", e.Value)
		case !e.Live:
			fmt.Println(e.Kind, e.Status, e.State, e.Next)
		}
	}
	// Output:
	// run_started running 12 [halve]
	//    12 is even
	// step_done running 6 [halve]
	//    6 is even
	// step_done completed 3 []
	// run_ended completed 3 []
}

// A run that failed is resumed where it stopped: what was done is not done
// again.
func ExampleRequest_resume() {
	offline := true
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{
			"search": {Run: func(context.Context, string) (string, error) { fmt.Println("searching"); return " found", nil }},
			"answer": {Run: func(context.Context, string) (string, error) {
				if offline {
					return "", errors.New("model is out of reach")
				}
				return " answered", nil
			}},
		},
		Order: []string{"search", "answer"},
		Edges: []graph.Edge{
			{From: graph.Start, To: "search"},
			{From: "search", To: "answer"},
			{From: "answer", To: graph.End},
		},
	})
	r := plan.Runner(graph.Options{Store: newMemStore()})
	ctx := context.Background()
	fmt.Println(r.Invoke(ctx, graph.Request[string]{Thread: "t1", Input: "asked"}))
	offline = false
	fmt.Println(r.Invoke(ctx, graph.Request[string]{Thread: "t1", Resume: true}))
	// Output:
	// searching
	// asked found node "answer", step 2: model is out of reach
	// asked found answered <nil>
}
