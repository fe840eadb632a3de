package main

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
)

func stream(ctx context.Context) (State, error) {
	// begin streaming
	plan := graph.MustCompile(flow{Nodes: tasks{"a": say("a")}, Edges: graph.Chain(graph.Start, "a", graph.End)})
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

func values(ctx context.Context) (State, error) {
	// begin values
	var out []string
	for e, err := range line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{}).Run(ctx, ask{}) {
		if err != nil {
			return State{}, err
		}
		if e.Kind != graph.RunEnded {
			out = append(out, fmt.Sprint(len(e.State.Notes)))
		}
	}
	return note(out...), nil
	// end
}

func custom(ctx context.Context) (State, error) {
	// begin custom events
	work := func(ctx context.Context, _ State) (State, error) {
		graph.Emit(ctx, "half")
		return note("done"), nil
	}
	var out []string
	for e, err := range line(tasks{"work": {Run: work}}, "work").Runner(graph.Options{}).Stream(ctx, ask{Modes: graph.Customs}) {
		if err != nil {
			return State{}, err
		}
		if e.Kind == graph.Custom {
			out = append(out, fmt.Sprint(e.Value))
		}
	}
	return note(out...), nil
	// end
}

func tokens(ctx context.Context) (State, error) {
	// begin tokens
	talk := func(ctx context.Context, _ State) (State, error) {
		for _, word := range []string{"one", " ", "two"} {
			graph.EmitToken(ctx, word)
		}
		return note("one two"), nil
	}
	var out strings.Builder
	for e, err := range line(tasks{"talk": {Run: talk}}, "talk").Runner(graph.Options{}).Stream(ctx, ask{Modes: graph.Tokens}) {
		if err != nil {
			return State{}, err
		}
		if text, ok := graph.TokenOf(e); ok {
			out.WriteString(text)
		}
	}
	return note(out.String()), nil
	// end
}

func inside(ctx context.Context) (State, error) {
	// begin events of subgraphs
	outer := graph.Sub(line(tasks{"inner": say("deep")}, "inner"), same, last)
	var out []string
	for e, err := range line(tasks{"outer": outer}, "outer").Runner(graph.Options{}).Stream(ctx, ask{Modes: graph.Tasks}) {
		if err != nil {
			return State{}, err
		}
		if e.Kind == graph.TaskDone && e.Path != "" {
			out = append(out, e.Path+"/"+e.Node)
		}
	}
	return note(out...), nil
	// end
}

func taskEvents(ctx context.Context) (State, error) {
	// begin events of tasks
	var out []string
	for e, err := range line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{}).Stream(ctx, ask{Modes: graph.Tasks}) {
		if err != nil {
			return State{}, err
		}
		if e.Kind == graph.TaskStarted {
			out = append(out, e.Node)
		}
	}
	return note(out...), nil
	// end
}
