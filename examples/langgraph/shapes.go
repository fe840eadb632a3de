package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/graph/reduce"
)

func twoNodes(ctx context.Context) (State, error) {
	// begin two nodes
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a"), "b": say("b")},
		Edges: graph.Chain(graph.Start, "a", "b", graph.End),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x"}})
	// end
}

func branch(ctx context.Context) (State, error) {
	// begin conditional edge
	long := func(s State) bool { return len(s.Topic) > 3 }
	plan := graph.MustCompile(flow{
		Nodes:    tasks{"short": say("short"), "long": say("long")},
		Edges:    []graph.Edge{{From: "short", To: graph.End}, {From: "long", To: graph.End}},
		Branches: []graph.Branch[State]{graph.If(graph.Start, long, "long", "short")},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "topic"}})
	// end
}

// words are the parts of a state.
func words(s State) []string { return strings.Fields(s.Topic) }

func mapReduce(ctx context.Context) (State, error) {
	// begin map-reduce
	work := graph.FanOut(0, words, func(_ context.Context, _ State, word string) (State, error) {
		return note(strings.ToUpper(word)), nil
	}, reduce.Merge)
	plan := graph.MustCompile(flow{
		Nodes: tasks{"work": {Run: work}},
		Edges: graph.Chain(graph.Start, "work", graph.End),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x y"}})
	// end
}

func jump(ctx context.Context) (State, error) {
	// begin goto
	pick := func(context.Context, State) (State, []string, error) {
		return note("picked"), []string{"b"}, nil
	}
	plan := graph.MustCompile(flow{
		Nodes: tasks{"pick": {Pick: pick, To: []string{"b", "c"}}, "b": say("b"), "c": say("c")},
		Edges: []graph.Edge{{From: graph.Start, To: "pick"}, {From: "b", To: graph.End}, {From: "c", To: graph.End}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func jumpToMany(ctx context.Context) (State, error) {
	// begin goto several
	pick := func(context.Context, State) (State, []string, error) {
		return note("picked"), []string{"b", "c"}, nil
	}
	plan := graph.MustCompile(flow{
		Nodes: tasks{"pick": {Pick: pick, To: []string{"b", "c"}}, "b": say("b"), "c": say("c")},
		Edges: []graph.Edge{{From: graph.Start, To: "pick"}, {From: "b", To: graph.End}, {From: "c", To: graph.End}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func partsGoOn(ctx context.Context) (State, error) {
	// begin parts that go on
	fan := graph.FanOut(0, words, func(_ context.Context, _ State, word string) (State, error) { return note(word), nil }, reduce.Merge)
	work := func(ctx context.Context, s State) (u State, next []string, err error) {
		u, err = fan(ctx, s)
		for _, word := range u.Notes {
			next = append(next, map[bool]string{true: "long", false: "short"}[len(word) > 3])
		}
		return u, next, err
	}
	plan := graph.MustCompile(flow{
		Nodes: tasks{"work": {Pick: work, To: []string{"long", "short"}}, "long": say("long"), "short": say("short")},
		Edges: []graph.Edge{{From: graph.Start, To: "work"}, {From: "long", To: graph.End}, {From: "short", To: graph.End}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "abcd x y"}})
	// end
}

func parallel(ctx context.Context) (State, error) {
	// begin side by side
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a"), "b": say("b"), "c": say("c"), "d": say("d")},
		Edges: slices.Concat(graph.Chain(graph.Start, "a", "b", "d", graph.End), graph.Chain("a", "c", "d")),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func join(ctx context.Context) (State, error) {
	// begin join
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a"), "b": say("b"), "c": say("c"), "d": {Run: say("d").Run, Wait: graph.Join}},
		Edges: slices.Concat(graph.Chain(graph.Start, "a", "d", graph.End), graph.Chain(graph.Start, "b", "c", "d")),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func deferred(ctx context.Context) (State, error) {
	// begin deferred node
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a"), "b": say("b"), "c": say("c"), "last": {Run: say("last").Run, Wait: graph.Last}},
		Edges: slices.Concat(graph.Chain(graph.Start, "a", "b", "c", graph.End), graph.Chain("a", "last", graph.End)),
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func loop(ctx context.Context) (State, error) {
	// begin loop
	plan := graph.MustCompile(flow{
		Nodes:    tasks{"a": say("a")},
		Edges:    graph.Chain(graph.Start, "a"),
		Branches: []graph.Branch[State]{graph.If("a", func(s State) bool { return len(s.Notes) < 3 }, "a", graph.End)},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func branches(ctx context.Context) (State, error) {
	// begin several branches
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a"), "b": say("b"), "c": say("c"), "d": say("d")},
		Edges: slices.Concat(graph.Chain(graph.Start, "a"), graph.Chain("b", graph.End), graph.Chain("c", graph.End), graph.Chain("d", graph.End)),
		Branches: []graph.Branch[State]{
			graph.If("a", func(s State) bool { return s.Topic != "" }, "b", graph.End),
			graph.If("a", func(s State) bool { return len(s.Notes) > 0 }, "c", "d"),
		},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x"}})
	// end
}

func conflict(ctx context.Context) (State, error) {
	// begin two writers
	set := func(topic string) graph.Task[State, State] {
		return graph.Task[State, State]{Run: func(context.Context, State) (State, error) { return State{Topic: topic}, nil }}
	}
	plan := graph.MustCompile(flow{
		Conflict: reduce.Conflict[State],
		Nodes:    tasks{"a": set("a"), "b": set("b")},
		Edges:    slices.Concat(graph.Chain(graph.Start, "a", graph.End), graph.Chain(graph.Start, "b", graph.End)),
	})
	_, err := plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	return note(fmt.Sprint(err != nil)), nil
	// end
}

func reducers(ctx context.Context) (State, error) {
	// begin reducers
	type Counts struct {
		Seen  map[string]int
		Total int `reduce:"add"`
	}
	count := func(name string, n int) graph.Task[Counts, Counts] {
		return graph.Task[Counts, Counts]{Run: func(context.Context, Counts) (Counts, error) { return Counts{map[string]int{name: n}, n}, nil }}
	}
	plan := graph.MustCompile(graph.Graph[Counts, Counts]{
		Nodes: map[string]graph.Task[Counts, Counts]{"a": count("a", 1), "b": count("b", 2)},
		Edges: graph.Chain(graph.Start, "a", "b", graph.End),
	})
	s, err := plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[Counts]{})
	return note(fmt.Sprint(len(s.Seen), s.Total)), err
	// end
}

func messages(ctx context.Context) (State, error) {
	// begin messages
	type Message struct{ ID, Text string }
	type Chat struct {
		Messages []Message `reduce:"messages"`
	}
	write := func(m Message) graph.Task[Chat, Chat] {
		return graph.Task[Chat, Chat]{Run: func(context.Context, Chat) (Chat, error) { return Chat{[]Message{m}}, nil }}
	}
	plan := graph.MustCompile(graph.Graph[Chat, Chat]{
		Nodes: map[string]graph.Task[Chat, Chat]{"a": write(Message{"1", "draft"}), "b": write(Message{"1", "final"})},
		Edges: graph.Chain(graph.Start, "a", "b", graph.End),
	})
	s, err := plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[Chat]{Input: Chat{[]Message{{"0", "hello"}}}})
	return note(s.Messages[0].Text, s.Messages[1].Text), err
	// end
}

func faults(context.Context) (State, error) {
	// begin faults of a graph
	_, err := graph.Compile(flow{
		Nodes: tasks{"a": say("a")},
		Edges: graph.Chain(graph.Start, "a", "nowhere"),
	})
	return note(fmt.Sprint(err != nil && strings.Contains(err.Error(), "nowhere"))), nil
	// end
}

func picture(context.Context) (State, error) {
	// begin picture
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": say("a")},
		Edges: graph.Chain(graph.Start, "a", graph.End),
	})
	return note(fmt.Sprint(strings.Contains(draw.Mermaid(plan.Shape()), "flowchart TD"))), nil
	// end
}
