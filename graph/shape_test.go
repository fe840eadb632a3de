package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// sorry is an OnError.Update that says what happened.
func sorry(_ list, f graph.Failure) item { return item{"!" + f.Err.Error()} }

// plan compiles tasks in the order of their names; edges are as for build.
func plan(tb testing.TB, nodes tasks, edges string, branches ...graph.Branch[list]) (*graph.Plan[list, item], error) {
	tb.Helper()
	g := graph.Graph[list, item]{Name: "g", Apply: appendItem, Nodes: nodes, Branches: branches}
	for name := range nodes {
		g.Order = append(g.Order, name)
	}
	slices.Sort(g.Order)
	end := strings.NewReplacer("^", graph.Start, "$", graph.End)
	for e := range strings.SplitSeq(edges, ",") {
		if from, to, ok := strings.Cut(strings.TrimSpace(e), " "); ok {
			g.Edges = append(g.Edges, graph.Edge{From: end.Replace(from), To: end.Replace(to)})
		}
	}
	return graph.Compile(g)
}

// words makes a task of every letter, which says the letter.
func words(letters string) tasks {
	out := tasks{}
	for _, l := range letters {
		out[string(l)] = graph.Task[list, item]{Run: says(string(l))}
	}
	return out
}

// waiting changes how tasks wait.
func waiting(t tasks, w graph.Wait, names string) tasks {
	for _, n := range names {
		task := t[string(n)]
		task.Wait = w
		t[string(n)] = task
	}
	return t
}

func to(names ...string) func(list) string {
	i := 0
	return func(list) string { i++; return names[min(i, len(names))-1] }
}

func TestWaiting(t *testing.T) {
	for _, tt := range []struct {
		name     string
		nodes    tasks
		edges    string
		branches []graph.Branch[list]
		want     string // supersteps, each with its nodes
	}{
		{"paths of different length", waiting(words("abcxd"), graph.Join, "d"), "^ a, a b, a c, c x, b d, x d, d $", nil, "a bc x d"},
		{
			"a path that a branch left", waiting(words("abcde"), graph.Join, "d"), "^ a, a b, a c, b d, d $, e $",
			[]graph.Branch[list]{{From: "c", To: []string{"d", "e"}, Route: to("e")}},
			"a bc de",
		},
		{
			"only one path comes", waiting(words("abcd"), graph.Join, "d"), "^ a, b d, c d, d $",
			[]graph.Branch[list]{{From: "a", To: []string{"b", "c"}, Route: to("c")}},
			"a c d",
		},
		{
			"a loop before it", waiting(words("abcd"), graph.Join, "d"), "^ a, a b, a c, b d, d $",
			[]graph.Branch[list]{{From: "c", To: []string{"c", "d"}, Route: to("c", "c", "d")}},
			"a bc c c d",
		},
		{
			"in a loop", waiting(words("abcd"), graph.Join, "d"), "^ a, a b, a c, b d, c d",
			[]graph.Branch[list]{{From: "d", To: []string{"a", graph.End}, Route: to("a", graph.End)}},
			"a bc d a bc d",
		},
		{"joins in a row", waiting(words("abcdefg"), graph.Join, "eg"), "^ a, a b, a c, a d, b e, c e, e f, f g, d g, g $", nil, "a bcd e f g"},
		{
			"two that can lead to each other", waiting(words("abcd"), graph.Join, "cd"), "^ a, ^ b, a c, b d",
			[]graph.Branch[list]{
				{From: "c", To: []string{"d", graph.End}, Route: to(graph.End)},
				{From: "d", To: []string{"c", graph.End}, Route: to(graph.End)},
			},
			"ab c d",
		},
		{"last", waiting(words("abcz"), graph.Last, "z"), "^ a, a z, a b, b c, c $, z $", nil, "a b c z"},
		{"last after last", waiting(words("abyz"), graph.Last, "yz"), "^ a, a z, a b, b y, z y, y $", nil, "a b z y"},
		{
			"last in a loop", waiting(words("abcz"), graph.Last, "z"), "^ a, ^ b, a z, b c, c z",
			[]graph.Branch[list]{{From: "z", To: []string{"b", graph.End}, Route: to("b", "b", graph.End)}},
			"ab c z b c z b c z",
		},
		{
			"last leads back beside a path that ended", waiting(words("pabz"), graph.Last, "z"), "^ p, p a, p b, a z, b $",
			[]graph.Branch[list]{{From: "z", To: []string{"b", "p", graph.End}, Route: to("b", "p", graph.End)}},
			"p ab z b",
		},
		{
			"last waits for joins that follow it", waiting(waiting(words("abxyz"), graph.Join, "xy"), graph.Last, "z"), "^ a, ^ b, a x, a z, b y, y x",
			[]graph.Branch[list]{
				{From: "x", To: []string{graph.End}, Route: to(graph.End, graph.End)},
				{From: "z", To: []string{"y", graph.End}, Route: to("y", graph.End)},
			},
			"ab y x z y x",
		},
		{"last beside a join", waiting(waiting(words("abcjz"), graph.Join, "j"), graph.Last, "z"), "^ a, a z, a b, a c, b j, c j, j $, z $", nil, "a bc j z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := plan(t, tt.nodes, tt.edges, tt.branches...)
			if err != nil {
				t.Fatal(err)
			}
			m := newMemStore()
			live, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, c := range history(m)[1:] {
				var step strings.Builder
				for _, d := range c.Deltas {
					step.WriteString(d.Node)
				}
				steps = append(steps, step.String())
			}
			if got := strings.Join(steps, " "); got != tt.want {
				t.Errorf("ran %s, want %s", got, tt.want)
			}
			if got, want := strings.Join(live.Items, ""), strings.ReplaceAll(tt.want, " ", ""); got != want {
				t.Errorf("state %s, want %s", got, want)
			}
		})
	}
}

