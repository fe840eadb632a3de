package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// till charges money by Once, with a record of the keys, before it asks.
type till struct {
	mu   sync.Mutex // nodes charge side by side
	keys []string
}

func (m *till) charges(key string) node {
	return func(ctx context.Context, _ list) (item, error) {
		_, err := graph.Once(ctx, "charge", func(_ context.Context, idempotency string) (int, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.keys = append(m.keys, key+" "+idempotency)
			return 1, nil
		})
		if err != nil {
			return item{}, err
		}
		a, err := graph.Ask[approval](ctx, key, key+"?")
		return item{key + ":" + a.Verdict}, err
	}
}

// charged returns how often each node charged, and checks that no two charges have the same key.
func (m *till) charged(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for i, k := range m.keys {
		name, key, _ := strings.Cut(k, " ")
		out[name]++
		if slices.ContainsFunc(m.keys[:i], func(other string) bool { return strings.HasSuffix(other, " "+key) }) {
			t.Errorf("two charges have the key %s", key)
		}
	}
	return out
}

// An edit as a node replaces the result of that node only: what else waits or has begun in the superstep
// continues as if nothing had happened, and each breakpoint stops the run once.
func TestEditAsNodeKeepsTheOthers(t *testing.T) {
	yes := func(keys ...string) map[string]any {
		out := map[string]any{}
		for _, k := range keys {
			out[k] = approval{Verdict: "yes"}
		}
		return out
	}
	again := graph.Branch[list]{From: "a", To: []string{"a", "c"}, Route: func(s list) string {
		if slices.Contains(s.Items, "loop") && !slices.Contains(s.Items, "a:yes") {
			return "a"
		}
		return "c"
	}}
	wait := graph.Task[list, item]{Wait: graph.Join}
	for _, tt := range []struct {
		name     string
		nodes    func(*till) tasks
		edges    string
		branches []graph.Branch[list]
		before   []string // breakpoints
		do       []any    // in this order: edits; answers of a resume, nil for none
		stops    []string
		want     string
		charged  map[string]int
	}{
		{
			"the node before the breakpoint", nil, "^ a, a b, b $", nil,
			[]string{"b"},
			[]any{edit{As: "a", Updates: []item{{"A"}}}, yes()},
			[]string{"before [b]"},
			"?aAb", nil,
		},
		{
			"twice, with a change between", nil, "^ a, a b, b $", nil,
			[]string{"b"},
			[]any{edit{As: "a", Updates: []item{{"A"}}}, edit{Updates: []item{{"x"}}}, edit{As: "a", Updates: []item{{"A"}}}, yes()},
			[]string{"before [b]"},
			"?aAxAb", nil,
		},
		{
			"the node at the breakpoint: the next breakpoint stops", nil, "^ a, a b, b c, c $", nil,
			[]string{"b", "c"},
			[]any{edit{As: "b", Updates: []item{{"B"}}}, yes(), yes()},
			[]string{"before [b]", "before [c]"},
			"?aBc", nil,
		},
		{
			"one of two at the breakpoint", func(*till) tasks { return tasks{"z": wait} }, "^ a, ^ b, a z, b z, z $", nil,
			[]string{"a", "b"},
			[]any{edit{As: "a", Updates: []item{{"A"}}}, yes()},
			[]string{"before [a b]"},
			"?Abz", nil,
		},
		{
			"a question of a sibling", func(m *till) tasks { return tasks{"b": {Run: m.charges("b")}, "z": wait} },
			"^ a, ^ b, a c, c z, b z, z $", nil, nil,
			[]any{edit{As: "a", Updates: []item{{"A"}}}, yes("b")},
			[]string{"[b/b]"},
			"?Ab:yescz",
			map[string]int{"b": 1},
		},
		{
			"questions of both: that of the edited node is gone", func(m *till) tasks {
				return tasks{"a": {Run: m.charges("a")}, "b": {Run: m.charges("b")}, "z": wait}
			},
			"^ a, ^ b, a c, c z, b z, z $", nil,
			[]string{"c"},
			[]any{edit{As: "a", Updates: []item{{"A"}}}, yes("b"), yes(), yes("b")},
			[]string{"[a/a b/b]", "before [c]"},
			"?Ab:yescz",
			map[string]int{"a": 1, "b": 1},
		},
		{
			"the node before the one that asks", func(m *till) tasks { return tasks{"b": {Run: m.charges("b")}} },
			"^ a, a b, b $", nil, nil,
			[]any{edit{As: "a", Updates: []item{{"A"}}}, yes("b")},
			[]string{"[b/b]"},
			"?aAb:yes",
			map[string]int{"b": 1},
		},
		{
			"answered before the edit", func(m *till) tasks {
				return tasks{"a": {Run: m.charges("a")}, "b": {Run: m.charges("b")}, "z": wait}
			},
			"^ a, ^ b, a c, c z, b z, z $", nil, nil,
			[]any{yes("b"), edit{As: "a", Updates: []item{{"A"}}}, yes()},
			[]string{"[a/a b/b]", "[a/a]"},
			"?Ab:yescz",
			map[string]int{"a": 1, "b": 1},
		},
		{
			"a node that follows itself asks and charges again", func(m *till) tasks { return tasks{"a": {Run: m.charges("a")}} },
			"^ a, c $",
			[]graph.Branch[list]{again},
			[]string{"a"},
			[]any{yes(), edit{As: "a", Updates: []item{{"loop"}}}, yes(), yes(), yes("a")},
			[]string{"before [a]", "[a/a]", "before [a]", "[a/a]"},
			"?loopa:yesc",
			map[string]int{"a": 2},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, store := &till{}, memstore.New()
			nodes := tasks{}
			if tt.nodes != nil {
				nodes = tt.nodes(m)
			}
			p := spoken(t, nodes, tt.edges, tt.branches...)
			o := graph.Options{Store: store, CheckCodec: true, BreakBefore: tt.before}
			var stops []string
			call := func(q ask) {
				q.Thread = "t"
				_, err := p.Runner(o).Invoke(t.Context(), q)
				switch stop, ok := errors.AsType[*graph.InterruptError](err); {
				case ok && len(stop.Questions) > 0:
					stops = append(stops, fmt.Sprint(ids(err)))
				case ok:
					stops = append(stops, fmt.Sprint("before ", stop.Before))
				case err != nil:
					t.Fatal(err)
				}
			}
			call(ask{Input: item{"?"}})
			for _, step := range tt.do {
				if e, ok := step.(edit); ok {
					e.Thread = "t"
					if _, _, err := p.Runner(graph.Options{Store: store}).Update(t.Context(), e); err != nil {
						t.Fatal(err)
					}
					continue
				}
				call(ask{Resume: true, Answers: step.(map[string]any)})
			}
			if diff := cmp.Diff(tt.stops, stops); diff != "" {
				t.Errorf("stops (-want +got):\n%s", diff)
			}
			s, head, err := p.Runner(o).State(t.Context(), "t")
			if err != nil || whole(s) != tt.want || head.Status != graph.Completed {
				t.Errorf("%s %s, %v; want %s", whole(s), head.Status, err, tt.want)
			}
			if got := m.charged(t); len(got) != len(tt.charged) || len(got) > 0 && !cmp.Equal(tt.charged, got) {
				t.Errorf("charged %v, want %v", got, tt.charged)
			}
		})
	}
}

