// Command timetravel goes back to an earlier step of a finished run and takes another way from there.
//
//	go run ./examples/timetravel
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// Trip is the state. An update is a Trip too: its non-empty fields replace the old ones.
type Trip struct {
	Hotels []string `json:"hotels,omitempty"`
	Picked string   `json:"picked,omitempty"`
	Booked string   `json:"booked,omitempty"`
}

func apply(s, u Trip) (Trip, error) {
	if u.Hotels != nil {
		s.Hotels = u.Hotels
	}
	if u.Picked != "" {
		s.Picked = u.Picked
	}
	if u.Booked != "" {
		s.Booked = u.Booked
	}
	return s, nil
}

func run(ctx context.Context, out io.Writer) (first, second Trip, err error) {
	task := func(f func(s Trip) Trip) graph.Task[Trip, Trip] {
		return graph.Task[Trip, Trip]{Run: func(_ context.Context, s Trip) (Trip, error) { return f(s), nil }}
	}
	plan, err := graph.Compile(graph.Graph[Trip, Trip]{
		Name: "timetravel", Apply: apply,
		Nodes: map[string]graph.Task[Trip, Trip]{
			"search": task(func(Trip) Trip { return Trip{Hotels: []string{"Anchor", "Bell"}} }),
			"pick":   task(func(s Trip) Trip { return Trip{Picked: s.Hotels[0]} }),
			"book":   task(func(s Trip) Trip { return Trip{Booked: "a room in the " + s.Picked} }),
		},
		Edges: graph.Chain(graph.Start, "search", "pick", "book", graph.End),
	})
	if err != nil {
		return first, second, err
	}
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	if first, err = runner.Invoke(ctx, graph.Request[Trip]{Thread: "trip"}); err != nil {
		return first, second, err
	}
	history, err := runner.History(ctx, "trip", 0, 10)
	if err != nil {
		return first, second, err
	}
	var back graph.CommitID
	for _, m := range history { // the newest first
		fmt.Fprintf(out, "step %d, next %v: %+v\n", m.Commit.Step, m.Commit.Frontier, m.State)
		if m.State.Picked == "" && m.State.Hotels != nil {
			back = m.Commit.ID
		}
	}
	// The copy ends before pick. A person picks there, and the run continues after that node.
	if err = runner.Fork(ctx, graph.Point{Thread: "trip", Commit: back}, "other trip"); err != nil {
		return first, second, err
	}
	pick := func(_ context.Context, s Trip, _ graph.Commit) ([]Trip, error) {
		return []Trip{{Picked: s.Hotels[1]}}, nil
	}
	if _, _, err = runner.Update(ctx, graph.Edit[Trip, Trip]{Thread: "other trip", As: "pick", Change: pick}); err != nil {
		return first, second, err
	}
	second, err = runner.Invoke(ctx, graph.Request[Trip]{Thread: "other trip", Resume: true})
	return first, second, err
}

func main() {
	first, second, err := run(context.Background(), os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("first:", first.Booked)
	fmt.Println("then: ", second.Booked)
}
