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

// matryoshka is three graphs within one: a → s → z at the root; in s b → s,
// twice; in that c and d, then e side by side with f; in s of these g → h.
type matryoshka struct {
	ran   []string
	fail  int // which run of a node fails; 0: none
	asks  bool
	inner *graph.Plan[list, item] // the deepest
	mid   *graph.Plan[list, item]
	root  *graph.Plan[list, item]
}

func (m *matryoshka) word(w string) node {
	return func(ctx context.Context, _ list) (item, error) {
		m.ran = append(m.ran, w)
		if len(m.ran) == m.fail {
			return item{}, errFlaky
		}
		if m.asks && w == "g" {
			ok, err := graph.Ask[bool](ctx, "sure", w)
			return item{fmt.Sprint(w, ok)}, err
		}
		return item{w}, nil
	}
}

func newMatryoshka(t *testing.T) *matryoshka {
	t.Helper()
	m := &matryoshka{}
	in := func(s list) item { return item{fmt.Sprintf("(%d", len(s.Items))} }
	out := func(_, sub list) item { return item{strings.Join(sub.Items, "") + ")"} }
	words := func(letters string) tasks {
		x := tasks{}
		for _, l := range letters {
			x[string(l)] = graph.Task[list, item]{Run: m.word(string(l))}
		}
		return x
	}
	compile := func(x tasks, edges string, branches ...graph.Branch[list]) *graph.Plan[list, item] {
		p, err := plan(t, x, edges, branches...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	m.inner = compile(words("gh"), "^ g, g h, h $")
	x := words("cdef")
	x["s"] = graph.Sub(m.inner, in, out)
	m.mid = compile(x, "^ c, ^ d, c e, d e, e s, e f, s $, f $")
	x = words("b")
	x["s"] = graph.Sub(m.mid, in, out)
	outer := compile(x, "^ b, b s", graph.Branch[list]{From: "s", To: []string{"b", graph.End}, Route: func(s list) string {
		if len(s.Items) < 5 {
			return "b"
		}
		return graph.End
	}})
	x = words("az")
	x["s"] = graph.Sub(outer, in, out)
	m.root = compile(x, "^ a, a s, s z, z $")
	return m
}

func (m *matryoshka) runner(s graph.Store) *runner {
	return m.root.Runner(graph.Options{Store: s, Parallel: 1, CheckCodec: true})
}

func whole(s list) string { return strings.Join(s.Items, "") }

func TestSub(t *testing.T) {
	m := newMatryoshka(t)
	store := newMemStore()
	got, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
	if err != nil {
		t.Fatal(err)
	}
	end := whole(got)
	if n := len(m.ran); n != 2+2*(1+4+2) {
		t.Errorf("ran %d nodes: %v", n, m.ran)
	}
	back, head, err := m.runner(store).State(t.Context(), "t")
	if err != nil || whole(back) != end || head.Status != graph.Completed {
		t.Errorf("reloaded %s, %v; want %s", whole(back), err, end)
	}
	var paths []string
	for _, d := range history(store)[2].Deltas {
		paths = append(paths, fmt.Sprintf("%s:%s:%d", d.Path, d.Node, d.Notes.Step))
	}
	slices.Sort(paths)
	want := []string{
		"::0", "s::0", "s:b:1", "s:b:3", "s:s:2", "s:s:4",
		"s/s#2::0", "s/s#2:c:1", "s/s#2:d:1", "s/s#2:e:2", "s/s#2:f:3", "s/s#2:s:3",
		"s/s#2/s#3::0", "s/s#2/s#3:g:1", "s/s#2/s#3:h:2",
		"s/s#4::0", "s/s#4:c:1", "s/s#4:d:1", "s/s#4:e:2", "s/s#4:f:3", "s/s#4:s:3",
		"s/s#4/s#3::0", "s/s#4/s#3:g:1", "s/s#4/s#3:h:2",
	}
	want[0] = ":s:0"
	slices.Sort(want)
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("paths in the log (-want +got):\n%s", diff)
	}

	// Stopped at any node, resumed: the same end, and nothing done twice but what failed.
	t.Run("resume", func(t *testing.T) {
		total := len(m.ran)
		for fail := 1; fail <= total; fail++ {
			again := newMatryoshka(t)
			again.fail = fail
			fresh := newMemStore()
			if _, err := again.runner(fresh).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); !errors.Is(err, errFlaky) {
				t.Fatalf("run %d: %v", fail, err)
			}
			got, err := again.runner(fresh).Invoke(t.Context(), ask{Thread: "t", Resume: true})
			if err != nil || whole(got) != end || len(again.ran) != 17 {
				t.Errorf("failed at %d: %s, %v, ran %v", fail, whole(got), err, again.ran)
			}
			if len(fresh.threads["t"].pending) != 0 {
				t.Errorf("failed at %d: %d results left behind", fail, len(fresh.threads["t"].pending))
			}
		}
	})

	// From any moment within, at any depth, the same end follows.
	t.Run("fork", func(t *testing.T) {
		forks, commit := 0, history(store)[2].ID
		for _, at := range []struct {
			path string
			plan *graph.Plan[list, item]
		}{{"s/s#2", m.mid}, {"s/s#4", m.mid}, {"s/s#2/s#3", m.inner}, {"s/s#4/s#3", m.inner}} {
			frames, err := at.plan.Inside(t.Context(), store, "t", commit, at.path)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range frames {
				if f.Step != i {
					t.Errorf("%s: frame %d is step %d", at.path, i, f.Step)
				}
				to := fmt.Sprint(at.path, f.Step)
				p := graph.Point{Thread: "t", Commit: commit, Path: at.path, Step: f.Step}
				m.ran = nil
				if err := m.runner(store).Fork(t.Context(), p, to); err != nil {
					t.Fatal(err)
				}
				forked, err := at.plan.Inside(t.Context(), store, to, 0, at.path)
				if err != nil || !cmp.Equal(forked, frames[:i+1]) {
					t.Errorf("%s: forked %v, %v; want %v", to, forked, err, frames[:i+1])
				}
				got, err := m.runner(store).Invoke(t.Context(), ask{Thread: to, Resume: true})
				if err != nil || whole(got) != end {
					t.Errorf("%s: %s, %v", to, whole(got), err)
				}
				if want := map[string]int{"s/s#2/s#30": 11, "s/s#2/s#31": 10, "s/s#2/s#32": 9, "s/s#4/s#32": 2, "s/s#43": 1}[to]; want != 0 && len(m.ran) != want {
					t.Errorf("%s: ran %v, want %d nodes", to, m.ran, want)
				}
				forks++
			}
		}
		if forks != 14 {
			t.Errorf("%d forks, want 14", forks)
		}
		for _, p := range []graph.Point{
			{Thread: "t", Commit: commit, Path: "s/s#3"},
			{Thread: "t", Commit: commit, Path: "s", Step: 5},
			{Thread: "u", Path: "s"},
			{Thread: "t", Commit: 99},
			{Thread: "t", Commit: commit, Path: "s", Step: -1},
		} {
			if err := m.runner(store).Fork(t.Context(), p, "nowhere"); !errors.Is(err, graph.ErrNotFound) {
				t.Errorf("fork at %+v: %v, want ErrNotFound", p, err)
			}
		}
		if store.threads["nowhere"] != nil {
			t.Error("a fork that was refused made a thread")
		}
	})

	t.Run("replay", func(t *testing.T) {
		for _, c := range history(store)[:3] {
			to := fmt.Sprint("replay", c.ID)
			if err := m.runner(store).Fork(t.Context(), graph.Point{Thread: "t", Commit: c.ID}, to); err != nil {
				t.Fatal(err)
			}
			if got, err := m.runner(store).Invoke(t.Context(), ask{Thread: to, Resume: true}); err != nil || whole(got) != end {
				t.Errorf("from commit %d: %s, %v", c.ID, whole(got), err)
			}
		}
	})
}

