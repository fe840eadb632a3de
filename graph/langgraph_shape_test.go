package graph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/graph/memstore"
)

// The tests of the files langgraph_*_test.go have the names of LangGraph's own tests and check the same
// behaviour with our words.

// spoken compiles a graph in which every node of the edges says its name, unless nodes has another one.
func spoken(t *testing.T, nodes tasks, edges string, branches ...graph.Branch[list]) *graph.Plan[list, item] {
	t.Helper()
	g := graph.Graph[list, item]{Name: t.Name(), Apply: appendItem, Nodes: tasks{}, Branches: branches}
	for e := range strings.SplitSeq(edges, ",") {
		from, to, _ := strings.Cut(strings.TrimSpace(e), " ")
		ends := strings.NewReplacer("^", graph.Start, "$", graph.End)
		g.Edges = append(g.Edges, graph.Edge{From: ends.Replace(from), To: ends.Replace(to)})
		for _, name := range []string{from, to} {
			if name != "^" && name != "$" {
				g.Nodes[name] = graph.Task[list, item]{Run: says(name)}
			}
		}
	}
	for name, n := range nodes {
		if n.Run == nil && n.Pick == nil {
			n.Run = says(name)
		}
		g.Nodes[name] = n
	}
	return must(g)
}

func route(from, to string, more ...string) graph.Branch[list] {
	return graph.Branch[list]{From: from, Route: func(list) string { return to }, To: append([]string{to}, more...)}
}

// until goes back to a node while the state is shorter than n, else to the end.
func until(n int, from, back string) graph.Branch[list] {
	return graph.Branch[list]{From: from, To: []string{back, graph.End}, Route: func(s list) string {
		if len(s.Items) < n {
			return back
		}
		return graph.End
	}}
}

