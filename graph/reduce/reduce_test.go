package reduce_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/reduce"
)

type state struct {
	Name  string
	Flag  bool
	Words []string
	Last  []string
	Seen  map[string]int
	Cost  float64
	Steps int
	Log   []message
}

type message struct{ ID, Text string }

type update struct {
	Name  string
	Flag  *bool
	Words []string
	Last  []string `reduce:"replace"`
	Seen  map[string]int
	Cost  float64   `reduce:"add"`
	Steps int       `reduce:"add"`
	Log   []message `reduce:"messages"`
}

func TestApply(t *testing.T) {
	no := false
	old := state{Name: "a", Flag: true, Words: make([]string, 1, 9), Last: []string{"x"}, Seen: map[string]int{"k": 1}, Cost: .5, Steps: 1}
	got, err := apply(old, update{Flag: &no, Words: []string{"w"}, Last: []string{"y"}, Seen: map[string]int{"k": 2, "l": 3}, Cost: .25, Steps: 2})
	want := state{Name: "a", Words: []string{"", "w"}, Last: []string{"y"}, Seen: map[string]int{"k": 2, "l": 3}, Cost: .75, Steps: 3}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if other, _ := apply(old, update{Words: []string{"v"}}); got.Words[1] != "w" || other.Words[1] != "v" || old.Seen["k"] != 1 {
		t.Errorf("updates share memory: %v, %v, %v", got.Words, other.Words, old.Seen)
	}
	if same, _ := apply(want, update{}); !cmp.Equal(want, same) {
		t.Errorf("the zero update changes %v", same)
	}
}

func TestTypesThatDoNotFit(t *testing.T) {
	for want, try := range map[string]func() error{
		"has no field Other": fault[state, struct{ Other int }],
		"is int":             fault[state, struct{ Name int }],
		"has no rule": fault[state, struct {
			Name string `reduce:"add"`
		}],
		"must be structs": fault[int, int],
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func fault[S, U any]() error {
	_, err := reduce.Apply[S, U]()
	return err
}

// apply is the Apply of the states of these tests.
func apply(s state, u update) (state, error) {
	f, err := reduce.Apply[state, update]()
	if err != nil {
		return s, err
	}
	return f(s, u)
}

// A message replaces that with its ID; one without an ID is new.
func TestMessages(t *testing.T) {
	old := state{Log: []message{{"1", "a"}, {"2", "b"}, {"", "c"}}}
	got, err := apply(old, update{Log: []message{{"2", "B"}, {"3", "d"}, {"3", "D"}, {"", "e"}}})
	want := []message{{"1", "a"}, {"2", "B"}, {"", "c"}, {"3", "D"}, {"", "e"}}
	if diff := cmp.Diff(want, got.Log); err != nil || diff != "" || old.Log[1].Text != "b" {
		t.Errorf("%v, old %v (-want +got):\n%s", err, old.Log, diff)
	}
}

// The parts of a fan-out become one update by the same rules.
func TestMerge(t *testing.T) {
	no := false
	got, err := reduce.Merge(state{}, []update{{Name: "x", Words: []string{"a"}, Cost: 1}, {Flag: &no, Words: []string{"b"}, Cost: 2}, {}})
	if diff := cmp.Diff(update{Name: "x", Flag: &no, Words: []string{"a", "b"}, Cost: 3}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Two nodes of one step that replace a field fail; two that append do not.
func TestConflict(t *testing.T) {
	run := func(a, b update) error {
		says := func(u update) graph.Task[state, update] {
			return graph.Task[state, update]{Run: func(context.Context, state) (update, error) { return u, nil }}
		}
		plan, err := graph.Compile(graph.Graph[state, update]{
			Conflict: reduce.Conflict[update],
			Nodes:    map[string]graph.Task[state, update]{"a": says(a), "b": says(b)},
			Edges:    append(graph.Chain(graph.Start, "a", graph.End), graph.Chain(graph.Start, "b", graph.End)...),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = plan.Runner(graph.Options{}).Invoke(t.Context(), graph.Request[update]{})
		return err
	}
	failed, ok := errors.AsType[*graph.NodeError](run(update{Name: "x"}, update{Name: "y"}))
	if !ok || failed.Node != "b" || !strings.Contains(failed.Error(), `node "a": both set Name`) {
		t.Errorf("error %v", failed)
	}
	if err := run(update{Words: []string{"x"}, Cost: 1}, update{Words: []string{"y"}, Cost: 2}); err != nil {
		t.Error(err)
	}
}
