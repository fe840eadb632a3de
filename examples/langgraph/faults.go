package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

var (
	errBroken = errors.New("broken")
	errNever  = errors.New("never")
)

func retry(ctx context.Context) (State, error) {
	// begin retry
	flaky := func(ctx context.Context, _ State) (State, error) {
		if graph.Info(ctx).Attempt < 3 {
			return State{}, errors.New("flaky")
		}
		return note("third"), nil
	}
	plan := line(tasks{"flaky": {Run: flaky, Retry: graph.Retry{Attempts: 3, First: time.Millisecond}}}, "flaky")
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func retrySome(ctx context.Context) (State, error) {
	// begin retry of some errors
	tries := 0
	flaky := func(context.Context, State) (State, error) {
		tries++
		return State{}, errNever
	}
	some := graph.Retry{Attempts: 3, If: func(err error) bool { return errors.Is(err, errBroken) }}
	_, err := line(tasks{"flaky": {Run: flaky, Retry: some}}, "flaky").Runner(graph.Options{}).Invoke(ctx, ask{})
	return note(fmt.Sprint(tries, errors.Is(err, errNever))), nil
	// end
}

func handled(ctx context.Context) (State, error) {
	// begin error handler
	broken := func(context.Context, State) (State, error) { return State{}, errBroken }
	handler := graph.OnError[State, State]{Update: func(State, graph.Failure) State { return note("handled") }, To: "b"}
	plan := line(tasks{"a": {Run: broken, OnError: handler}, "b": say("b")}, "a", "b")
	return plan.Runner(graph.Options{}).Invoke(ctx, ask{})
	// end
}

func limited(ctx context.Context) (State, error) {
	// begin recursion limit
	plan := graph.MustCompile(flow{
		Nodes:    tasks{"a": say("a")},
		Edges:    graph.Chain(graph.Start, "a"),
		Branches: []graph.Branch[State]{graph.If("a", func(s State) bool { return s.Topic == "" }, "a", graph.End)},
	})
	_, err := plan.Runner(graph.Options{MaxSteps: 3}).Invoke(ctx, ask{})
	_, reached := errors.AsType[*graph.StepLimitError](err)
	return note(fmt.Sprint(reached)), nil
	// end
}

func stepsLeft(ctx context.Context) (State, error) {
	// begin steps left
	node := func(ctx context.Context, _ State) (State, error) {
		return note(fmt.Sprint(graph.Info(ctx).StepsLeft > 3)), nil
	}
	return line(tasks{"a": {Run: node}}, "a").Runner(graph.Options{MaxSteps: 9}).Invoke(ctx, ask{})
	// end
}

func cached(ctx context.Context) (State, error) {
	// begin cache
	runs := 0
	slow := func(context.Context, State) (State, error) {
		runs++
		return note(strconv.Itoa(runs)), nil
	}
	cache := &graph.Cache[State, State]{Key: func(s State) string { return s.Topic }, TTL: time.Minute}
	r := line(tasks{"slow": {Run: slow, Cache: cache}}, "slow").Runner(graph.Options{})
	first, err := r.Invoke(ctx, ask{Input: State{Topic: "x"}})
	second, again := r.Invoke(ctx, ask{Input: State{Topic: "x"}})
	return note(append(first.Notes, second.Notes...)...), errors.Join(err, again)
	// end
}

func siblings(ctx context.Context) (State, error) {
	// begin finished siblings
	var a, b atomic.Int32
	plan := graph.MustCompile(flow{
		Nodes: tasks{"a": {Run: func(context.Context, State) (State, error) {
			a.Add(1)
			return note("a"), nil
		}}, "b": {Run: func(context.Context, State) (State, error) {
			if b.Add(1) == 1 {
				return State{}, errBroken
			}
			return note("b"), nil
		}}},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: graph.Start, To: "b"}, {From: "a", To: graph.End}, {From: "b", To: graph.End}},
	})
	r := plan.Runner(graph.Options{Store: memstore.New(), Parallel: 1})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); !errors.Is(err, errBroken) {
		return State{}, err
	}
	_, err := r.Invoke(ctx, ask{Thread: "1", Resume: true})
	return note(fmt.Sprint(a.Load()), fmt.Sprint(b.Load())), err
	// end
}

func goOn(ctx context.Context) (State, error) {
	// begin resume after a failure
	tries := 0
	flaky := func(context.Context, State) (State, error) {
		if tries++; tries == 1 {
			return State{}, errBroken
		}
		return note("b"), nil
	}
	r := line(tasks{"a": say("a"), "b": {Run: flaky}}, "a", "b").Runner(graph.Options{Store: memstore.New()})
	if s, err := r.Invoke(ctx, ask{Thread: "1"}); !errors.Is(err, errBroken) {
		return s, err
	}
	return r.Invoke(ctx, ask{Thread: "1", Resume: true})
	// end
}

func memo(ctx context.Context) (State, error) {
	// begin what is done once
	did, tries := 0, 0
	node := func(ctx context.Context, _ State) (State, error) {
		n, err := graph.Once(ctx, "pay", func(context.Context, string) (int, error) {
			did++
			return did, nil
		})
		if tries++; tries == 1 {
			err = errBroken
		}
		return note(strconv.Itoa(n), strconv.Itoa(did)), err
	}
	r := line(tasks{"flow": {Run: node}}, "flow").Runner(graph.Options{Store: memstore.New()})
	if s, err := r.Invoke(ctx, ask{Thread: "1"}); !errors.Is(err, errBroken) {
		return s, err
	}
	return r.Invoke(ctx, ask{Thread: "1", Resume: true})
	// end
}
