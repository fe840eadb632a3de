package server_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server"
)

// steps is a state that counts its steps, and an update that adds to it.
type steps struct {
	N int `json:"n"`
}

// counting is a graph of two steps, each of which calls began.
func counting(store graph.Store, drain <-chan struct{}, began func()) untyped.Runner {
	step := graph.Task[steps, steps]{Run: func(context.Context, steps) (steps, error) {
		began()
		return steps{1}, nil
	}}
	plan := graph.MustCompile(graph.Graph[steps, steps]{
		Name: "counting", Apply: func(s, u steps) (steps, error) { return steps{s.N + u.N}, nil },
		Nodes: map[string]graph.Task[steps, steps]{"one": step, "two": step}, Edges: graph.Chain(graph.Start, "one", "two", graph.End),
	})
	return untyped.Of(plan.Runner(graph.Options{Store: store, Drain: drain}))
}

// TestResumedGraph: the run of a graph of the options that was drained is ended by the next server.
func TestResumedGraph(t *testing.T) {
	t.Parallel()
	store, drain := memstore.New(), make(chan struct{})
	first := counting(store, drain, func() { close(drain) })
	var err error
	for _, err = range first.Stream(t.Context(), untyped.Request{Thread: "t", Input: []byte(`{}`), Metadata: map[string]string{"graph_id": "counting"}}) {
	}
	if !errors.Is(err, graph.ErrDrained) {
		t.Fatal(err)
	}
	second := counting(store, nil, func() {})
	s, err := server.New(nil, server.Options{Graphs: map[string]untyped.Runner{"counting": second}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		state, head, err := second.State(t.Context(), "t")
		if head.Status == graph.Completed && string(state) == `{"n":2}` {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%s %s %v", head.Status, state, err)
		}
	}
	end()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
