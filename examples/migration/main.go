// Command migration lets a new version of a graph go on with threads of the old one, whose state had
// another form and whose node had another name.
//
//	go run ./examples/migration
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// Old is the state, and the update, of version 1.
type Old struct {
	Name  string `json:"name,omitempty"`
	Greet string `json:"greet,omitempty"`
}

// Contact is the state, and the update, of version 2.
type Contact struct {
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
	Greet string `json:"greet,omitempty"`
}

// UnmarshalJSON reads version 2 and version 1, so that the log needs no rewriting.
func (c *Contact) UnmarshalJSON(text []byte) error {
	type plain Contact
	both := struct {
		*plain
		Name string `json:"name"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(text, &both)
	if both.Name != "" {
		c.First, c.Last, _ = strings.Cut(both.Name, " ")
	}
	return err
}

func apply(s, u Contact) (Contact, error) {
	if u.First != "" || u.Last != "" {
		s.First, s.Last = u.First, u.Last
	}
	if u.Greet != "" {
		s.Greet = u.Greet
	}
	return s, nil
}

// before leaves a thread of version 1, whose run stopped in the node greet.
func before(ctx context.Context, store graph.Store) error {
	plan, err := graph.Compile(graph.Graph[Old, Old]{
		Name: "contacts", Version: "1", Apply: func(s, u Old) (Old, error) { return u, nil },
		Nodes: map[string]graph.Task[Old, Old]{"greet": {Run: func(context.Context, Old) (Old, error) {
			return Old{}, errors.New("the mail server is away")
		}}},
		Edges: graph.Chain(graph.Start, "greet", graph.End),
	})
	if err != nil {
		return err
	}
	_, err = plan.Runner(graph.Options{Store: store}).Invoke(ctx, graph.Request[Old]{Thread: "ada", Input: Old{Name: "Ada Lovelace"}})
	fmt.Println("version 1:", err)
	return nil
}

func after(ctx context.Context, store graph.Store) (Contact, error) {
	plan, err := graph.Compile(graph.Graph[Contact, Contact]{
		Name: "contacts", Version: "2", Apply: apply,
		Nodes: map[string]graph.Task[Contact, Contact]{"welcome": {Run: func(_ context.Context, c Contact) (Contact, error) {
			return Contact{Greet: "Dear " + c.First + " of the family " + c.Last}, nil
		}}},
		Edges: graph.Chain(graph.Start, "welcome", graph.End),
	})
	if err != nil {
		return Contact{}, err
	}
	// Migrate says where a stopped run of version 1 continues.
	migrate := func(head graph.Commit) ([]string, error) {
		next := slices.Clone(head.Frontier)
		for i, node := range next {
			if node == "greet" {
				next[i] = "welcome"
			}
		}
		return next, nil
	}
	return plan.Runner(graph.Options{Store: store, Migrate: migrate}).Invoke(ctx, graph.Request[Contact]{Thread: "ada", Resume: true})
}

func main() {
	store := memstore.New()
	if err := before(context.Background(), store); err != nil {
		log.Fatal(err)
	}
	c, err := after(context.Background(), store)
	fmt.Println("version 2:", c.Greet, err)
}