// What waits is in the log: a run that stopped anywhere continues as it would have.
func TestWaitingSurvives(t *testing.T) {
	nodes := waiting(words("abcxdz"), graph.Join, "d")
	waiting(nodes, graph.Last, "z")
	p, err := plan(t, nodes, "^ a, a b, a c, a z, c x, b d, x d, d $, z $")
	if err != nil {
		t.Fatal(err)
	}
	for stop := range 5 {
		m := newMemStore()
		r := p.Runner(graph.Options{Store: m, MaxSteps: stop + 1})
		state, err := r.Invoke(t.Context(), ask{Thread: "t"})
		for range 5 {
			if err == nil {
				break
			}
			state, err = r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
		}
		if got := strings.Join(state.Items, ""); err != nil || got != "abcxdz" {
			t.Errorf("stopped every %d steps: %s, %v", stop+1, got, err)
		}
	}
}

func TestBareJoins(t *testing.T) {
	differ := func(node, fork string) string {
		return `node "` + node + `": paths that split at "` + fork + `" may reach it at different steps, so it could run several times; set Wait: Join`
	}
	end := func(list) string { return graph.End }
	for _, tt := range []struct {
		name     string
		nodes    tasks
		edges    string
		branches []graph.Branch[list]
		want     string
	}{
		{"same length", words("abcd"), "^ a, a b, a c, b d, c d, d $", nil, ""},
		{"an either and an or", words("abcd"), "^ a, b d, c d, d $", []graph.Branch[list]{{From: "a", To: []string{"b", "c"}, Route: end}}, ""},
		{"different lengths", words("abcxd"), "^ a, a b, a c, c x, b d, x d, d $", nil, differ("d", "a")},
		{"different lengths from Start", words("ad"), "^ a, ^ d, a d, d $", nil, differ("d", graph.Start)},
		{"a shortcut", words("abd"), "^ a, a b, a d, b d, d $", nil, differ("d", "a")},
		{"that wait", waiting(words("abcxd"), graph.Join, "d"), "^ a, a b, a c, c x, b d, x d, d $", nil, ""},
		{
			"a branch into one", words("abcde"), "^ a, a b, a c, b d, d $, e $",
			[]graph.Branch[list]{{From: "c", To: []string{"d", "e"}, Route: end}},
			`branch from "c": it leads to "d", which another path from "a" also reaches; set Wait: Join for "d"`,
		},
		{
			"a loop before one", words("abcd"), "^ a, a b, a c, b d, d $",
			[]graph.Branch[list]{{From: "c", To: []string{"c", "d"}, Route: end}},
			`branch from "c": it leads to "d", which another path from "a" also reaches; set Wait: Join for "d"`,
		},
		{
			"a loop around the fork", words("abcd"), "^ a, a b, a c, b d, c d",
			[]graph.Branch[list]{{From: "d", To: []string{"a", graph.End}, Route: end}},
			"",
		},
		{"behind a join", waiting(words("abcxde"), graph.Join, "d"), "^ a, a b, a c, c x, b d, x d, d e, e $", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := plan(t, tt.nodes, tt.edges, tt.branches...)
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), `compile graph "g": `)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// Random graphs that Compile accepts run every waiting node after all that
// leads to it, and end.
func TestWaitingNodesRunOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	compiled := 0
	for range 3000 {
		n := 3 + rng.IntN(6)
		letters := "abcdefghi"[:n]
		nodes := words(letters)
		edges := []string{"^ a"}
		for i := range n {
			before := len(edges)
			for j := i + 1; j < n; j++ {
				if rng.IntN(3) == 0 {
					edges = append(edges, letters[i:i+1]+" "+letters[j:j+1])
				}
			}
			if len(edges) == before {
				edges = append(edges, letters[i:i+1]+" $")
			}
			if rng.IntN(2) == 0 {
				waiting(nodes, graph.Join, letters[i:i+1])
			}
		}
		p, err := plan(t, nodes, strings.Join(edges, ","))
		if err != nil {
			continue
		}
		compiled++
		s, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{})
		sorted := slices.Sorted(slices.Values(s.Items))
		if err != nil || len(slices.Compact(sorted)) != len(s.Items) || len(s.Items) != n {
			t.Fatalf("%v: ran %v, %v", edges, s.Items, err)
		}
	}
	if compiled < 100 {
		t.Errorf("only %d graphs compiled", compiled)
	}
}

