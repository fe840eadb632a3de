package graph_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// crashed leaves a thread as a process leaves it that dies in the middle of
// the step of b and c: the lease ran out, nothing closed the run.
func crashed(t *testing.T, results ...graph.TaskResult) *memStore {
	t.Helper()
	m := newMemStore()
	p := three(t, map[string]node{})
	for e, err := range p.Runner(graph.Options{Store: m}).Run(t.Context(), ask{Thread: "t", Run: "r", Input: item{"?"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step == 1 {
			break
		}
	}
	th := m.threads["t"]
	th.commits = th.commits[:2] // without the commit that closed it
	th.pending = results
	return m
}

func pended(name string, rank int, body string) graph.TaskResult {
	return graph.TaskResult{Run: "r", Step: 2, Attempt: 1, Delta: graph.Delta{Node: name, Rank: rank, Body: []byte(body)}}
}

func TestResumeAfterCrash(t *testing.T) {
	b, c := pended("b", 1, `{"add":"B"}`), pended("c", 2, `{"add":"C"}`)
	otherRun, otherStep, unknown, failed := b, b, b, b
	otherRun.Run, otherStep.Step, unknown.Delta.Node, failed.Delta.Error = "q", 1, "z", "boom"
	for _, tt := range []struct {
		name    string
		results []graph.TaskResult
		want    string
	}{
		{"nothing saved", nil, "?abcd"},
		{"one saved", []graph.TaskResult{c}, "?abCd"},
		{"all saved", []graph.TaskResult{b, c}, "?aBCd"},
		{"saved for something else", []graph.TaskResult{otherRun, otherStep, unknown, failed}, "?abcd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := crashed(t, tt.results...)
			r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
			state, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
			if err != nil || strings.Join(state.Items, "") != tt.want {
				t.Errorf("resumed to %v, %v; want %s", state.Items, err, tt.want)
			}
			if back, _, err := r.State(t.Context(), "t"); err != nil || !cmp.Equal(state, back) {
				t.Errorf("reloaded %v, %v; want %v", back.Items, err, state.Items)
			}
		})
	}
}

// Damage is reported with its place, and nothing is written over it.
func TestDamagedThreads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(*memThread)
		want   string
	}{
		{"snapshot", func(th *memThread) { th.commits[1].Snapshot = []byte("{") }, `snapshot 2: unexpected end of JSON input`},
		{"update", func(th *memThread) { th.commits[1].Deltas[0].Body = []byte(`{"add":7}`) }, `update of node "a": json: cannot unmarshal`},
		{"update that is refused", func(th *memThread) { th.commits[1].Deltas[0].Body = []byte(`{"add":"bad"}`) }, `update of node "a": refused`},
		{"saved result", func(th *memThread) { th.pending = []graph.TaskResult{pended("b", 1, "[")} }, `saved result of node "b"`},
		{"frontier", func(th *memThread) { th.commits[1].Frontier = []string{"z"} }, `it has no node "z"`},
		{"status", func(th *memThread) { th.commits[1].Status = "odd" }, `cannot resume a run that is odd`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := crashed(t)
			tt.damage(m.threads["t"])
			before := logged(m)
			_, err := three(t, map[string]node{}).Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), `thread "t": `) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if diff := cmp.Diff(before, logged(m)); diff != "" {
				t.Errorf("log was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestResumeWithoutStore(t *testing.T) {
	_, err := three(t, map[string]node{}).Runner(graph.Options{}).Invoke(t.Context(), ask{Resume: true})
	if !errors.Is(err, graph.ErrNothingToDo) {
		t.Errorf("error %v, want ErrNothingToDo", err)
	}
}

// A value that JSON cannot hold fails when it is to be written.
func TestNotANumber(t *testing.T) {
	long := strings.Repeat("x", 20<<10) // enough for a snapshot to be due
	type update struct {
		F float64
		S string
	}
	compiled := func(apply func(float64, update) (float64, error), result update) *graph.Runner[float64, update] {
		return must(graph.Graph[float64, update]{
			Apply: apply,
			Nodes: map[string]graph.Task[float64, update]{"a": {Run: func(context.Context, float64) (update, error) { return result, nil }}},
			Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
		}).Runner(graph.Options{Store: newMemStore()})
	}
	keep := func(s float64, _ update) (float64, error) { return s, nil }
	spoil := func(_ float64, u update) (float64, error) {
		if u.S == "" {
			return 0, nil
		}
		return math.NaN(), nil
	}
	for _, tt := range []struct {
		name  string
		r     *graph.Runner[float64, update]
		input update
		want  string
	}{
		{"input", compiled(keep, update{}), update{F: math.NaN()}, `thread "t": encode input: json: unsupported value: NaN`},
		{"update", compiled(keep, update{F: math.NaN()}), update{}, `node "a", step 1: encode update: json: unsupported value: NaN`},
		{"state", compiled(spoil, update{S: long}), update{}, `node "a", step 1: apply update: state is NaN, which JSON cannot hold`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.r.Invoke(t.Context(), graph.Request[update]{Thread: "t", Input: tt.input})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
