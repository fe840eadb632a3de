package main

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

func asks(ctx context.Context) (State, error) {
	// begin interrupt and resume
	question := func(ctx context.Context, _ State) (State, error) {
		answer, err := graph.Ask[string](ctx, "go", "go on?")
		return note(answer), err
	}
	plan := graph.MustCompile(flow{
		Nodes: tasks{"ask": {Run: question}},
		Edges: graph.Chain(graph.Start, "ask", graph.End),
	})
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	stops(ctx, runner, ask{Thread: "1"})
	return runner.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: map[string]any{"go": "yes"}})
	// end
}

// asking is a node with a question.
func asking(key string) graph.Task[State, State] {
	return graph.Task[State, State]{Run: func(ctx context.Context, _ State) (State, error) {
		answer, err := graph.Ask[string](ctx, key, key)
		return note(answer), err
	}}
}

func twoQuestions(ctx context.Context) (State, error) {
	// begin two questions
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": asking("a"), "b": asking("b")},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: graph.Start, To: "b"}, {From: "a", To: graph.End}, {From: "b", To: graph.End}},
	})
	r := plan.Runner(graph.Options{Store: memstore.New()})
	_, asked := stops(ctx, r, ask{Thread: "1"})
	answers := map[string]any{}
	for _, q := range asked {
		answers[q.ID()] = strings.ToUpper(q.Key)
	}
	return r.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: answers})
	// end
}

func validAnswer(ctx context.Context) (State, error) {
	// begin answer that is checked
	type answer struct {
		Word string `json:"word" enum:"yes,no"`
	}
	question := func(ctx context.Context, _ State) (State, error) {
		a, err := graph.Ask[answer](ctx, "sure", "yes or no?")
		return note(a.Word), err
	}
	r := line(tasks{"ask": {Run: question}}, "ask").Runner(graph.Options{Store: memstore.New()})
	stops(ctx, r, ask{Thread: "1"})
	_, refused := r.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: map[string]any{"sure": answer{"perhaps"}}})
	s, err := r.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: map[string]any{"sure": answer{"no"}}})
	return note(fmt.Sprint(refused != nil), s.Notes[0]), err
	// end
}

func stopBefore(ctx context.Context) (State, error) {
	// begin breakpoint before
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}})
	first, _ := stops(ctx, r, ask{Thread: "1"})
	s, err := r.Invoke(ctx, ask{Thread: "1", Resume: true})
	return note(append(first.Notes, s.Notes...)...), err
	// end
}

func stopAfter(ctx context.Context) (State, error) {
	// begin breakpoint after
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New(), BreakAfter: []string{"a"}})
	first, _ := stops(ctx, r, ask{Thread: "1"})
	s, err := r.Invoke(ctx, ask{Thread: "1", Resume: true})
	return note(append(first.Notes, s.Notes...)...), err
	// end
}

func whatIsNext(ctx context.Context) (State, error) {
	// begin what is next
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}})
	stops(ctx, r, ask{Thread: "1"})
	_, head, err := r.State(ctx, "1")
	return note(head.Frontier...), err
	// end
}

func edit(ctx context.Context) (State, error) {
	// begin edit at a stop
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}})
	stops(ctx, r, ask{Thread: "1"})
	if _, _, err := r.Update(ctx, change{Thread: "1", Updates: []State{note("edited")}}); err != nil {
		return State{}, err
	}
	return r.Invoke(ctx, ask{Thread: "1", Resume: true})
	// end
}

func editAs(ctx context.Context) (State, error) {
	// begin edit as a node
	r := line(tasks{"a": say("a"), "b": say("b"), "c": say("c")}, "a", "b", "c").Runner(graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}})
	stops(ctx, r, ask{Thread: "1"})
	if _, _, err := r.Update(ctx, change{Thread: "1", As: "b", Updates: []State{note("instead of b")}}); err != nil {
		return State{}, err
	}
	return r.Invoke(ctx, ask{Thread: "1", Resume: true})
	// end
}

func resumeWithUpdate(ctx context.Context) (State, error) {
	// begin resume with an update
	question := func(ctx context.Context, _ State) (State, error) {
		answer, err := graph.Ask[string](ctx, "k", "?")
		return note(answer), err
	}
	r := line(tasks{"ask": {Run: question}}, "ask").Runner(graph.Options{Store: memstore.New()})
	stops(ctx, r, ask{Thread: "1"})
	return r.Invoke(ctx, ask{Thread: "1", Resume: true, Updates: []State{note("by the way")}, Answers: map[string]any{"k": "yes"}})
	// end
}

func askInside(ctx context.Context) (State, error) {
	// begin question in a subgraph
	question := func(ctx context.Context, _ State) (State, error) {
		answer, err := graph.Ask[string](ctx, "k", "?")
		return note(answer), err
	}
	inner := graph.Sub(line(tasks{"ask": {Run: question}}, "ask"), same, last)
	r := line(tasks{"a": say("a"), "inner": inner}, "a", "inner").Runner(graph.Options{Store: memstore.New()})
	stops(ctx, r, ask{Thread: "1"})
	s, err := r.Invoke(ctx, ask{Thread: "1", Resume: true, Answers: map[string]any{"k": "yes"}})
	return note(s.Notes[len(s.Notes)-1:]...), err
	// end
}