func TestTaskFaults(t *testing.T) {
	pick := func(context.Context, list) (item, []string, error) { return item{}, []string{graph.End}, nil }
	task := func(change func(*graph.Task[list, item])) tasks {
		x := words("ab")["a"]
		change(&x)
		return tasks{"a": x, "b": {Run: says("b")}}
	}
	type T = graph.Task[list, item]
	for _, tt := range []struct {
		name  string
		nodes tasks
		edges string
		want  string
	}{
		{"Run and Pick", task(func(x *T) { x.Pick, x.To = pick, []string{"b"} }), "^ a, b $", `node "a": both Run and Pick are set; use one or the other`},
		{"To without Pick", task(func(x *T) { x.To = []string{"b"} }), "^ a, a b, b $", `node "a": To needs Pick`},
		{"Pick without To", task(func(x *T) { x.Run, x.Pick = nil, pick }), "^ a, ^ b, b $", `node "a": To is empty, so Pick has no target to choose
node "a": no path to End`},
		{"Pick and an edge", task(func(x *T) { x.Run, x.Pick, x.To = nil, pick, []string{"b"} }), "^ a, a b, b $", `node "a": it has an edge and Pick; use one or the other`},
		{"Pick of an unknown", task(func(x *T) { x.Run, x.Pick, x.To = nil, pick, []string{"b", "z"} }), "^ a, b $", `node "a": To: unknown node "z"`},
		{"Pick of Start", task(func(x *T) { x.Run, x.Pick, x.To = nil, pick, []string{"b", graph.Start} }), "^ a, b $", `node "a": To: no path can lead to Start`},
		{"Pick of one twice", task(func(x *T) { x.Run, x.Pick, x.To = nil, pick, []string{"b", "b"} }), "^ a, b $", `node "a": To: target "b" is listed twice`},
		{"Cache without Key", task(func(x *T) { x.Cache = &graph.Cache[list, item]{} }), "^ a, a b, b $", `node "a": Cache.Key is nil`},
		{"unknown Wait", task(func(x *T) { x.Wait = 7 }), "^ a, a b, b $", `node "a": unknown Wait 7`},
		{"handler without update", task(func(x *T) { x.OnError.To = "b" }), "^ a, a b, b $", `node "a": OnError.To without OnError.Update`},
		{"handler that is unknown", task(func(x *T) { x.OnError = graph.OnError[list, item]{Update: sorry, To: "z"} }), "^ a, a b, b $", `node "a": OnError.To: unknown node "z"`},
		{"handler that is Start", task(func(x *T) { x.OnError = graph.OnError[list, item]{Update: sorry, To: graph.Start} }), "^ a, a b, b $", `node "a": OnError.To: no path can lead to Start`},
		{"handler that is the node", task(func(x *T) { x.OnError = graph.OnError[list, item]{Update: sorry, To: "a"} }), "^ a, a b, b $", `node "a": OnError.To is the node itself; use Retry instead`},
		{"handler of a pick", task(func(x *T) {
			x.Run, x.Pick, x.To = nil, pick, []string{"b"}
			x.OnError.Update = sorry
		}), "^ a, b $", `node "a": OnError.To is empty, but a node with Pick has no other successor`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := plan(t, tt.nodes, tt.edges)
			if err == nil {
				t.Fatal("compiled")
			}
			got := strings.TrimPrefix(err.Error(), `compile graph "g": `)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPick(t *testing.T) {
	picks := func(next ...string) tasks {
		x := words("bc")
		x["a"] = graph.Task[list, item]{
			Pick: func(context.Context, list) (item, []string, error) { return item{"a"}, next, nil }, To: []string{"b", "c", graph.End},
		}
		return x
	}
	for _, tt := range []struct{ name, next, want, fault string }{
		{"one", "b", "ab", ""},
		{"two", "c b", "abc", ""},
		{"the end", graph.End, "a", ""},
		{"none", "", "", `node "a", step 1: pick returned no target; to end the run, return End`},
		{"another", "z", "", `node "a", step 1: pick returned "z", which is not one of its targets`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := plan(t, picks(strings.Fields(tt.next)...), "^ a, b $, c $")
			if err != nil {
				t.Fatal(err)
			}
			m := newMemStore()
			s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"})
			if got := strings.Join(s.Items, ""); got != tt.want || tt.fault == "" && err != nil || tt.fault != "" && (err == nil || err.Error() != tt.fault) {
				t.Errorf("got %q, %v; want %q, %s", got, err, tt.want, tt.fault)
			}
			if d := history(m)[1].Deltas[0]; tt.fault == "" && !cmp.Equal(d.Notes.Goto, strings.Fields(tt.next)) {
				t.Errorf("noted %v", d.Notes.Goto)
			}
		})
	}
}

// A pick that finished beside a sibling that failed is not asked again.
func TestPickSurvives(t *testing.T) {
	nodes, asked, broken := words("bcz"), 0, true
	nodes["p"] = graph.Task[list, item]{To: []string{"b", "c"}, Pick: func(context.Context, list) (item, []string, error) {
		asked++
		return item{"p"}, []string{"c"}, nil
	}}
	nodes["q"] = graph.Task[list, item]{Run: func(context.Context, list) (item, error) {
		if broken {
			return item{}, errRefused
		}
		return item{"q"}, nil
	}}
	p, err := plan(t, nodes, "^ p, ^ q, b $, c $, q z, z $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: newMemStore(), Parallel: 1})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	broken = false
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if got := strings.Join(s.Items, ""); err != nil || got != "pqcz" || asked != 1 {
		t.Errorf("%s, %v; asked %d times", got, err, asked)
	}
}
