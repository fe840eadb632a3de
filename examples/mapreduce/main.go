// Command mapreduce counts the words of files side by side.
//
//	go run ./examples/mapreduce README.md CONTRIBUTING.md
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"example.com/ragflow/graph"
)

// State is the files and what was counted. An update is a State too.
type State struct {
	Files []string       `json:"files,omitempty"`
	Words map[string]int `json:"words,omitempty"`
}

func apply(s, u State) (State, error) {
	if u.Files != nil {
		s.Files = u.Files
	}
	if u.Words != nil {
		s.Words = u.Words
	}
	return s, nil
}

func run(ctx context.Context, files []string) (State, error) {
	count := graph.FanOut(
		4, // files at once
		func(s State) []string { return s.Files },
		func(_ context.Context, _ State, file string) (State, error) {
			text, err := os.ReadFile(file)
			return State{Words: map[string]int{file: len(strings.Fields(string(text)))}}, err
		},
		func(_ State, parts []State) (State, error) {
			all := State{Words: map[string]int{}}
			for _, p := range parts {
				for file, n := range p.Words {
					all.Words[file] = n
					all.Words["total"] += n
				}
			}
			return all, nil
		},
	)
	plan, err := graph.Compile(graph.Graph[State, State]{
		Name: "mapreduce", Apply: apply,
		Nodes: map[string]graph.Task[State, State]{"count": {Run: count}},
		Edges: []graph.Edge{{From: graph.Start, To: "count"}, {From: "count", To: graph.End}},
	})
	if err != nil {
		return State{}, err
	}
	return plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[State]{Input: State{Files: files}})
}

func main() {
	s, err := run(context.Background(), os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Words)
}
