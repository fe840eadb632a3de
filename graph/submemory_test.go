package graph_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// talk is a state with the memory of a subgraph.
type talk struct {
	Said   []string `json:"said,omitempty"`
	Memory list     `json:"memory,omitzero"`
}

type talkUpdate struct {
	Say    string `json:"say,omitempty"`
	Memory *list  `json:"memory,omitempty"`
}

func remembering(t *testing.T, sub map[string]node) (*graph.Plan[talk, talkUpdate], *graph.Plan[list, item]) {
	t.Helper()
	inner := build(t, "x y", sub, "^ x, x y, y $")
	p, err := graph.Compile(graph.Graph[talk, talkUpdate]{
		Apply: func(s talk, u talkUpdate) (talk, error) {
			if u.Say != "" {
				s.Said = append(slices.Clip(s.Said), u.Say)
			}
			if u.Memory != nil {
				s.Memory = *u.Memory
			}
			return s, nil
		},
		Nodes: map[string]graph.Task[talk, talkUpdate]{"sub": graph.SubFrom(
			inner,
			func(s talk) list { return s.Memory },
			func(s talk) item { return item{s.Said[len(s.Said)-1]} },
			func(_ talk, end list) talkUpdate { return talkUpdate{Memory: &end} },
		)},
		Edges: graph.Chain(graph.Start, "sub", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, inner
}

// A subgraph with a memory continues where its last call ended, in another process too, and in the
// middle of a call as well.
func TestSubFrom(t *testing.T) {
	ran := 0
	p, inner := remembering(t, map[string]node{"x": says("x"), "y": asks(&ran, "k")})
	m := newMemStore()
	r := func() *graph.Runner[talk, talkUpdate] {
		return p.Runner(graph.Options{Store: m, CheckCodec: true})
	}
	for _, in := range []string{"1", "2"} {
		if _, err := r().Invoke(t.Context(), graph.Request[talkUpdate]{Thread: "t", Input: talkUpdate{Say: in}}); !slices.Equal(ids(err), []string{"sub/y#2/k"}) {
			t.Fatal(err)
		}
		q := graph.Request[talkUpdate]{Thread: "t", Resume: true, Answers: map[string]any{"k": approval{Verdict: "yes"}}}
		if _, err := r().Invoke(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	got, head, err := r().State(t.Context(), "t")
	if want := []string{"1", "x", "k:yes", "2", "x", "k:yes"}; err != nil || !cmp.Equal(got.Memory.Items, want) {
		t.Errorf("%q, %v; want %q", got.Memory.Items, err, want)
	}
	frames, err := inner.Inside(t.Context(), m, "t", head.ID, "sub")
	if err != nil || len(frames) != 3 || whole(frames[0].State) != "1xk:yes2" || whole(frames[2].State) != whole(got.Memory) {
		t.Errorf("frames %+v, %v", frames, err)
	}
	forget := func(context.Context, talk, graph.Commit) ([]talkUpdate, error) {
		return []talkUpdate{{Memory: &list{Items: []string{"edited"}}}}, nil
	}
	if _, _, err := r().Update(t.Context(), graph.Edit[talk, talkUpdate]{Thread: "t", Change: forget}); err != nil {
		t.Fatal(err)
	}
	_, err = r().Invoke(t.Context(), graph.Request[talkUpdate]{Thread: "t", Input: talkUpdate{Say: "3"}})
	if !slices.Equal(ids(err), []string{"sub/y#2/k"}) {
		t.Fatal(err)
	}
	if frames, err = inner.Inside(t.Context(), m, "t", 0, "sub"); err != nil || whole(frames[1].State) != "edited3x" {
		t.Errorf("frames %+v, %v", frames, err)
	}
}

// A run stops at breakpoints of subgraphs at any depth, once at each, also in fresh runners; finished nodes
// do not run again.
func TestBreakpointsInSubgraphs(t *testing.T) {
	want := newMatryoshka(t)
	end, err := want.runner(nil).Invoke(t.Context(), ask{Input: item{"?"}})
	if err != nil {
		t.Fatal(err)
	}
	m, store := newMatryoshka(t), newMemStore()
	o := graph.Options{Store: store, CheckCodec: true, Parallel: 1, BreakBefore: []string{"s", "s/s/s/h"}, BreakAfter: []string{"s/b", "s/s/c"}}
	var stops []string
	got, err := m.root.Runner(o).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
	for n := 0; err != nil && n < 20; n++ {
		stops = append(stops, err.Error()[strings.Index(err.Error(), "stopped"):])
		got, err = m.root.Runner(o).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	}
	if err != nil || !cmp.Equal(got, end) {
		t.Errorf("%v, %v; want %v", got, err, end)
	}
	inside := []string{`stopped after ["s/b"]`, `stopped after ["s/s/c"]`, `stopped before ["s/s/s/h"]`}
	if diff := cmp.Diff(append([]string{`stopped before ["s"]`}, append(inside, inside...)...), stops); diff != "" {
		t.Errorf("stops (-want +got):\n%s", diff)
	}
	if len(m.ran) != len(want.ran) {
		t.Errorf("%d nodes ran, want %d: %v", len(m.ran), len(want.ran), m.ran)
	}
	if _, err := m.root.Runner(graph.Options{BreakBefore: []string{"s/nobody"}}).Invoke(t.Context(), ask{}); err == nil || !strings.Contains(err.Error(), `unknown node "s/nobody"`) {
		t.Error(err)
	}
}

// The updates of a subgraph reach the consumer while the subgraph runs.
func TestUpdatesOutOfSubgraphs(t *testing.T) {
	p, _ := remembering(t, map[string]node{"x": says("x"), "y": says("y")})
	var got []string
	for e, err := range p.Runner(graph.Options{}).Stream(t.Context(), graph.Request[talkUpdate]{Input: talkUpdate{Say: "1"}, Modes: graph.Updates | graph.Tasks}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == graph.TaskDone {
			got = append(got, e.Path+"/"+e.Node+string(e.Tasks[0].Body))
		}
	}
	want := []string{`sub/x{"add":"x"}`, `sub/y{"add":"y"}`, `/sub{"memory":{"items":["1","x","y"]}}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
