package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

func TestHistory(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
	for _, in := range []string{"1", "2", "3"} {
		if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{in}}); err != nil {
			t.Fatal(err)
		}
	}
	for size := 1; size <= 13; size++ {
		var got []string
		var before graph.CommitID
		for {
			page, err := r.History(t.Context(), "t", before, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, x := range page {
				want, err := r.StateAt(t.Context(), "t", x.Commit.ID)
				if err != nil || !cmp.Equal(want, x.State) {
					t.Errorf("commit %d: %v, %v; want %v", x.Commit.ID, x.State, err, want)
				}
				got = append(got, fmt.Sprint(x.Commit.ID))
				before = x.Commit.ID
			}
		}
		if want := strings.Fields("12 11 10 9 8 7 6 5 4 3 2 1"); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %v", size, got)
		}
	}
	if _, err := r.History(t.Context(), "none", 0, 1); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
}

// An update as a node continues with the nodes after it.
func TestUpdateAs(t *testing.T) {
	route := graph.Branch[list]{From: "a", To: []string{"b", graph.End}, Route: func(s list) string {
		if slices.Contains(s.Items, "stop") {
			return graph.End
		}
		return "b"
	}}
	for _, tt := range []struct{ name, say, want, status string }{
		{"goes on", "x", "?xb", "completed"},
		{"ends", "stop", "?stop", "completed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemStore()
			r := build(t, "a b", map[string]node{"a": fails(errRefused), "b": says("b")}, "^ a, b $", route).Runner(graph.Options{Store: m})
			if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r", Input: item{"?"}}); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			if _, _, err := r.Update(t.Context(), edit{Thread: "t", As: "a", Change: adds(tt.say)}); err != nil {
				t.Fatal(err)
			}
			_, head, err := r.State(t.Context(), "t")
			if err != nil || head.Run != "r" || head.Step != 1 {
				t.Errorf("head %+v, %v", head, err)
			}
			if len(head.Frontier) > 0 {
				if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil {
					t.Fatal(err)
				}
			}
			s, head, err := r.State(t.Context(), "t")
			if err != nil || whole(s) != tt.want || string(head.Status) != tt.status {
				t.Errorf("%v %s, %v; want %s", s, head.Status, err, tt.want)
			}
		})
	}
	m := newMemStore()
	r := build(t, "a b", map[string]node{"a": says("a"), "b": says("b")}, "^ a, b $", route).Runner(graph.Options{Store: m})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", As: "z", Change: adds("x")}); err == nil || !strings.Contains(err.Error(), `as node "z": unknown node`) {
		t.Errorf("error %v", err)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", As: "a", Change: adds("x")}); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(s) != "abxb" {
		t.Errorf("a run begun by an update: %v, %v", s, err)
	}
}

// Beside a sibling that has still to run, an update as a node takes its place.
func TestUpdateAsSibling(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{"b": fails(errRefused)}).Runner(graph.Options{Store: m, Parallel: 1})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", As: "b", Change: adds("B")}); err != nil {
		t.Fatal(err)
	}
	_, head, err := r.State(t.Context(), "t")
	if want := []string{"c", "d"}; err != nil || !slices.Equal(head.Frontier, want) {
		t.Errorf("frontier %v, %v; want %v", head.Frontier, err, want)
	}
}

func TestForkAndResume(t *testing.T) {
	m := newMemStore()
	p := three(t, map[string]node{})
	r := p.Runner(graph.Options{Store: m})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r", Input: item{"?"}}); err != nil {
		t.Fatal(err)
	}
	before := logged(m)
	after := history(m)[1].ID // after a
	if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: after}, "u"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "u", As: "b", Change: adds("B")}); err != nil {
		t.Fatal(err)
	}
	s, _, err := r.State(t.Context(), "u")
	if err != nil || whole(s) != "?aB" {
		t.Errorf("forked and changed: %v, %v", s, err)
	}
	if diff := cmp.Diff(before, logged(m)); diff != "" {
		t.Errorf("the thread forked from was changed (-before +after):\n%s", diff)
	}
	if err := p.Runner(graph.Options{}).Fork(t.Context(), graph.Point{Thread: "t"}, "v"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("without a store: %v", err)
	}
	if err := p.Runner(graph.Options{Store: plain{m}}).Fork(t.Context(), graph.Point{Thread: "t"}, "v"); !errors.Is(err, graph.ErrNoCopies) {
		t.Errorf("with a store that cannot copy: %v", err)
	}
}

// plain is a store that can do no more than it must.
type plain struct{ graph.Store }

func TestMigrate(t *testing.T) {
	m := newMemStore()
	old := build(t, "a b", map[string]node{"a": says("a"), "b": fails(errRefused)}, "^ a, a b, b $")
	if _, err := old.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Run: "r"}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	renamed := build(t, "a c", map[string]node{"a": says("a"), "c": says("c")}, "^ a, a c, c $")
	to := func(names ...string) graph.Options {
		return graph.Options{Store: m, Migrate: func(head graph.Commit) ([]string, error) {
			if head.Fingerprint != old.Fingerprint() || !slices.Equal(head.Frontier, []string{"b"}) {
				return nil, fmt.Errorf("unknown %s at %v", head.Fingerprint, head.Frontier)
			}
			return names, nil
		}}
	}
	before := logged(m)
	for _, o := range []graph.Options{{Store: m}, to(), to("b")} {
		if _, err := renamed.Runner(o).Invoke(t.Context(), ask{Thread: "t", Resume: true}); !errors.Is(err, graph.ErrGraphChanged) {
			t.Errorf("error %v, want ErrGraphChanged", err)
		}
	}
	if diff := cmp.Diff(before, logged(m)); diff != "" {
		t.Errorf("a refused resume changed the log (-before +after):\n%s", diff)
	}
	s, err := renamed.Runner(to("c")).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || whole(s) != "ac" {
		t.Errorf("migrated: %v, %v", s, err)
	}
	if _, head, err := renamed.Runner(graph.Options{Store: m}).State(t.Context(), "t"); err != nil || head.Run != "r" || head.Fingerprint != renamed.Fingerprint() {
		t.Errorf("head %+v, %v", head, err)
	}
}

