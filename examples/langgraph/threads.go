package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

func memory(ctx context.Context) (State, error) {
	// begin checkpointer
	plan := graph.MustCompile(flow{Nodes: tasks{"a": say("a")}, Edges: graph.Chain(graph.Start, "a", graph.End)})
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
	r := lived(ctx)
	history, err := r.History(ctx, "1", 0, 3)
	var words []string
	for _, moment := range history {
		words = append(words, cmp.Or(strings.Join(moment.State.Notes, " "), "-"))
	}
	return note(words...), err
	// end
}

func seeded(ctx context.Context) (State, error) {
	// begin thread that begins with an edit
	r := line(tasks{"a": say("a")}, "a").Runner(graph.Options{Store: memstore.New()})
	s, _, err := r.Update(ctx, change{Thread: "1", Create: true, Updates: []State{{Topic: "x", Notes: []string{"seed"}}}})
	return s, err
	// end
}

func replay(ctx context.Context) (State, error) {
	// begin replay
	r := lived(ctx)
	history, err := r.History(ctx, "1", 0, 2) // the second is after a
	if err == nil {
		err = r.Fork(ctx, graph.Point{Thread: "1", Commit: history[1].Commit.ID}, "2")
	}
	if err != nil {
		return State{}, err
	}
	return r.Invoke(ctx, ask{Thread: "2", Resume: true})
	// end
}

func fork(ctx context.Context) (State, error) {
	// begin fork with a change
	r := lived(ctx)
	history, err := r.History(ctx, "1", 0, 2)
	if err == nil {
		err = r.Fork(ctx, graph.Point{Thread: "1", Commit: history[1].Commit.ID}, "2")
	}
	if err != nil {
		return State{}, err
	}
	return r.Invoke(ctx, ask{Thread: "2", Resume: true, Updates: []State{note("changed")}})
	// end
}

func next(ctx context.Context) (State, error) {
	// begin page of a history
	r := lived(ctx)
	page, err := r.History(ctx, "1", 0, 1)
	if err == nil {
		page, err = r.History(ctx, "1", page[0].Commit.ID, 1)
	}
	return page[0].State, err
	// end
}

func file(ctx context.Context) (State, error) {
	// begin database
	store, err := checkpoint.Open(ctx, ":memory:", checkpoint.Options{})
	if err != nil {
		return State{}, err
	}
	defer store.Close()
	r := line(tasks{"a": say("a")}, "a").Runner(graph.Options{Store: store})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); err != nil {
		return State{}, err
	}
	s, _, err := r.State(ctx, "1")
	return s, err
	// end
}

func deleted(ctx context.Context) (State, error) {
	// begin delete a thread
	store := memstore.New()
	r := line(tasks{"a": say("a")}, "a").Runner(graph.Options{Store: store})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); err != nil {
		return State{}, err
	}
	err := store.Delete(ctx, "1")
	_, _, gone := r.State(ctx, "1")
	return note(fmt.Sprint(errors.Is(gone, graph.ErrNotFound))), err
	// end
}

func atTheEnd(ctx context.Context) (State, error) {
	// begin save at the end
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New(), SaveAtEnd: true})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); err != nil {
		return State{}, err
	}
	history, err := r.History(ctx, "1", 0, 9)
	return note(fmt.Sprint(len(history) < 3)), err
	// end
}

func metadata(ctx context.Context) (State, error) {
	// begin metadata
	r := line(tasks{"a": say("a")}, "a").Runner(graph.Options{Store: memstore.New()})
	for _, user := range []string{"ann", "bob"} {
		if _, err := r.Invoke(ctx, ask{Thread: user, Metadata: map[string]string{"user": user}}); err != nil {
			return State{}, err
		}
	}
	found, err := r.Threads(ctx, graph.ThreadQuery{Metadata: map[string]string{"user": "ann"}})
	return note(found.Threads[0].Thread), err
	// end
}

func batch(ctx context.Context) (State, error) {
	// begin batch
	inputs := []ask{{Input: State{Topic: "x"}}, {Input: State{Topic: "y"}}, {Input: State{Topic: "z"}}}
	var topics []string
	for _, result := range line(tasks{"a": say("a")}, "a").Runner(graph.Options{}).Batch(ctx, inputs, 2) {
		topics = append(topics, result.State.Topic)
	}
	return note(topics...), nil
	// end
}