func TestAskInSub(t *testing.T) {
	m := newMatryoshka(t)
	m.asks = true
	store := newMemStore()
	_, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
	if got := ids(err); !slices.Equal(got, []string{"s/s#2/s#3/g#1/sure"}) {
		t.Fatalf("asked %v", got)
	}
	_, err = m.runner(store).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"sure": true}})
	if got := ids(err); !slices.Equal(got, []string{"s/s#4/s#3/g#1/sure"}) {
		t.Fatalf("asked %v", got)
	}
	got, err := m.runner(store).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"sure": false}})
	if s := whole(got); err != nil || !strings.Contains(s, "gtrueh") || !strings.Contains(s, "gfalseh") {
		t.Errorf("%s, %v", s, err)
	}
	if n := len(m.ran); n != 16+2 {
		t.Errorf("ran %d nodes, want 18: %v", n, m.ran)
	}
}

// An update that the subgraph's Apply refuses is not taken from the log again.
func TestSubApplyError(t *testing.T) {
	say := "bad"
	inner, err := plan(t, tasks{
		"x": {Run: says("x")},
		"y": {Run: func(context.Context, list) (item, error) { return item{say}, nil }},
	}, "^ x, x y, y $")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan(t, tasks{"a": graph.Sub(inner, func(list) item { return item{"i"} }, func(_, sub list) item { return item{whole(sub)} })}, "^ a, a $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: newMemStore()})
	_, err = r.Invoke(t.Context(), ask{Thread: "t"})
	if !errors.Is(err, errRefused) || err.Error() != `node "a", step 1: node "y", step 2: apply update: refused` {
		t.Fatal(err)
	}
	say = "y"
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(s) != "ixy" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestSubEventsHavePaths(t *testing.T) {
	m := newMatryoshka(t)
	var got []string
	for e, err := range m.root.Runner(graph.Options{Parallel: 1}).Stream(t.Context(), ask{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == graph.TaskDone && strings.HasPrefix(e.Path, "s/s#4") {
			got = append(got, e.Path+":"+e.Node)
		}
	}
	want := []string{"s/s#4:c", "s/s#4:d", "s/s#4:e", "s/s#4:f", "s/s#4/s#3:g", "s/s#4/s#3:h", "s/s#4:s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks done (-want +got):\n%s", diff)
	}
}

func TestSubStepLimitAndDrain(t *testing.T) {
	inner := loop(t, 7)
	p, err := plan(t, tasks{"s": graph.Sub(inner, func(list) item { return item{} }, func(_, sub list) item { return item{whole(sub)} })}, "^ s, s $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: newMemStore(), MaxSteps: 3})
	for i := range 3 {
		s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: i > 0})
		if _, limited := errors.AsType[*graph.StepLimitError](err); limited != (i < 2) {
			t.Errorf("call %d: %v, %v", i, s, err)
		}
	}
	if s, head, err := r.State(t.Context(), "t"); err != nil || whole(s) != "aaaaaaa" || head.Status != graph.Completed {
		t.Errorf("%v, %s, %v", s, head.Status, err)
	}
	drain := make(chan struct{})
	close(drain)
	if _, err := p.Runner(graph.Options{Store: newMemStore(), Drain: drain}).Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, graph.ErrDrained) {
		t.Errorf("error %v", err)
	}
}

