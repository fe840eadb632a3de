package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
)

// A failure becomes data: OnError makes an update of it, and the run continues at
// the node that deals with it. Here the first attempt is retried, too.
func ExampleOnError() {
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{
			"pay": {
				Run:   func(context.Context, string) (string, error) { return "", errors.New("card refused") },
				Retry: graph.Retry{Attempts: 2, First: time.Millisecond},
				OnError: graph.OnError[string, string]{
					Update: func(_ string, f graph.Failure) string {
						return fmt.Sprintf("\n%s failed %d times: %v", f.Node, f.Attempts, f.Err)
					},
					To: "apologise",
				},
			},
			"ship":      {Run: func(context.Context, string) (string, error) { return "\nshipped", nil }},
			"apologise": {Run: func(context.Context, string) (string, error) { return "\nwe are sorry", nil }},
		},
		Order: []string{"pay", "ship", "apologise"},
		Edges: []graph.Edge{
			{From: graph.Start, To: "pay"},
			{From: "pay", To: "ship"},
			{From: "ship", To: graph.End},
			{From: "apologise", To: graph.End},
		},
	})
	state, err := plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[string]{Input: "order 7"})
	fmt.Println(state, err)
	// Output:
	// order 7
	// pay failed 2 times: card refused
	// we are sorry <nil>
}

// A model that calls tools until it knows the answer: the node itself picks
// where to go on, from a set that Compile and the drawing see.
func ExamplePicker() {
	model := func(_ context.Context, s string) (string, []string, error) { // stands in for a model
		switch strings.Count(s, "→") {
		case 0:
			return " call:weather", []string{"weather"}, nil
		case 1:
			return " call:clock", []string{"clock"}, nil
		}
		return " answer: take an umbrella at nine", []string{graph.End}, nil
	}
	says := func(s string) graph.Node[string, string] {
		return func(context.Context, string) (string, error) { return s, nil }
	}
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{
			"model":   {Pick: model, To: []string{"weather", "clock", graph.End}},
			"weather": {Run: says("→rain")},
			"clock":   {Run: says("→08:55")},
		},
		Order: []string{"model", "weather", "clock"},
		Edges: []graph.Edge{
			{From: graph.Start, To: "model"},
			{From: "weather", To: "model"},
			{From: "clock", To: "model"},
		},
	})
	state, err := plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[string]{Input: "what to wear?"})
	fmt.Println(state, err)
	// Output: what to wear? call:weather→rain call:clock→08:55 answer: take an umbrella at nine <nil>
}

// Two ways of searching, one of them longer; the join waits for both, and what
// counts the costs runs when all else is over.
func ExampleWait() {
	says := func(s string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(context.Context, string) (string, error) { return " " + s, nil }}
	}
	waits := func(t graph.Task[string, string], w graph.Wait) graph.Task[string, string] {
		t.Wait = w
		return t
	}
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{
			"words": says("words"), "translate": says("translate"), "meaning": says("meaning"),
			"merge": waits(says("merge"), graph.Join), "answer": says("answer"),
			"costs": waits(says("costs"), graph.Last),
		},
		Order: []string{"words", "translate", "meaning", "merge", "answer", "costs"},
		Edges: []graph.Edge{
			{From: graph.Start, To: "words"},
			{From: graph.Start, To: "translate"},
			{From: graph.Start, To: "costs"},
			{From: "translate", To: "meaning"},
			{From: "words", To: "merge"},
			{From: "meaning", To: "merge"},
			{From: "merge", To: "answer"},
			{From: "answer", To: graph.End},
			{From: "costs", To: graph.End},
		},
	})
	for e, err := range plan.Runner(graph.Options{}).Run(context.Background(), graph.Request[string]{Input: "?"}) {
		if err != nil || e.Kind == graph.StepDone {
			fmt.Println(e.State, err)
		}
	}
	// Output:
	// ? words translate <nil>
	// ? words translate meaning <nil>
	// ? words translate meaning merge <nil>
	// ? words translate meaning merge answer <nil>
	// ? words translate meaning merge answer costs <nil>
}

// Map and reduce, nested: documents are counted side by side, and so are the
// words of each.
func ExampleFanOut_nested() {
	sum := func(parts []int) (n int, err error) {
		for _, p := range parts {
			n += p
		}
		return n, nil
	}
	letters := graph.FanOut(2, strings.Fields,
		func(_ context.Context, _, word string) (int, error) { return len(word), nil },
		func(_ string, lengths []int) (int, error) { return sum(lengths) })
	documents := graph.FanOut(4,
		func(all []string) []string { return all },
		func(ctx context.Context, _ []string, document string) (int, error) { return letters(ctx, document) },
		func(_ []string, counts []int) (int, error) { return sum(counts) })
	fmt.Println(documents(context.Background(), []string{"a bc", "def", "g h"})) // a node is a function
	// Output: 8 <nil>
}

// The update of a node for the same input is not computed again, on whatever
// thread it was.
func ExampleCache() {
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{"embed": {
			Run: func(_ context.Context, s string) (string, error) {
				fmt.Println("embedding", s)
				return fmt.Sprintf(" [%d]", len(s)), nil
			},
			Cache: &graph.Cache[string, string]{Key: strings.TrimSpace, TTL: time.Hour, Size: 100},
		}},
		Order: []string{"embed"},
		Edges: []graph.Edge{{From: graph.Start, To: "embed"}, {From: "embed", To: graph.End}},
	})
	for range 2 {
		fmt.Println(plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[string]{Input: "word"}))
	}
	// Output:
	// embedding word
	// word [4] <nil>
	// word [4] <nil>
}

// corpus is some texts, and what they are made of.
type corpus struct {
	Texts []string
	Words map[string]int
}

// Map and reduce: a worker counts the words of each text, one node adds up what
// they found. The counts are the same however the workers meet.
func ExampleFanOut_mapReduce() {
	count := graph.FanOut(8,
		func(s corpus) []string { return s.Texts },
		func(_ context.Context, _ corpus, text string) (corpus, error) {
			u := corpus{Words: map[string]int{}}
			for w := range strings.FieldsSeq(text) {
				u.Words[w]++
			}
			return u, nil
		},
		func(_ corpus, found []corpus) (corpus, error) {
			all := corpus{Words: map[string]int{}}
			for _, u := range found {
				for w, n := range u.Words {
					all.Words[w] += n
				}
			}
			return all, nil
		})
	plan := must(graph.Graph[corpus, corpus]{
		Apply: func(s, u corpus) (corpus, error) {
			s.Texts, s.Words = append(slices.Clip(s.Texts), u.Texts...), u.Words
			return s, nil
		},
		Nodes: map[string]graph.Task[corpus, corpus]{"count": {Run: count}},
		Order: []string{"count"},
		Edges: []graph.Edge{{From: graph.Start, To: "count"}, {From: "count", To: graph.End}},
	})
	s, err := plan.Runner(graph.Options{}).Invoke(context.Background(), graph.Request[corpus]{
		Input: corpus{Texts: []string{"rain and wind", "wind", "rain or snow and wind"}},
	})
	fmt.Println(s.Words, err)
	// Output: map[and:2 or:1 rain:2 snow:1 wind:3] <nil>
}