func TestLangGraphShapes(t *testing.T) {
	join := graph.Task[list, item]{Wait: graph.Join}
	last := graph.Task[list, item]{Wait: graph.Last}
	length := graph.Task[list, item]{Run: func(_ context.Context, s list) (item, error) { return item{"<" + whole(s) + ">"}, nil }}
	fan := func(parts ...string) graph.Task[list, item] {
		return graph.Task[list, item]{Run: graph.FanOut(0, func(list) []string { return parts },
			func(_ context.Context, _ list, p string) (item, error) { return item{"|" + p}, nil },
			func(_ list, all []item) (item, error) {
				var words string
				for _, one := range all {
					words += one.Add
				}
				return item{words}, nil
			})}
	}
	for _, tt := range []struct {
		name     string
		nodes    tasks
		edges    string
		branches []graph.Branch[list]
		want     string
	}{
		{"invoke_single_process_in_out", nil, "^ a, a $", nil, "?a"},
		{"invoke_two_processes_in_out", nil, "^ a, a b, b $", nil, "?ab"},
		{"invoke_many_processes_in_out", nil, "^ a, a b, b c, c d, d e, e f, f $", nil, "?abcdef"},
		{"invoke_two_processes_two_in_two_out_valid", nil, "^ a, ^ b, a $, b $", nil, "?ab"},
		{"invoke_two_processes_two_in_join_two_out", tasks{"c": length}, "^ a, ^ b, a c, b c, c $", nil, "?ab<?ab>"},
		{"invoke_two_processes_one_in_two_out", nil, "^ a, a $, a b, b $", nil, "?ab"},
		{"reducer_before_first_node", tasks{"a": length}, "^ a, a $", nil, "?<?>"},
		{"in_one_fan_out_out_one_graph_state", nil, "^ a, a b, a c, b d, c d, d $", nil, "?abcd"},
		{"in_one_fan_out_state_graph_waiting_edge", tasks{"d": join}, "^ a, a b, a c, b d, c e, e d, d $", nil, "?abced"},
		{"in_one_fan_out_state_graph_waiting_edge_via_branch", tasks{"e": {}, "d": join}, "^ a, a b, a c, b d, e d, d $", []graph.Branch[list]{route("c", "e", "d")}, "?abced"},
		{"in_one_fan_out_state_graph_waiting_edge_multiple", tasks{"d": join, "g": join}, "^ a, a b, a c, b d, c d, d e, d f, e g, f g, g $", nil, "?abcdefg"},
		{"in_one_fan_out_state_graph_waiting_edge_multiple_cond_edge", tasks{"d": join}, "^ a, a b, a c, b d, c d", []graph.Branch[list]{until(6, "d", "a")}, "?abcdabcd"},
		{"simple_multi_edge", tasks{"down": join}, "^ up, up side, up other, side down, other down, down $", nil, "?upothersidedown"},
		{"conditional_graph", tasks{"b": {}, "c": {}}, "^ a, b $, c $", []graph.Branch[list]{route("a", "b", "c")}, "?ab"},
		{"conditional_state_graph", nil, "^ agent, tools agent", []graph.Branch[list]{until(4, "agent", "tools")}, "?agenttoolsagent"},
		{"conditional_entrypoint_graph", nil, "a $, b $", []graph.Branch[list]{route(graph.Start, "b", "a")}, "?b"},
		{"conditional_entrypoint_to_multiple_state_graph", nil, "a $, b $, c $", []graph.Branch[list]{route(graph.Start, "b", "a"), route(graph.Start, "c")}, "?cb"},
		{"start_branch_then", tasks{"z": join}, "a z, b z, z $", []graph.Branch[list]{route(graph.Start, "a", "b")}, "?az"},
		{"branch_then", tasks{"z": join}, "^ p, a z, b z, z $", []graph.Branch[list]{route("p", "b", "a")}, "?pbz"},
		{"repeat_condition", nil, "^ a", []graph.Branch[list]{until(5, "a", "a")}, "?aaaa"},
		{"defer_node", tasks{"z": last}, "^ a, a b, a z, b c, c z, z $", nil, "?abcz"},
		{"send_sequences", tasks{"a": fan("1", "2", "3")}, "^ a, a b, b $", nil, "?|1|2|3b"},
		{"concurrent_emit_sends", tasks{"a": fan("1", "2"), "b": fan("3", "4")}, "^ a, ^ b, a $, b $", nil, "?|1|2|3|4"},
		{"cond_edge_after_send", tasks{"a": fan("1", "2")}, "^ a, b $", []graph.Branch[list]{route("a", "b")}, "?|1|2b"},
		{"send_to_nothing", tasks{"a": fan()}, "^ a, a b, b $", nil, "?b"},
		{"falsy_return_from_task", tasks{"a": {Run: func(context.Context, list) (item, error) { return item{}, nil }}}, "^ a, a b, b $", nil, "?b"},
		{"parallel_node_execution", nil, "^ a, ^ b, ^ c, ^ d, a $, b $, c $, d $", nil, "?abcd"},
		{"branch_and_edge_from_one_node", tasks{"c": {}}, "^ a, a b, b $, c $", []graph.Branch[list]{route("a", "c")}, "?abc"},
		{"command_goto", tasks{"a": {Pick: func(context.Context, list) (item, []string, error) { return item{"a"}, []string{"c"}, nil }, To: []string{"b", "c"}}}, "b $, c $, ^ a", nil, "?ac"},
		{"command_goto_many", tasks{"a": {Pick: func(context.Context, list) (item, []string, error) { return item{"a"}, []string{"c", "b"}, nil }, To: []string{"b", "c"}}}, "b $, c $, ^ a", nil, "?abc"},
		{"command_goto_end", tasks{"a": {Pick: func(context.Context, list) (item, []string, error) {
			return item{"a"}, []string{graph.End}, nil
		}, To: []string{"b", graph.End}}}, "b $, ^ a", nil, "?a"},
		{"node_error_handler_then_goto", tasks{"a": {Run: fails(errRefused), OnError: graph.OnError[list, item]{
			Update: func(_ list, f graph.Failure) item { return item{"!" + f.Node} }, To: "c",
		}}}, "^ a, a b, b $, c $", nil, "?!ac"},
		{"node_error_handler_normal_successor", tasks{"a": {Run: fails(errRefused), OnError: graph.OnError[list, item]{
			Update: func(list, graph.Failure) item { return item{"!"} },
		}}}, "^ a, a b, b $", nil, "?!b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := spoken(t, tt.nodes, tt.edges, tt.branches...)
			for _, o := range []graph.Options{{CheckCodec: true}, {Store: memstore.New()}, {Store: memstore.New(), SaveAtEnd: true}, {Parallel: 1}} {
				s, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
				if err != nil || !sameWords(whole(s), tt.want) {
					t.Errorf("%s, %v; want %s", whole(s), err, tt.want)
				}
				if o.Store == nil {
					continue
				}
				if back, _, err := p.Runner(graph.Options{Store: o.Store}).State(t.Context(), "t"); err != nil || whole(back) != whole(s) {
					t.Errorf("reloaded %v, %v; want %v", back, err, s)
				}
			}
			if picture := draw.Mermaid(p.Shape()); !strings.Contains(picture, "start") {
				t.Errorf("drawing %s", picture)
			}
		})
	}
}

// sameWords compares with the words of one superstep in any order of the nodes: the order is that of the
// plan, and what matters here is which nodes ran and how often.
func sameWords(got, want string) bool {
	a, b := []rune(got), []rune(want)
	slices.Sort(a)
	slices.Sort(b)
	return string(a) == string(b)
}

