package graph_test

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
)

// A person approves a payment. The run ends with the question and continues, days
// later and in another process, with the answer; the payment is not made twice.
func ExampleAsk() {
	type approval struct {
		OK  bool   `json:"ok"`
		Why string `json:"why,omitempty"`
	}
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{"pay": {Run: func(ctx context.Context, _ string) (string, error) {
			held, err := graph.Once(ctx, "reserve", func(_ context.Context, idempotencyKey string) (string, error) {
				fmt.Println("reserving 100 €, with a key of", len(idempotencyKey), "characters")
				return "r-1", nil
			})
			if err != nil {
				return "", err
			}
			a, err := graph.Ask[approval](ctx, "approve", "pay 100 € for order 7?")
			if err != nil {
				return "", err
			}
			return fmt.Sprintf(": paid with %s, %v because %s", held, a.OK, a.Why), nil
		}}},
		Order: []string{"pay"},
		Edges: []graph.Edge{{From: graph.Start, To: "pay"}, {From: "pay", To: graph.End}},
	})
	r := plan.Runner(graph.Options{Store: newMemStore()})
	ctx := context.Background()
	_, err := r.Invoke(ctx, graph.Request[string]{Thread: "orders", Input: "order 7"})
	if waits, ok := errors.AsType[*graph.InterruptError](err); ok {
		for _, q := range waits.Questions {
			fmt.Printf("%s asks %s\n", q.ID(), q.Ask)
		}
	}
	_, err = r.Invoke(ctx, graph.Request[string]{Thread: "orders", Resume: true, Answers: map[string]any{"approve": "yes"}})
	fmt.Println(err)
	state, err := r.Invoke(ctx, graph.Request[string]{
		Thread: "orders", Resume: true, Answers: map[string]any{"approve": approval{OK: true, Why: "it is cheap"}},
	})
	fmt.Println(state, err)
	// Output:
	// reserving 100 €, with a key of 32 characters
	// pay/approve asks "pay 100 € for order 7?"
	// thread "orders": answer "approve": answer: type: yes has type "string", want "object"
	// order 7: paid with r-1, true because it is cheap <nil>
}
