package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// talker is a subgraph beside a fan-out, both of which talk.
func talker(t *testing.T) *graph.Plan[list, item] {
	t.Helper()
	talk := func(w string) node {
		return func(ctx context.Context, _ list) (item, error) {
			graph.EmitToken(ctx, w)
			graph.Emit(ctx, len(w))
			return item{w}, nil
		}
	}
	inner, err := plan(t, tasks{"x": {Run: talk("x")}}, "^ x, x $")
	if err != nil {
		t.Fatal(err)
	}
	fan := graph.FanOut(2, func(list) []string { return []string{"p", "q", "r"} },
		func(ctx context.Context, s list, w string) (item, error) { return talk(w)(ctx, s) },
		func(list, []item) (item, error) { return item{"f"}, nil })
	p, err := plan(t, tasks{
		"a": graph.Sub(inner, func(list) item { return item{} }, func(_, s list) item { return item{whole(s)} }),
		"f": {Run: fan}, "z": {Run: talk("z")},
	}, "^ a, ^ f, a z, f z, z $")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestModes(t *testing.T) {
	p := talker(t)
	for _, tt := range []struct {
		name  string
		modes graph.Mode
		want  map[graph.EventKind]int
		state bool
		body  bool
	}{
		{"usual", 0, map[graph.EventKind]int{"run_started": 1, "task_started": 4, "task_done": 4, "token": 5, "custom": 5, "step_done": 2, "run_ended": 1}, true, false},
		{"values", graph.Values, map[graph.EventKind]int{"run_started": 1, "step_done": 2, "run_ended": 1}, true, false},
		{"updates", graph.Updates, map[graph.EventKind]int{"run_started": 1, "step_done": 2, "run_ended": 1}, false, true},
		{"tasks", graph.Tasks, map[graph.EventKind]int{"run_started": 1, "task_started": 4, "task_done": 4, "step_done": 2, "run_ended": 1}, false, false},
		{"tokens", graph.Tokens, map[graph.EventKind]int{"run_started": 1, "token": 5, "step_done": 2, "run_ended": 1}, false, false},
		{"custom and values", graph.Customs | graph.Values, map[graph.EventKind]int{"run_started": 1, "custom": 5, "step_done": 2, "run_ended": 1}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := map[graph.EventKind]int{}
			for e, err := range p.Runner(graph.Options{}).Stream(t.Context(), ask{Input: item{"?"}, Modes: tt.modes}) {
				if err != nil {
					t.Fatal(err)
				}
				got[e.Kind]++
				if e.Kind == graph.Token && e.Value == "x" && e.Path+"/"+e.Node != "a/x" {
					t.Errorf("token of %q at %q", e.Node, e.Path)
				}
				if e.Kind != graph.StepDone {
					continue
				}
				if (len(e.State.Items) > 0) != tt.state || (string(e.Tasks[0].Body) != "") != tt.body {
					t.Errorf("step told with state %v, update %s", e.State, e.Tasks[0].Body)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFirstEvent: a reader of a run learns that it began before anything
// of it runs, and pays for nothing but that when leaving at once.
func TestFirstEvent(t *testing.T) {
	ran := false
	r := build(t, "a", map[string]node{"a": func(context.Context, list) (item, error) { ran = true; return item{}, nil }}, "^ a, a $").
		Runner(graph.Options{})
	for e, err := range r.Stream(t.Context(), ask{}) {
		if err != nil || e.Kind != graph.RunStarted || ran {
			t.Errorf("first event %s, %v; the node ran: %v", e.Kind, err, ran)
		}
		break
	}
	if ran {
		t.Error("the node ran for somebody who left")
	}
}

// A consumer that leaves, panics or stalls at any event leaves no goroutine.
func TestConsumersLeaveNothing(t *testing.T) {
	p := talker(t)
	for _, how := range []string{"breaks", "panics", "stalls"} {
		for at := range 22 {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
				defer func() {
					if v := recover(); v != nil && v != how {
						panic(v)
					}
				}()
				n := 0
				for _, err := range p.Runner(graph.Options{Store: newMemStore()}).Stream(t.Context(), ask{Thread: "t"}) {
					if err != nil {
						t.Error(err)
					}
					if n++; n <= at {
						continue
					}
					switch how {
					case "breaks":
						return
					case "panics":
						panic(how)
					}
					<-time.After(time.Hour)
				}
			})
		}
	}
}

// tree is a hook that writes spans as they end, indented by how deep they lie.
type tree struct{ lines []string }

type depthKey struct{}

func (h *tree) Begin(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	depth, _ := ctx.Value(depthKey{}).(int)
	i := len(h.lines)
	h.lines = append(h.lines, "")
	return context.WithValue(ctx, depthKey{}, depth+1), func(err error) {
		name := strings.TrimRight(string(s.Kind)+" "+strings.TrimPrefix(s.Path+"/"+s.Node, "/"), " /")
		if s.Attempt > 1 {
			name += fmt.Sprint(" #", s.Attempt)
		}
		if err != nil {
			name += fmt.Sprint(": ", err)
		}
		h.lines[i] = strings.Repeat("  ", depth) + name
	}
}

// Spans for OpenTelemetry or any other tracer: what Begin returns is the context
// under which the node and all below it run.
func ExampleHook() {
	says := func(s string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(context.Context, string) (string, error) { return s, nil }}
	}
	apply := func(s, u string) (string, error) { return s + u, nil }
	inner := must(graph.Graph[string, string]{
		Apply: apply, Nodes: map[string]graph.Task[string, string]{"look": says("looked")}, Order: []string{"look"},
		Edges: []graph.Edge{{From: graph.Start, To: "look"}, {From: "look", To: graph.End}},
	})
	first := true
	flaky := graph.Task[string, string]{Retry: graph.Retry{Attempts: 2, First: time.Millisecond}, Run: func(context.Context, string) (string, error) {
		if first {
			first = false
			return "", errors.New("too busy")
		}
		return "answered", nil
	}}
	plan := must(graph.Graph[string, string]{
		Apply: apply,
		Nodes: map[string]graph.Task[string, string]{
			"search": graph.Sub(inner, func(string) string { return "" }, func(_, s string) string { return s }), "answer": flaky,
		},
		Order: []string{"search", "answer"},
		Edges: []graph.Edge{{From: graph.Start, To: "search"}, {From: "search", To: "answer"}, {From: "answer", To: graph.End}},
	})
	spans := &tree{}
	if _, err := plan.Runner(graph.Options{Hook: spans}).Invoke(context.Background(), graph.Request[string]{}); err != nil {
		fmt.Println(err)
	}
	for _, l := range spans.lines {
		fmt.Println(l)
	}
	// Output:
	// run
	//   step
	//     task search
	//       attempt search
	//         step search
	//           task search/look
	//             attempt search/look
	//   step
	//     task answer
	//       attempt answer: too busy
	//       attempt answer #2
}

// A consumer of tokens, or of other values, alone sees which attempts do not count: what is left is what the finished
// attempts emitted.
func TestDiscardedAttempts(t *testing.T) {
	attempts := map[string]int{}
	talk := func(name string, failures int) node {
		return func(ctx context.Context, _ list) (item, error) {
			attempts[name]++
			n := strconv.Itoa(attempts[name])
			graph.EmitToken(ctx, name)
			graph.Emit(ctx, name)
			graph.EmitToken(ctx, n)
			graph.Emit(ctx, n)
			if attempts[name] <= failures {
				return item{}, errFlaky
			}
			return item{name}, nil
		}
	}
	retry := graph.Retry{Attempts: 3, First: 1}
	for _, mode := range []graph.Mode{graph.Tokens, graph.Customs, graph.Tokens | graph.Tasks} {
		clear(attempts)
		inner := spoken(t, tasks{"x": {Run: talk("x", 0)}, "y": {Run: talk("y", 1)}}, "^ x, x y, y $")
		sub := graph.Sub(inner, func(list) item { return item{} }, func(_, s list) item { return item{whole(s)} })
		sub.Retry = retry
		caught := graph.OnError[list, item]{Update: func(list, graph.Failure) item { return item{"sorry"} }}
		p := spoken(t, tasks{
			"a": {Run: talk("a", 2), Retry: retry}, "s": sub, "c": {Run: talk("c", 9), OnError: caught}, "z": {Run: talk("z", 0)},
		}, "^ a, ^ s, ^ c, a z, s z, c z, z $")
		got := map[string]string{}
		for e, err := range p.Runner(graph.Options{Parallel: 1}).Stream(t.Context(), ask{Input: item{"?"}, Modes: mode}) {
			if err != nil {
				t.Fatal(err)
			}
			at := e.Path + "/" + e.Node
			switch {
			case e.Kind == graph.Token, e.Kind == graph.Custom:
				got[at] += e.Value.(string)
			case e.Kind == graph.TaskRetried, e.Kind == graph.TaskDone && (e.Tasks[0].Error != "" || e.Tasks[0].Notes.Caught != ""):
				delete(got, at)
			}
		}
		want := map[string]string{"/a": "a3", "s/x": "x1", "s/y": "y2", "/z": "z1"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mode %b (-want +got):\n%s", mode, diff)
		}
	}
}
