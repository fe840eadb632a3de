package graphtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/graph"
)

// peopleClauses check that a run which waits for people continues from the store, each time with a new runner.
func peopleClauses() []clause {
	return []clause{
		{"each question is answered by itself", func(t *testing.T, s graph.Store) {
			answerOneByOne(t, s, "%s", func(p *graph.Plan[string, string]) *graph.Plan[string, string] { return p })
		}},
		{"each question of a subgraph is answered by itself", func(t *testing.T, s graph.Store) {
			answerOneByOne(t, s, "sub/%s", func(p *graph.Plan[string, string]) *graph.Plan[string, string] {
				keep := func(_, end string) string { return end }
				return peoplePlan(t, map[string]graph.Task[string, string]{"sub": graph.Sub(p, func(string) string { return "" }, keep)})
			})
		}},
		{"a superseded run leaves what it has done", func(t *testing.T, s graph.Store) {
			deeds := 0
			p := peoplePlan(t, map[string]graph.Task[string, string]{"n": {Run: pays(&deeds), OnSupersede: pays(&deeds)}})
			wantEqual(t, "open questions", openQuestions(t, p, s, graph.Request[string]{Thread: "t", Input: "in "}), []string{"n/sure"})
			wantEqual(t, "open questions", openQuestions(t, p, s, graph.Request[string]{Thread: "t", Input: "again "}), []string{"n/sure"})
			commits := walk(t, s, "t", 0)
			if closing := commits[len(commits)-3]; closing.Source != graph.SourceClose || closing.Status != graph.Superseded || string(closing.Deltas[0].Body) != `"(paid)"` {
				t.Errorf("closing commit %s", show(closing))
			}
			got, _, err := p.Runner(graph.Options{Store: s}).State(t.Context(), "t")
			if want := "in (paid)again "; err != nil || got != want || deeds != 2 {
				t.Errorf("state %q, %v; want %q; %d deeds", got, err, want, deeds)
			}
		}},
	}
}

// answerOneByOne answers five questions, of a node and of the parts of another one, with a new runner each time.
func answerOneByOne(t *testing.T, s graph.Store, at string, around func(*graph.Plan[string, string]) *graph.Plan[string, string]) {
	t.Helper()
	done := map[string]int{}
	ask := func(ctx context.Context, _, part string) (string, error) {
		if _, err := graph.Ask[bool](ctx, part, "?"); err != nil {
			return "", err
		}
		return graph.Once(ctx, "deed", func(context.Context, string) (string, error) {
			done[part]++
			return part, nil
		})
	}
	p := around(peoplePlan(t, map[string]graph.Task[string, string]{
		"fan": {Run: graph.FanOut(1, func(string) []string { return []string{"x", "y", "z"} }, ask,
			func(_ string, each []string) (string, error) { return fmt.Sprint(each), nil })},
		"two": {Run: func(ctx context.Context, _ string) (string, error) {
			k, err := graph.Ask[string](ctx, "k", "?")
			l, other := graph.Ask[string](ctx, "l", "?")
			return k + l, errors.Join(err, other)
		}},
	}))
	turn := "" // in the address of a task of a subgraph
	if strings.Contains(at, "/") {
		turn = "#1"
	}
	fan := func(part int, key string) string {
		return fmt.Sprintf(at, fmt.Sprintf("fan%s[%d]/%s", turn, part, key))
	}
	two := func(key string) string { return fmt.Sprintf(at, "two"+turn+"/"+key) }
	req := graph.Request[string]{Thread: "t", Input: "in "}
	for _, step := range []struct {
		open   []string
		done   map[string]int
		name   string // of the question that is answered next
		answer any
	}{
		{[]string{fan(0, "x"), fan(1, "y"), fan(2, "z"), two("k"), two("l")}, map[string]int{}, "y", true},
		{[]string{fan(0, "x"), fan(2, "z"), two("k"), two("l")}, map[string]int{"y": 1}, "l", "L"},
		{[]string{fan(0, "x"), fan(2, "z"), two("k")}, map[string]int{"y": 1}, "x", true},
		{[]string{fan(2, "z"), two("k")}, map[string]int{"x": 1, "y": 1}, "k", "K"},
		{[]string{fan(2, "z")}, map[string]int{"x": 1, "y": 1}, "z", true},
	} {
		for range 2 { // a resume without an answer lists the same
			got := openQuestions(t, p, s, req)
			slices.Sort(got)
			wantEqual(t, "open questions", got, step.open)
			req = graph.Request[string]{Thread: "t", Resume: true}
		}
		wantEqual(t, "deeds", done, step.done)
		req.Answers = map[string]any{step.name: step.answer}
	}
	got, err := p.Runner(graph.Options{Store: s}).Invoke(t.Context(), req)
	if want := "in [x y z]KL"; err != nil || got != want {
		t.Errorf("state %q, %v; want %q", got, err, want)
	}
	wantEqual(t, "deeds", done, map[string]int{"x": 1, "y": 1, "z": 1})
	wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
}

// pays is a node that pays, and then asks.
func pays(deeds *int) graph.Node[string, string] {
	return func(ctx context.Context, _ string) (string, error) {
		paid, err := graph.Once(ctx, "pay", func(context.Context, string) (string, error) {
			*deeds++
			return "paid", nil
		})
		if err != nil {
			return "", err
		}
		_, err = graph.Ask[bool](ctx, "sure", "?")
		if errors.Is(err, graph.ErrSuperseded) {
			return "(" + paid + ")", nil
		}
		return paid, err
	}
}

// peoplePlan is a graph of nodes side by side, whose state is what they say.
func peoplePlan(t *testing.T, nodes map[string]graph.Task[string, string]) *graph.Plan[string, string] {
	t.Helper()
	g := graph.Graph[string, string]{Name: "people", Apply: func(s, u string) (string, error) { return s + u, nil }, Nodes: nodes}
	for name := range nodes {
		g.Edges = append(g.Edges, graph.Edge{From: graph.Start, To: name}, graph.Edge{From: name, To: graph.End})
		g.Order = append(g.Order, name)
	}
	slices.Sort(g.Order)
	p, err := graph.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// openQuestions runs a request with a new runner and returns the questions that it waits for.
func openQuestions(t *testing.T, p *graph.Plan[string, string], s graph.Store, req graph.Request[string]) (ids []string) {
	t.Helper()
	_, err := p.Runner(graph.Options{Store: s}).Invoke(t.Context(), req)
	waits, ok := errors.AsType[*graph.InterruptError](err)
	if !ok {
		t.Fatalf("got %v, want questions", err)
	}
	for _, q := range waits.Questions {
		ids = append(ids, q.ID())
	}
	return ids
}
