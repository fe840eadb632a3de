package main

import (
	"context"
	"strconv"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
	"example.com/ragflow/longterm"
)

// same is the input of a subgraph with the state of the graph around, and last its output.
func same(s State) State { return State{Topic: s.Topic} }

func last(_, end State) State { return State{Notes: end.Notes} }

func subgraph(ctx context.Context) (State, error) {
	// begin subgraph
	inner := line(tasks{"deep": say("deep")}, "deep")
	call := graph.Sub(inner,
		func(s State) State { return State{Topic: s.Topic} },
		func(_, end State) State { return State{Notes: end.Notes} })
	return line(tasks{"call": call}, "call").Runner(graph.Options{}).Invoke(ctx, ask{Input: State{Topic: "x"}})
	// end
}

func toParent(ctx context.Context) (State, error) {
	// begin goto of the graph around
	inner := line(tasks{"leave": say("left")}, "leave")
	plan := graph.MustCompile(flow{
		Nodes: tasks{
			"inner": graph.SubPick(inner, same, func(_, end State) (State, []string) { return note(end.Notes...), []string{"b"} }, "b", "c"),
			"b":     say("b"), "c": say("c"),
		},
		Edges: []graph.Edge{{From: graph.Start, To: "inner"}, {From: "b", To: graph.End}, {From: "c", To: graph.End}},
	})
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func remembers(ctx context.Context) (State, error) {
	// begin subgraph that remembers
	count := func(_ context.Context, s State) (State, error) { return note(strconv.Itoa(len(s.Notes))), nil }
	call := graph.SubFrom(line(tasks{"count": {Run: count}}, "count"),
		func(s State) State { return s }, // it continues from the state around it
		func(State) State { return State{} },
		func(_, end State) State { return note(end.Notes[len(end.Notes)-1:]...) })
	r := line(tasks{"call": call}, "call").Runner(graph.Options{Store: memstore.New()})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); err != nil {
		return State{}, err
	}
	return r.Invoke(ctx, ask{Thread: "1"})
	// end
}

func insideState(ctx context.Context) (State, error) {
	// begin state of a subgraph
	inner := line(tasks{"deep": say("deep"), "deeper": say("deeper")}, "deep", "deeper")
	store := memstore.New()
	r := line(tasks{"inner": graph.Sub(inner, same, last)}, "inner").Runner(graph.Options{Store: store, BreakBefore: []string{"inner/deeper"}})
	stops(ctx, r, ask{Thread: "1"})
	frames, err := inner.Inside(ctx, store, "1", 0, "inner")
	return frames[len(frames)-1].State, err
	// end
}

func facts(ctx context.Context) (State, error) {
	// begin facts across threads
	store, err := longterm.Open(ctx, ":memory:", longterm.Options{})
	if err != nil {
		return State{}, err
	}
	defer store.Close()
	remember := func(ctx context.Context, _ State) (State, error) {
		if err := store.Put(ctx, longterm.Namespace{"users", "ann"}, "diet", "no meat"); err != nil {
			return State{}, err
		}
		found, err := store.Search(ctx, longterm.Namespace{"users"}, longterm.Query{})
		return note(string(found[0].Value)), err
	}
	return line(tasks{"remember": {Run: remember}}, "remember").Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func setting(ctx context.Context) (State, error) {
	// begin settings of a run
	type Settings struct{ Name string }
	app := func(s Settings) runner {
		greet := func(context.Context, State) (State, error) { return note(s.Name), nil }
		return line(tasks{"greet": {Run: greet}}, "greet").Runner(graph.Options{})
	}
	return app(Settings{"ann"}).Invoke(ctx, ask{})
	// end
}

func whoAmI(ctx context.Context) (State, error) {
	// begin where a node runs
	node := func(ctx context.Context, _ State) (State, error) {
		at := graph.Info(ctx)
		return note(at.Thread, strconv.Itoa(at.Step)), nil
	}
	return line(tasks{"node": {Run: node}}, "node").Runner(graph.Options{Store: memstore.New()}).Invoke(ctx, ask{Thread: "1"})
	// end
}

// model calls a tool and then says its result.
type model struct{}

func (model) Model() string { return "model" }

func (model) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == llm.ToolResult {
		return llm.Response{Model: "model", Finish: llm.FinishStop, Text: last.Content}, nil
	}
	call := llm.ToolCall{ID: "1", Name: "add", Arguments: `{"A":2,"B":3}`}
	return llm.Response{Model: "model", Finish: llm.FinishTools, Calls: []llm.ToolCall{call}}, nil
}

func toolAgent(ctx context.Context) (State, error) {
	// begin agent with a tool
	type numbers struct{ A, B int }
	add := agent.Func("add", "Adds two numbers.", func(_ context.Context, n numbers) (int, error) { return n.A + n.B, nil })
	plan, err := agent.Compile(agent.Agent{Chat: model{}, Tools: []agent.Tool{add}})
	if err != nil {
		return State{}, err
	}
	s, err := plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[agent.Update]{Input: agent.Say("2 + 3?")})
	return note(s.Messages[len(s.Messages)-2].Content, s.Reply()), err
	// end
}