// From any commit of a run with a question, what follows is done again in the
// copy, and the question is asked again.
func TestForkAroundAQuestion(t *testing.T) {
	m, ran := newMemStore(), 0
	r := build(t, "a b c", map[string]node{"a": says("a"), "b": asks(&ran, "k"), "c": says("c")}, "^ a, a b, b c, c $").Runner(graph.Options{Store: m})
	answer := map[string]any{"k": approval{Verdict: "yes"}}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !slices.Equal(ids(err), []string{"b/k"}) {
		t.Fatal(err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: answer}); err != nil {
		t.Fatal(err)
	}
	for i, c := range history(m) {
		to := fmt.Sprint(c.ID)
		if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: c.ID}, to); err != nil {
			t.Fatal(err)
		}
		_, err := r.Invoke(t.Context(), ask{Thread: to, Resume: true})
		switch {
		case i <= 2: // input, a, and the close with the question
			if !slices.Equal(ids(err), []string{"b/k"}) {
				t.Errorf("commit %d: %v", c.ID, err)
			}
			if s, err := r.Invoke(t.Context(), ask{Thread: to, Resume: true, Answers: answer}); err != nil || whole(s) != "ak:yesc" {
				t.Errorf("commit %d: %v, %v", c.ID, s, err)
			}
		case i == 3 && err != nil, i == 4 && !errors.Is(err, graph.ErrNothingToDo):
			t.Errorf("commit %d: %v", c.ID, err)
		}
	}
}

// The state before a step, and what a run with another answer would have done.
func ExampleRunner_Fork() {
	plan := must(graph.Graph[string, string]{
		Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{
			"plan": {Run: func(context.Context, string) (string, error) { return ", by train", nil }},
			"book": {Run: func(_ context.Context, s string) (string, error) {
				if strings.Contains(s, "plane") {
					return ", booked a seat in the air", nil
				}
				return ", booked a seat on the ground", nil
			}},
		},
		Order: []string{"plan", "book"},
		Edges: []graph.Edge{{From: graph.Start, To: "plan"}, {From: "plan", To: "book"}, {From: "book", To: graph.End}},
	})
	r, ctx := plan.Runner(graph.Options{Store: newMemStore()}), context.Background()
	fmt.Println(r.Invoke(ctx, graph.Request[string]{Thread: "trip", Input: "to Hanoi"}))

	history, err := r.History(ctx, "trip", 0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range history {
		fmt.Println(m.Commit.ID, m.Commit.Frontier, m.State)
	}
	asked := history[len(history)-1].Commit.ID
	if err := r.Fork(ctx, graph.Point{Thread: "trip", Commit: asked}, "what if"); err != nil {
		fmt.Println(err)
	}
	_, _, err = r.Update(ctx, graph.Edit[string, string]{
		Thread: "what if", As: "plan",
		Change: func(context.Context, string, graph.Commit) ([]string, error) { return []string{", by plane"}, nil },
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(r.Invoke(ctx, graph.Request[string]{Thread: "what if", Resume: true}))
	// Output:
	// to Hanoi, by train, booked a seat on the ground <nil>
	// 3 [] to Hanoi, by train, booked a seat on the ground
	// 2 [book] to Hanoi, by train
	// 1 [plan] to Hanoi
	// to Hanoi, by plane, booked a seat in the air <nil>
}

// A graph within a graph: the translator has a state of its own, a number of
// drafts; its steps stand in the log of the letter's thread.
func ExampleSub() {
	says := func(s string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(context.Context, string) (string, error) { return s, nil }}
	}
	apply := func(s, u string) (string, error) { return s + u, nil }
	translator := must(graph.Graph[string, string]{
		Name: "translator", Apply: apply,
		Nodes: map[string]graph.Task[string, string]{"draft": says(" → bonjur"), "correct": says(" → bonjour")},
		Order: []string{"draft", "correct"},
		Edges: []graph.Edge{{From: graph.Start, To: "draft"}, {From: "draft", To: "correct"}, {From: "correct", To: graph.End}},
	})
	letter := must(graph.Graph[string, string]{
		Name: "letter", Apply: apply,
		Nodes: map[string]graph.Task[string, string]{
			"translate": graph.Sub(translator,
				func(s string) string { return s },
				func(_, drafts string) string { return "; " + drafts[strings.LastIndex(drafts, " ")+1:] }),
			"sign": says("; yours"),
		},
		Order: []string{"translate", "sign"},
		Edges: []graph.Edge{{From: graph.Start, To: "translate"}, {From: "translate", To: "sign"}, {From: "sign", To: graph.End}},
	})
	store := newMemStore()
	r, ctx := letter.Runner(graph.Options{Store: store}), context.Background()
	fmt.Println(r.Invoke(ctx, graph.Request[string]{Thread: "t", Input: "hello"}))
	frames, err := translator.Inside(ctx, store, "t", 2, "translate")
	for _, f := range frames {
		fmt.Println(f.Step, f.Nodes, f.State, err)
	}
	// Output:
	// hello; bonjour; yours <nil>
	// 0 [] hello <nil>
	// 1 [draft] hello → bonjur <nil>
	// 2 [correct] hello → bonjur → bonjour <nil>
}
