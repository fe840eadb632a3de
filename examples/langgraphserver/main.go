// Command langgraphserver gives a graph of your own a LangGraph API: for useStream, the SDKs and RemoteGraph.
//
//	go run ./examples/langgraphserver
//
//	curl localhost:2024/runs/wait --json '{"assistant_id": "greeter", "input": {"name": "Ann"}}'
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server"
)

// State is the state and the update of the graph.
type State struct {
	Name     string `json:"name,omitempty"`
	Greeting string `json:"greeting,omitempty"`
}

func greeter() graph.Graph[State, State] {
	return graph.Graph[State, State]{
		Name: "greeter",
		Apply: func(s, u State) (State, error) {
			if u.Name != "" {
				s.Name = u.Name
			}
			s.Greeting = u.Greeting
			return s, nil
		},
		Nodes: map[string]graph.Task[State, State]{"greet": {Run: func(ctx context.Context, s State) (State, error) {
			formal, err := graph.Ask[bool](ctx, "formal", "Shall I be formal with "+s.Name+"?")
			if formal {
				return State{Greeting: "Good day, " + s.Name}, err
			}
			return State{Greeting: "Hi " + s.Name}, err
		}}},
		Edges: graph.Chain(graph.Start, "greet", graph.End),
	}
}

func run(ctx context.Context, addr string) error {
	runner := graph.MustCompile(greeter()).Runner(graph.Options{Store: memstore.New(), Drain: ctx.Done()})
	s, err := server.New(nil, server.Options{Graphs: map[string]untyped.Runner{"greeter": untyped.Of(runner)}})
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("http://%s", l.Addr())
	return s.Serve(ctx, l)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "127.0.0.1:2024"); err != nil {
		log.Print(err)
	}
}
