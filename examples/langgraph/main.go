// Command langgraph shows what users of LangGraph know, block by block; blocks.py does the same with LangGraph.
// The test counts the lines of both.
//
//	go run ./examples/langgraph
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/reduce"
)

// begin state

// State is also the update: notes are appended, a topic replaces.
type State struct {
	Topic string
	Notes []string
}

// end

type (
	tasks = map[string]graph.Task[State, State]
	flow  = graph.Graph[State, State]
	ask   = graph.Request[State]
)

var reducer = reduce.Apply[State, State]() //nolint:gochecknoglobals // one reducer for all blocks

func say(text string) graph.Task[State, State] {
	return graph.Task[State, State]{Run: func(context.Context, State) (State, error) { return State{Notes: []string{text}}, nil }}
}

func twoNodes(ctx context.Context) (State, error) {
	// begin two nodes
	plan := graph.MustCompile(flow{
		Apply: reducer,
		Nodes: tasks{"a": say("a"), "b": say("b")},
		Edges: graph.Chain(graph.Start, "a", "b", graph.End),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x"}})
	// end
}

func branch(ctx context.Context) (State, error) {
	// begin conditional edge
	route := func(s State) string {
		if len(s.Topic) > 3 {
			return "long"
		}
		return "short"
	}
	plan := graph.MustCompile(flow{
		Apply:    reducer,
		Nodes:    tasks{"short": say("short"), "long": say("long")},
		Edges:    []graph.Edge{{From: "short", To: graph.End}, {From: "long", To: graph.End}},
		Branches: []graph.Branch[State]{{From: graph.Start, Route: route, To: []string{"short", "long"}}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "topic"}})
	// end
}

func mapReduce(ctx context.Context) (State, error) {
	// begin map-reduce
	work := graph.FanOut(0,
		func(s State) []string { return strings.Fields(s.Topic) },
		func(_ context.Context, _ State, word string) (State, error) {
			return State{Notes: []string{strings.ToUpper(word)}}, nil
		},
		func(_ State, parts []State) (State, error) {
			var all State
			for _, p := range parts {
				all.Notes = append(all.Notes, p.Notes...)
			}
			return all, nil
		})
	plan := graph.MustCompile(flow{
		Apply: reducer,
		Nodes: tasks{"work": {Run: work}},
		Edges: graph.Chain(graph.Start, "work", graph.End),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x y"}})
	// end
}

func asks(ctx context.Context) (State, error) {
	// begin interrupt and resume
	question := func(ctx context.Context, _ State) (State, error) {
		answer, err := graph.Ask[string](ctx, "go", "go on?")
		return State{Notes: []string{answer}}, err
	}
	plan := graph.MustCompile(flow{
		Apply: reducer,
		Nodes: tasks{"ask": {Run: question}},
		Edges: graph.Chain(graph.Start, "ask", graph.End),
	})
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	if s, err := runner.Invoke(ctx, ask{Thread: "1"}); err == nil {
		return s, errors.New("it did not ask")
	}
	return runner.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: map[string]any{"go": "yes"}})
	// end
}

func retry(ctx context.Context) (State, error) {
	// begin retry
	flaky := func(ctx context.Context, _ State) (State, error) {
		if graph.Info(ctx).Attempt < 3 {
			return State{}, errors.New("flaky")
		}
		return State{Notes: []string{"third"}}, nil
	}
	plan := graph.MustCompile(flow{
		Apply: reducer,
		Nodes: tasks{"flaky": {Run: flaky, Retry: graph.Retry{Attempts: 3, First: time.Millisecond}}},
		Edges: graph.Chain(graph.Start, "flaky", graph.End),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func subgraph(ctx context.Context) (State, error) {
	// begin subgraph
	inner := graph.MustCompile(flow{Apply: reducer, Nodes: tasks{"deep": say("deep")}, Edges: graph.Chain(graph.Start, "deep", graph.End)})
	call := graph.Sub(inner,
		func(s State) State { return State{Topic: s.Topic} },
		func(_, end State) State { return State{Notes: end.Notes} })
	plan := graph.MustCompile(flow{Apply: reducer, Nodes: tasks{"call": call}, Edges: graph.Chain(graph.Start, "call", graph.End)})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x"}})
	// end
}

func stream(ctx context.Context) (State, error) {
	// begin streaming
	plan := graph.MustCompile(flow{Apply: reducer, Nodes: tasks{"a": say("a")}, Edges: graph.Chain(graph.Start, "a", graph.End)})
	var last State
	for e, err := range plan.Runner(graph.Options{}).Run(ctx, ask{}) {
		if err != nil {
			return last, err
		}
		last = e.State
	}
	return last, nil
	// end
}

func memory(ctx context.Context) (State, error) {
	// begin checkpointer
	plan := graph.MustCompile(flow{Apply: reducer, Nodes: tasks{"a": say("a")}, Edges: graph.Chain(graph.Start, "a", graph.End)})
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	for _, topic := range []string{"x", "y"} {
		if _, err := runner.Invoke(ctx, ask{Thread: "1", Input: State{Topic: topic}}); err != nil {
			return State{}, err
		}
	}
	s, _, err := runner.State(ctx, "1")
	return s, err
	// end
}

func travel(ctx context.Context) (State, error) {
	// begin time travel
	plan := graph.MustCompile(flow{Apply: reducer, Nodes: tasks{"a": say("a")}, Edges: graph.Chain(graph.Start, "a", graph.End)})
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	for _, topic := range []string{"x", "y"} {
		if _, err := runner.Invoke(ctx, ask{Thread: "1", Input: State{Topic: topic}}); err != nil {
			return State{}, err
		}
	}
	history, err := runner.History(ctx, "1", 0, 3) // newest first: y's step, y's input, x's step
	if err != nil {
		return State{}, err
	}
	return history[2].State, nil
	// end
}

func jump(ctx context.Context) (State, error) {
	// begin goto
	pick := func(context.Context, State) (State, []string, error) {
		return State{Notes: []string{"picked"}}, []string{"b"}, nil
	}
	plan := graph.MustCompile(flow{
		Apply: reducer,
		Nodes: tasks{"pick": {Pick: pick, To: []string{"b", "c"}}, "b": say("b"), "c": say("c")},
		Edges: []graph.Edge{{From: graph.Start, To: "pick"}, {From: "b", To: graph.End}, {From: "c", To: graph.End}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func blocks() []func(context.Context) (State, error) {
	return []func(context.Context) (State, error){twoNodes, branch, mapReduce, asks, retry, subgraph, stream, memory, travel, jump}
}

func main() {
	for _, block := range blocks() {
		s, err := block(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(strings.Join(s.Notes, " "))
	}
}
