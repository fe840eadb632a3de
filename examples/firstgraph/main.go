// Command firstgraph is the program of docs/first-graph.md.
package main

import (
	"context"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// Order is the state, and also the update: a node returns the fields that it sets.
type Order struct {
	Item  string
	Price int
	Paid  bool
}

func price(_ context.Context, o Order) (Order, error) {
	return Order{Price: 10 * len(o.Item)}, nil
}

func pay(ctx context.Context, o Order) (Order, error) {
	yes, err := graph.Ask[bool](ctx, "pay", fmt.Sprintf("Pay %d EUR for %s?", o.Price, o.Item))
	return Order{Paid: yes}, err
}

func main() {
	runner := graph.MustCompile(graph.Graph[Order, Order]{
		Nodes: map[string]graph.Task[Order, Order]{"price": {Run: price}, "pay": {Run: pay}},
		Edges: graph.Chain(graph.Start, "price", "pay", graph.End),
	}).Runner(graph.Options{Store: memstore.New()})
	ctx := context.Background()
	_, err := runner.Invoke(ctx, graph.Request[Order]{Thread: "order 7", Input: Order{Item: "tea"}})
	fmt.Println(err)
	o, err := runner.Invoke(ctx, graph.Request[Order]{Thread: "order 7", Resume: true, Answers: map[string]any{"pay": true}})
	fmt.Println(o, err)
}
