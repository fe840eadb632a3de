package graph_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// An edit while a question is open keeps the run, its question, its answers and its finished tasks.
func TestEditKeepsTheQuestion(t *testing.T) {
	store, ran, sibling := memstore.New(), 0, 0
	p := three(t, map[string]node{"b": asks(&ran, "one", "two"), "c": counts(&sibling)})
	o := graph.Options{Store: store}
	if _, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); !slices.Equal(ids(err), []string{"b/one", "b/two"}) {
		t.Fatal(err)
	}
	resume := func(q ask) (list, error) {
		q.Thread, q.Resume = "t", true
		return p.Runner(o).Invoke(t.Context(), q)
	}
	yes := approval{Verdict: "yes"}
	if _, err := resume(ask{Answers: map[string]any{"one": yes}}); !slices.Equal(ids(err), []string{"b/two"}) {
		t.Fatal(err)
	}
	for range 2 {
		s, _, err := p.Runner(o).Update(t.Context(), edit{Thread: "t", Change: adds("x")})
		if err != nil || !slices.Contains(s.Items, "x") {
			t.Fatal(s, err)
		}
	}
	_, head, err := p.Runner(o).State(t.Context(), "t")
	if err != nil || head.Status != graph.Interrupted || !slices.Equal(head.Frontier, []string{"b", "c"}) {
		t.Errorf("head %+v, %v", head, err)
	}
	s, err := resume(ask{Answers: map[string]any{"two": yes}})
	if err != nil || whole(s) != "?axxone:yes,two:yescd" || sibling != 1 {
		t.Errorf("%v, %v; c ran %d times", s, err, sibling)
	}
}

// A resume can bring an update: it is applied before the nodes run.
func TestResumeWithAnUpdate(t *testing.T) {
	store, ran := memstore.New(), 0
	p := build(t, "a", map[string]node{"a": asks(&ran, "k")}, "^ a, a $")
	call := func(q ask) (list, error) {
		q.Thread = "t"
		return p.Runner(graph.Options{Store: store}).Invoke(t.Context(), q)
	}
	if _, err := call(ask{Input: item{"in"}}); !slices.Equal(ids(err), []string{"a/k"}) {
		t.Fatal(err)
	}
	no := map[string]any{"k": approval{Verdict: "perhaps"}}
	if _, err := call(ask{Resume: true, Updates: []item{{"x"}}, Answers: no}); err == nil {
		t.Error("a wrong answer was accepted")
	}
	s, err := call(ask{Resume: true, Updates: []item{{"y"}}, Answers: map[string]any{"k": approval{Verdict: "yes"}}})
	if err != nil || whole(s) != "inyk:yes" {
		t.Errorf("%v, %v; want the second update, the first came with a wrong answer", s, err)
	}
	if _, err := call(ask{Resume: true, Updates: []item{{"z"}}}); !errors.Is(err, graph.ErrNothingToDo) {
		t.Errorf("error %v, want ErrNothingToDo", err)
	}
}

// An answer that arrives again after its step or its run is over changes nothing and is no error.
func TestAnswerSentAgain(t *testing.T) {
	store, first, second := memstore.New(), 0, 0
	p := build(t, "a b", map[string]node{"a": asks(&first, "one"), "b": asks(&second, "two")}, "^ a, a b, b $")
	call := func(q ask) (list, error) {
		q.Thread = "t"
		return p.Runner(graph.Options{Store: store}).Invoke(t.Context(), q)
	}
	one := ask{Resume: true, Answers: map[string]any{"one": approval{Verdict: "yes"}}}
	two := ask{Resume: true, Answers: map[string]any{"b/two": approval{Verdict: "no"}}}
	if _, err := call(ask{}); err == nil {
		t.Fatal("nothing was asked")
	}
	for _, again := range []string{"first", "again"} {
		if _, err := call(one); !slices.Equal(ids(err), []string{"b/two"}) {
			t.Fatal(again, err)
		}
	}
	if _, err := call(ask{Resume: true, Answers: map[string]any{"one": approval{Verdict: "no"}}}); err == nil {
		t.Error("another answer to an answered question was accepted")
	}
	for _, again := range []string{"first", "again"} {
		if s, err := call(two); err != nil || whole(s) != "one:yestwo:no" {
			t.Fatal(again, s, err)
		}
	}
	if _, err := call(ask{Resume: true, Answers: map[string]any{"b/two": approval{Verdict: "yes"}}}); !errors.Is(err, graph.ErrNothingToDo) {
		t.Errorf("another answer after the end: %v", err)
	}
	if first+second != 4 {
		t.Errorf("the nodes ran %d times, want 4", first+second)
	}
}

// A thread can begin with an edit.
func TestSeed(t *testing.T) {
	r := build(t, "a", map[string]node{"a": says("a")}, "^ a, a $").Runner(graph.Options{Store: memstore.New()})
	s, _, err := r.Update(t.Context(), edit{Thread: "new", Create: true, Change: adds("x", "y")})
	if err != nil || whole(s) != "xy" {
		t.Fatal(s, err)
	}
	if s, err := r.Invoke(t.Context(), ask{Thread: "new", Input: item{"in"}}); err != nil || whole(s) != "xyina" {
		t.Error(s, err)
	}
}

// counts is a node that says "c" and counts its runs.
func counts(n *int) node {
	return func(context.Context, list) (item, error) { *n++; return item{"c"}, nil }
}