// After an edit as a node, a subgraph beside it continues at its place: it can be read, edited and forked.
func TestEditAsNodeBesideASubgraph(t *testing.T) {
	m, store := &till{}, memstore.New()
	inner := spoken(t, tasks{"y": {Run: m.charges("y")}}, "^ x, x y, y $")
	sub := graph.Sub(inner, func(list) item { return item{"in"} }, func(_, s list) item { return item{"(" + whole(s) + ")"} })
	p := spoken(t, tasks{"a": {Run: fails(errRefused)}, "s": sub, "z": {Wait: graph.Join}}, "^ a, ^ s, a c, c z, s z, z $")
	o := graph.Options{Store: store, CheckCodec: true, Parallel: 1}
	if _, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if _, _, err := p.Runner(o).Update(t.Context(), edit{Thread: "t", As: "a", Updates: []item{{"A"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Resume: true}); !slices.Equal(ids(err), []string{"s/y#2/y"}) {
		t.Fatal(err)
	}
	if _, _, err := p.Runner(o).Update(t.Context(), edit{Thread: "t", As: "c", Updates: []item{{"C"}}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := inner.Runner(o).Update(t.Context(), edit{Thread: "t", Path: "s", Updates: []item{{"+"}}}); err != nil {
		t.Error(err)
	}
	frames, err := inner.Inside(t.Context(), store, "t", 0, "s")
	if err != nil || len(frames) != 2 || whole(frames[1].State) != "inx+" {
		t.Errorf("inside: %v, %v", frames, err)
	}
	if err := p.Runner(o).Fork(t.Context(), graph.Point{Thread: "t", Path: "s", Step: 1}, "u"); err != nil {
		t.Fatal(err)
	}
	for _, thread := range []string{"t", "u"} {
		got, err := p.Runner(o).Invoke(t.Context(), ask{Thread: thread, Resume: true, Answers: map[string]any{"y": approval{Verdict: "yes"}}})
		if err != nil || whole(got) != "?AC(inx+y:yes)z" {
			t.Errorf("%s: %s, %v", thread, whole(got), err)
		}
	}
	if got := m.charged(t); got["y"] != 2 { // once in each thread
		t.Errorf("charged %v", got)
	}
}
