package graph_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// An edit changes the state of a subgraph that waits for an answer. The resume sees it, also in fresh
// runners; the log and a fork after it have it, a fork before it does not.
func TestUpdateInSubgraph(t *testing.T) {
	var saw []string
	p, inner := remembering(t, map[string]node{"x": says("x"), "y": func(ctx context.Context, s list) (item, error) {
		saw = append(saw, whole(s))
		a, err := graph.Ask[approval](ctx, "k", "sure?")
		return item{a.Verdict}, err
	}})
	m := newMemStore()
	o := graph.Options{Store: m, CheckCodec: true}
	within := edit{Thread: "t", Path: "sub", Updates: []item{{"edit"}}}
	if _, _, err := inner.Runner(o).Update(t.Context(), within); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("edit of no thread: %v", err)
	}
	if _, err := p.Runner(o).Invoke(t.Context(), graph.Request[talkUpdate]{Thread: "t", Input: talkUpdate{Say: "1"}}); !slices.Equal(ids(err), []string{"sub/y#2/k"}) {
		t.Fatal(err)
	}
	if err := p.Runner(o).Fork(t.Context(), graph.Point{Thread: "t"}, "before"); err != nil {
		t.Fatal(err)
	}
	_, head, err := p.Runner(o).State(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1xedit", "1xeditedit"} {
		got, at, err := inner.Runner(o).Update(t.Context(), within)
		if err != nil || whole(got) != want || at != head.ID {
			t.Errorf("edited %q at %d, %v; want %q at %d", whole(got), at, err, want, head.ID)
		}
	}
	change := func(_ context.Context, s list, _ graph.Commit) ([]item, error) {
		return []item{{"more"}}, nil
	}
	if s, _, err := inner.Runner(o).Update(t.Context(), edit{Thread: "t", Path: "sub", Change: change}); err != nil || whole(s) != "1xediteditmore" {
		t.Fatal(whole(s), err)
	}
	if err := p.Runner(o).Fork(t.Context(), graph.Point{Thread: "t", Path: "sub", Step: 1}, "after"); err != nil {
		t.Fatal(err)
	}
	if err := p.Runner(o).Fork(t.Context(), graph.Point{Thread: "t", Path: "sub"}, "step0"); err != nil {
		t.Fatal(err)
	}
	frames, err := inner.Inside(t.Context(), m, "t", 0, "sub")
	if want := []graph.Frame[list]{{State: list{[]string{"1"}}}, {Step: 1, State: list{[]string{"1", "x", "edit", "edit", "more"}}, Nodes: []string{"x"}}}; err != nil || !cmp.Equal(frames, want) {
		t.Errorf("frames %+v, %v; want %+v", frames, err, want)
	}

	for thread, want := range map[string]string{"t": "1xediteditmoreyes", "before": "1xyes", "after": "1xediteditmoreyes", "step0": "1xyes"} {
		saw = nil
		q := graph.Request[talkUpdate]{Thread: thread, Resume: true}
		if thread == "step0" || thread == "after" { // forks in a step have no open questions: the question is asked again
			if _, err := p.Runner(o).Invoke(t.Context(), q); !slices.Equal(ids(err), []string{"sub/y#2/k"}) {
				t.Fatal(err)
			}
		}
		q.Answers = map[string]any{"k": approval{Verdict: "yes"}}
		got, err := p.Runner(o).Invoke(t.Context(), q)
		if err != nil || whole(got.Memory) != want || saw[len(saw)-1]+"yes" != want {
			t.Errorf("%s: %q, %v, y saw %q; want %q", thread, whole(got.Memory), err, saw, want)
		}
	}
	frames, err = inner.Inside(t.Context(), m, "t", 0, "sub")
	if err != nil || len(frames) != 3 || whole(frames[1].State) != "1xediteditmore" || whole(frames[2].State) != "1xediteditmoreyes" {
		t.Errorf("frames in the log %+v, %v", frames, err)
	}
	if _, _, err := inner.Runner(o).Update(t.Context(), within); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("edit after the call: %v", err)
	}
}

// An edit reaches a subgraph at any depth, before its first step too.
func TestUpdateInDeepSubgraph(t *testing.T) {
	m, store := newMatryoshka(t), newMemStore()
	m.asks = true
	if _, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); !slices.Equal(ids(err), []string{"s/s#2/s#3/g#1/sure"}) {
		t.Fatal(err)
	}
	o := graph.Options{Store: store}
	for path, plan := range map[string]*graph.Plan[list, item]{"s/s#2/s#3": m.inner, "s/s#2": m.mid} {
		if _, _, err := plan.Runner(o).Update(t.Context(), edit{Thread: "t", Path: path, Updates: []item{{"!"}}}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"sure": true}})
	if !slices.Equal(ids(err), []string{"s/s#4/s#3/g#1/sure"}) {
		t.Fatal(err)
	}
	for _, path := range []string{"s/s#2/s#3", "s/s#2", "s/s#3", "a", "nobody"} { // the first two are over
		if _, _, err := m.inner.Runner(o).Update(t.Context(), edit{Thread: "t", Path: path, Updates: []item{{"!"}}}); !errors.Is(err, graph.ErrNotFound) {
			t.Errorf("edit of %q: %v", path, err)
		}
	}
	got, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"sure": false}})
	if want := "?a(2b(2cde!f(4!gtrueh))b(4cdef(4gfalseh)))z"; err != nil || whole(got) != want {
		t.Errorf("%s, %v; want %s", whole(got), err, want)
	}
}

// Edits of a subgraph that cannot be kept are refused and change nothing.
func TestUpdateInSubgraphRefused(t *testing.T) {
	ran := 0
	p, inner := remembering(t, map[string]node{"x": says("x"), "y": asks(&ran, "k")})
	m := newMemStore()
	o := graph.Options{Store: m}
	if _, err := p.Runner(o).Invoke(t.Context(), graph.Request[talkUpdate]{Thread: "t", Input: talkUpdate{Say: "1"}}); !slices.Equal(ids(err), []string{"sub/y#2/k"}) {
		t.Fatal(err)
	}
	pending := len(m.threads["t"].pending)
	for _, e := range []edit{
		{Updates: []item{{"bad"}}},
		{Updates: []item{{"a"}, {"b"}}},
		{Updates: []item{{"a"}}, As: "x"},
		{Updates: []item{{"a"}}, From: 1},
		{Updates: []item{{"a"}}, Source: graph.SourceUndo},
		{Updates: []item{{"a"}}, Metadata: map[string]string{"a": "b"}},
	} {
		e.Thread, e.Path = "t", "sub"
		if _, _, err := inner.Runner(o).Update(t.Context(), e); err == nil {
			t.Errorf("%+v: no error", e)
		}
	}
	if s, _, err := inner.Runner(o).Update(t.Context(), edit{Thread: "t", Path: "sub"}); err != nil || whole(s) != "1x" {
		t.Errorf("edit without an update: %v, %v", s, err)
	}
	if n := len(m.threads["t"].pending); n != pending {
		t.Errorf("%d pending results, want %d", n, pending)
	}
}