func TestSubNames(t *testing.T) {
	m := newMatryoshka(t)
	sub := graph.Sub(m.inner, func(list) item { return item{} }, func(_, s list) item { return item{whole(s)} })
	if _, err := plan(t, tasks{"a/b": sub}, "^ a/b, a/b $"); err == nil || !strings.Contains(err.Error(), `node "a/b": names must not contain any of / # [`) {
		t.Errorf("error %v", err)
	}
	if u, err := sub.Run(t.Context(), list{}); err != nil || u.Add != "gh" { // a function, like any node
		t.Errorf("%v, %v", u, err)
	}
}

// A fork can start in a subgraph that waits, also if the step before it ran another subgraph; but not from
// the commit before that step.
func TestForkInSubgraphAfterAnother(t *testing.T) {
	ran := 0
	in := func(list) item { return item{"in"} }
	out := func(_, sub list) item { return item{whole(sub)} }
	p, err := plan(t, tasks{
		"a": graph.Sub(build(t, "x", map[string]node{"x": says("x")}, "^ x, x $"), in, out),
		"b": graph.Sub(build(t, "x y", map[string]node{"x": says("x"), "y": asks(&ran, "k")}, "^ x, x y, y $"), in, out),
	}, "^ a, a b, b $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: newMemStore()})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !slices.Equal(ids(err), []string{"b/y#2/k"}) {
		t.Fatal(err)
	}
	if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: 1, Path: "b"}, "early"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("from the input: %v", err)
	}
	if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: 2, Path: "b", Step: 1}, "u"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "u", Resume: true}); !slices.Equal(ids(err), []string{"b/y#2/k"}) {
		t.Fatal(err)
	}
	got, err := r.Invoke(t.Context(), ask{Thread: "u", Resume: true, Answers: map[string]any{"k": approval{Verdict: "yes"}}})
	if err != nil || whole(got) != "inxinxk:yes" || ran != 3 {
		t.Errorf("%v, %v; y ran %d times", got, err, ran)
	}
}