func TestLangGraphValidation(t *testing.T) {
	sub := func(change func(*graph.Graph[list, item])) error {
		g := graph.Graph[list, item]{
			Name: "g", Apply: appendItem, Nodes: tasks{"a": {Run: says("a")}, "b": {Run: says("b")}}, Edges: graph.Chain(graph.Start, "a", "b", graph.End),
		}
		change(&g)
		_, err := graph.Compile(g)
		return err
	}
	type g = graph.Graph[list, item]
	for name, tt := range map[string]struct {
		change func(*g)
		want   string
	}{
		"graph_validation":                     {func(g *g) {}, ""},
		"graph_validation_unknown_edge_target": {func(g *g) { g.Edges[1].To = "c" }, `unknown node "c"`},
		"graph_validation_no_entry_point":      {func(g *g) { g.Edges = g.Edges[1:] }, "no edge leaves Start"},
		"graph_validation_edge_from_end":       {func(g *g) { g.Edges = append(g.Edges, graph.Edge{From: graph.End, To: "a"}) }, "End"},
		"graph_validation_edge_to_start":       {func(g *g) { g.Edges = append(g.Edges, graph.Edge{From: "a", To: graph.Start}) }, "Start"},
		"graph_validation_dead_end":            {func(g *g) { g.Edges = g.Edges[:2] }, `node "b": dead end`},
		"graph_validation_unreachable":         {func(g *g) { g.Edges[0].To = "b" }, `node "a": no path leads to it`},
		"graph_validation_unknown_branch":      {func(g *g) { g.Branches = append(g.Branches, route("z", "a")) }, `unknown node "z"`},
		"graph_validation_reserved_name":       {func(g *g) { g.Nodes["__x"] = g.Nodes["a"] }, "reserved"},
		"graph_validation_name_with_separator": {func(g *g) { g.Nodes["x/y"] = g.Nodes["a"] }, "must not contain"},
		"graph_validation_endless_cycle":       {func(g *g) { g.Edges[2].To = "a" }, "cycle"},
		"node_destinations_must_exist":         {func(g *g) { g.Nodes["b"] = graph.Task[list, item]{Run: says("b"), To: []string{"a"}} }, "To needs Pick"},
		"graph_validation_duplicate_edge":      {func(g *g) { g.Edges = append(g.Edges, g.Edges[0]) }, "listed twice"},
		"graph_validation_no_reducer":          {func(g *g) { g.Apply = nil }, "Apply is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sub(tt.change)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestLangGraphErrors(t *testing.T) {
	invoke := func(t *testing.T, o graph.Options, p *graph.Plan[list, item]) error {
		t.Helper()
		_, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
		return err
	}
	t.Run("recursion_limit", func(t *testing.T) {
		p := spoken(t, nil, "^ a", until(100, "a", "a"))
		if limit, ok := errors.AsType[*graph.StepLimitError](invoke(t, graph.Options{MaxSteps: 3}, p)); !ok || limit.Limit != 3 {
			t.Errorf("error %v", limit)
		}
	})
	t.Run("invoke_two_processes_two_in_two_out_invalid", func(t *testing.T) {
		p := must(graph.Graph[list, item]{
			Name: "g", Apply: appendItem, Nodes: tasks{"a": {Run: says("a")}, "b": {Run: says("b")}},
			Edges:    append(graph.Chain(graph.Start, "a", graph.End), graph.Chain(graph.Start, "b", graph.End)...),
			Conflict: func(_, _ item) error { return errRefused },
		})
		failed, ok := errors.AsType[*graph.NodeError](invoke(t, graph.Options{}, p))
		if !ok || failed.Node != "b" || !errors.Is(failed, errRefused) {
			t.Errorf("error %v", failed)
		}
	})
	t.Run("node_cancellation_on_other_node_exception", func(t *testing.T) {
		p := spoken(t, tasks{"a": {Run: fails(errRefused)}, "b": {Run: func(ctx context.Context, _ list) (item, error) {
			<-ctx.Done()
			return item{}, ctx.Err()
		}}}, "^ a, ^ b, a $, b $")
		if err := invoke(t, graph.Options{}, p); !errors.Is(err, errRefused) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("node_cancellation_on_external_cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := spoken(t, tasks{"a": {Run: func(ctx context.Context, _ list) (item, error) {
			cancel()
			<-ctx.Done()
			return item{}, ctx.Err()
		}}}, "^ a, a $")
		if _, err := p.Runner(graph.Options{}).Invoke(ctx, ask{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("imp_exception", func(t *testing.T) {
		p := spoken(t, tasks{"a": {Run: func(context.Context, list) (item, error) { panic("no") }}}, "^ a, a $")
		if v, ok := errors.AsType[*graph.PanicError](invoke(t, graph.Options{}, p)); !ok || v.Value != "no" {
			t.Errorf("error %v", v)
		}
	})
	t.Run("invalid_branch_target", func(t *testing.T) {
		b := graph.Branch[list]{From: "a", To: []string{"b"}, Route: func(list) string { return "z" }}
		if err := invoke(t, graph.Options{}, spoken(t, nil, "^ a, b $", b)); err == nil || !strings.Contains(err.Error(), `"z"`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("reducer_error", func(t *testing.T) {
		failed, ok := errors.AsType[*graph.NodeError](invoke(t, graph.Options{}, spoken(t, tasks{"a": {Run: says("bad")}}, "^ a, a $")))
		if !ok || failed.Node != "a" {
			t.Errorf("error %v", failed)
		}
	})
}
