// Command humanform asks a person for a form before it books.
//
//	go run ./examples/humanform
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// Form is what the person fills in. Its JSON schema is part of the question.
type Form struct {
	City  string `json:"city" doc:"where to"`
	Class string `json:"class" enum:"first,second"`
	Seats int    `json:"seats"`
}

// Validate refuses answers that the schema allows; the person is then asked again.
func (f Form) Validate() error {
	if f.Seats < 1 {
		return errors.New("book at least one seat")
	}
	return nil
}

func book(ctx context.Context, _ string) (string, error) {
	f, err := graph.Ask[Form](ctx, "trip", "Where do you want to go?")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("booked %d seats to %s, %s class", f.Seats, f.City, f.Class), nil
}

func run(ctx context.Context, in io.Reader, out io.Writer) (string, error) {
	plan, err := graph.Compile(graph.Graph[string, string]{
		Name: "humanform", Apply: func(_, u string) (string, error) { return u, nil },
		Nodes: map[string]graph.Task[string, string]{"book": {Run: book}},
		Edges: []graph.Edge{{From: graph.Start, To: "book"}, {From: "book", To: graph.End}},
	})
	if err != nil {
		return "", err
	}
	runner := plan.Runner(graph.Options{Store: memstore.New()})
	s, err := runner.Invoke(ctx, graph.Request[string]{Thread: "trip", Input: "new"})
	for forms := json.NewDecoder(in); ; {
		waits, asks := errors.AsType[*graph.InterruptError](err)
		if !asks {
			return s, err
		}
		q := waits.Questions[0]
		fmt.Fprintf(out, "%s %s %s\n", q.Ask, q.Schema, q.Problem)
		var form json.RawMessage
		if err := forms.Decode(&form); err != nil {
			return "", err
		}
		s, err = runner.Invoke(ctx, graph.Request[string]{Thread: "trip", Resume: true, Answers: map[string]any{"trip": form}})
	}
}

func main() {
	s, err := run(context.Background(), os.Stdin, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
}
