package graph_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/graph/memstore"
)

// A task can ask where it is: at the root, in a worker, in a subgraph, and in which attempt.
func TestInfo(t *testing.T) {
	if got := graph.Info(t.Context()); got != (graph.TaskInfo{}) {
		t.Errorf("outside a run: %+v", got)
	}
	var got []graph.TaskInfo
	inner := build(t, "in", map[string]node{"in": func(ctx context.Context, _ list) (item, error) {
		got = append(got, graph.Info(ctx))
		return item{}, nil
	}}, "^ in, in $")
	p := must(graph.Graph[list, item]{
		Name: "test", Apply: appendItem,
		Nodes: tasks{
			"a": {Run: func(ctx context.Context, _ list) (item, error) {
				got = append(got, graph.Info(ctx))
				if graph.Info(ctx).Attempt == 1 {
					return item{}, errRefused
				}
				return item{}, nil
			}, Retry: graph.Retry{Attempts: 2, First: time.Nanosecond}},
			"b": graph.Sub(inner, func(list) item { return item{} }, func(list, list) item { return item{} }),
		},
		Edges: graph.Chain(graph.Start, "a", "b", graph.End),
	})
	r := p.Runner(graph.Options{Store: memstore.New(), MaxSteps: 5})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r"}); err != nil {
		t.Fatal(err)
	}
	want := []graph.TaskInfo{
		{Thread: "t", Run: "r", Node: "a", Step: 1, Attempt: 1, StepsLeft: 4},
		{Thread: "t", Run: "r", Node: "a", Step: 1, Attempt: 2, StepsLeft: 4},
		{Thread: "t", Run: "r", Path: "b", Node: "in", Step: 1, Attempt: 1, StepsLeft: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Several branches and an edge leave one node, and Start: all are followed.
func TestSeveralBranches(t *testing.T) {
	to := func(name string) func(list) string { return func(list) string { return name } }
	nodes := map[string]node{}
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		nodes[n] = says(n)
	}
	p := build(t, "a b c d e f g", nodes, "^ a, a c, b $, c $, d $, e $, f $, g $",
		graph.Branch[list]{From: graph.Start, Route: to("b"), To: []string{"b", "g"}},
		graph.Branch[list]{From: "a", Route: to("d"), To: []string{"d", graph.End}},
		graph.Branch[list]{From: "a", Route: to("e"), To: []string{"e", "f"}},
	)
	store := memstore.New()
	events, err := told(t, p.Runner(graph.Options{Store: store}), ask{Thread: "t"})
	want := []string{"run_started running a+b ", "step_done running c+d+e ab", "step_done completed  abcde", "run_ended completed  abcde"}
	if diff := cmp.Diff(want, events); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The end of a subgraph chooses where the graph around it continues.
func TestSubPick(t *testing.T) {
	inner := build(t, "in", map[string]node{"in": says("left")}, "^ in, in $")
	p := must(graph.Graph[list, item]{
		Name: "outer", Apply: appendItem,
		Nodes: tasks{
			"sub": graph.SubPick(inner, func(list) item { return item{} },
				func(_, end list) (item, []string) { return item{"sub "}, end.Items }, "left", "right"),
			"left": {Run: says("left")}, "right": {Run: says("right")},
		},
		Edges: []graph.Edge{{From: graph.Start, To: "sub"}, {From: "left", To: graph.End}, {From: "right", To: graph.End}},
	})
	if s, err := p.Runner(graph.Options{Store: memstore.New()}).Invoke(t.Context(), ask{Thread: "t"}); err != nil || whole(s) != "sub left" {
		t.Error(s, err)
	}
	picture := draw.Mermaid(p.Shape())
	for _, want := range []string{"subgraph n1[\"sub\"]\n", "n1_n1[\"in\"]", "n1_n1 --> n1_stop\n    end\n", "start --> n1\n"} {
		if !strings.Contains(picture, want) {
			t.Errorf("drawing without %q:\n%s", want, picture)
		}
	}
}

// disk is a CacheStore that outlives its caches.
type disk struct {
	mu   sync.Mutex
	kept map[string][]byte
	err  error
}

func (d *disk) Get(_ context.Context, key string) ([]byte, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	body, ok := d.kept[key]
	return body, ok, d.err
}

func (d *disk) Put(_ context.Context, key string, entry []byte, _ time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.kept[key] = entry
	}
	return d.err
}

func TestCacheOutlivesTheProcess(t *testing.T) {
	store, ran := &disk{kept: map[string][]byte{}}, 0
	process := func() (list, graph.Notes) {
		p := must(graph.Graph[list, item]{
			Name: "test", Apply: appendItem, Edges: graph.Chain(graph.Start, "a", graph.End),
			Nodes: tasks{"a": {Run: counts(&ran), Cache: &graph.Cache[list, item]{Key: func(list) string { return "k" }, Store: store}}},
		})
		var last graph.Notes
		var s list
		for e, err := range p.Runner(graph.Options{}).Run(t.Context(), ask{}) {
			if err != nil {
				t.Fatal(err)
			}
			if s = e.State; e.Kind == graph.StepDone {
				last = e.Tasks[0].Notes
			}
		}
		return s, last
	}
	process()
	if s, notes := process(); ran != 1 || whole(s) != "c" || !notes.Cached {
		t.Errorf("ran %d times, %v, %+v", ran, s, notes)
	}
	store.err = errRefused
	if s, notes := process(); ran != 2 || whole(s) != "c" || len(notes.Warnings) != 2 {
		t.Errorf("without its store: ran %d times, %v, %q", ran, s, notes.Warnings)
	}
}

// SaveAtEnd writes the input and one commit of all steps; a stop saves the steps before it.
func TestSaveAtEnd(t *testing.T) {
	m, broken := newMemStore(), true
	p := three(t, map[string]node{"d": func(context.Context, list) (item, error) {
		if broken {
			return item{}, errRefused
		}
		return item{"d"}, nil
	}})
	r := func() *runner { return p.Runner(graph.Options{Store: m, SaveAtEnd: true}) }
	if _, err := r().Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	broken = false
	if s, err := r().Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(s) != "?abcd" {
		t.Fatal(s, err)
	}
	if s, err := r().Invoke(t.Context(), ask{Thread: "t", Input: item{"!"}}); err != nil || whole(s) != "?abcd!abcd" {
		t.Fatal(s, err)
	}
	want := []string{
		`input running a {"add":"?"}`,
		`loop running d a{"add":"a"} b{"add":"b"} c{"add":"c"}`,
		`close failed d drefused`,
		`loop completed  d{"add":"d"}`,
		`input running a {"add":"!"}`,
		`loop completed  a{"add":"a"} b{"add":"b"} c{"add":"c"} d{"add":"d"}`,
	}
	if diff := cmp.Diff(want, logged(m)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if s, _, err := r().State(t.Context(), "t"); err != nil || whole(s) != "?abcd!abcd" {
		t.Errorf("reloaded %v, %v", s, err)
	}
}

// Every stops before or after each step.
func TestBreakpointOnEveryNode(t *testing.T) {
	for _, o := range []graph.Options{{BreakBefore: []string{graph.Every}}, {BreakAfter: []string{graph.Every}}} {
		o.Store = memstore.New()
		r, stops := three(t, map[string]node{}).Runner(o), 0
		s, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
		for ; err != nil; stops++ {
			if _, ok := errors.AsType[*graph.InterruptError](err); !ok {
				t.Fatal(err)
			}
			s, err = r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
		}
		if want := 2 + min(1, len(o.BreakBefore)); stops != want || whole(s) != "?abcd" {
			t.Errorf("%d stops, want %d; %v", stops, want, s)
		}
	}
}

// Batch keeps the order and the bound, and one failure stops nothing else.
func TestBatch(t *testing.T) {
	var now, most atomic.Int32
	r := build(t, "a", map[string]node{"a": func(_ context.Context, s list) (item, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		if s.Items[0] == "3" {
			return item{}, errRefused
		}
		return item{"a"}, nil
	}}, "^ a, a $").Runner(graph.Options{})
	var requests []ask
	for i := range 9 {
		requests = append(requests, ask{Input: item{strconv.Itoa(i)}})
	}
	for i, got := range r.Batch(t.Context(), requests, 1) {
		if want := strconv.Itoa(i) + "a"; i != 3 && (got.Err != nil || whole(got.State) != want) || i == 3 && !errors.Is(got.Err, errRefused) {
			t.Errorf("%d: %v, %v", i, got.State, got.Err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
	if all := r.Batch(t.Context(), requests[:3], 0); len(all) != 3 || slices.ContainsFunc(all, func(g graph.Result[list]) bool { return g.Err != nil }) {
		t.Errorf("%v", all)
	}
}
