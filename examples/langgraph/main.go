// Command langgraph shows what users of LangGraph know, block by block; blocks.py does the same with LangGraph.
// The test runs the blocks of both and counts their lines.
//
//	go run ./examples/langgraph
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// begin state

// State is also the update: notes are appended, a topic replaces.
type State struct {
	Topic string
	Notes []string
}

// end

type (
	tasks  = map[string]graph.Task[State, State]
	flow   = graph.Graph[State, State]
	ask    = graph.Request[State]
	change = graph.Edit[State, State]
	runner = *graph.Runner[State, State]
)

// begin helpers

func note(words ...string) State { return State{Notes: words} }

func say(text string) graph.Task[State, State] {
	return graph.Task[State, State]{Run: func(context.Context, State) (State, error) { return note(text), nil }}
}

func line(nodes tasks, names ...string) *graph.Plan[State, State] {
	edges := graph.Chain(slices.Concat([]string{graph.Start}, names, []string{graph.End})...)
	return graph.MustCompile(flow{Nodes: nodes, Edges: edges})
}

// lived returns a runner with a thread in which the nodes a and b ran.
func lived(ctx context.Context) runner {
	r := line(tasks{"a": say("a"), "b": say("b")}, "a", "b").Runner(graph.Options{Store: memstore.New()})
	if _, err := r.Invoke(ctx, ask{Thread: "1"}); err != nil {
		log.Panic(err)
	}
	return r
}

// stops runs a request that stops for a person or at a breakpoint.
func stops(ctx context.Context, r runner, q ask) (State, []graph.Question) {
	s, err := r.Invoke(ctx, q)
	stop, ok := errors.AsType[*graph.InterruptError](err)
	if !ok {
		log.Panic("it did not stop: ", err)
	}
	return s, stop.Questions
}

// end

type block = func(context.Context) (State, error)

func blocks() []block {
	return slices.Concat(
		[]block{twoNodes, branch, mapReduce, jump, jumpToMany, partsGoOn, parallel, join, deferred, loop, branches, conflict, reducers, messages, faults, picture},
		[]block{asks, twoQuestions, validAnswer, stopBefore, stopAfter, whatIsNext, edit, editAs, resumeWithUpdate, askInside},
		[]block{retry, retrySome, handled, limited, stepsLeft, cached, siblings, goOn, memo},
		[]block{memory, travel, seeded, replay, fork, next, file, deleted, atTheEnd, metadata, batch},
		[]block{stream, values, custom, tokens, inside, taskEvents},
		[]block{subgraph, toParent, remembers, insideState, facts, setting, whoAmI, toolAgent},
	)
}

func main() {
	for _, b := range blocks() {
		s, err := b(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(strings.Join(s.Notes, " "))
	}
}
