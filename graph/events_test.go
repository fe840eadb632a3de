package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// story is a random graph and what readers saw of its runs.
type story struct {
	t     *testing.T
	rng   *rand.Rand
	s     graph.Store
	plan  *graph.Plan[list, item]
	modes graph.Mode
	o     graph.Options

	mu     sync.Mutex
	failed map[string]int                 // attempts by node
	saw    map[string][]graph.Event[list] // durable events by run
}

// word is a node that may fail at first, may ask, and says its name.
func (y *story) word(name string, fails int, keys ...string) node {
	return func(ctx context.Context, _ list) (item, error) {
		graph.EmitToken(ctx, name)
		y.mu.Lock()
		y.failed[name]++
		bad := y.failed[name] <= fails
		y.mu.Unlock()
		if bad {
			return item{}, errFlaky
		}
		var errs []error
		for _, k := range keys {
			_, err := graph.Ask[bool](ctx, k, name)
			errs = append(errs, err)
		}
		return item{name}, errors.Join(errs...)
	}
}

func (y *story) task(name string, kind int) graph.Task[list, item] {
	switch kind {
	case 0:
		return graph.Task[list, item]{Run: y.word(name, 0, "k", "l"[:y.rng.IntN(2)]+"m")}
	case 1:
		return graph.Task[list, item]{Run: y.word(name, 1)}
	case 2:
		return graph.Task[list, item]{Run: graph.FanOut(1, func(list) []string { return []string{"x", "y"} },
			func(ctx context.Context, s list, part string) (item, error) {
				return y.word(name+part, y.rng.IntN(2))(ctx, s)
			},
			func(_ list, us []item) (item, error) { return item{us[0].Add + us[1].Add}, nil })}
	case 3:
		inner := must(graph.Graph[list, item]{
			Apply: appendItem, Nodes: tasks{"p": {Run: y.word(name+"p", 1)}, "q": {Run: y.word(name+"q", 0, "k")}},
			Edges: slices.Concat(graph.Chain(graph.Start, "p", graph.End), graph.Chain(graph.Start, "q", graph.End)),
		})
		return graph.Sub(inner, func(list) item { return item{"in"} }, func(_, s list) item { return item{whole(s)} })
	}
	return graph.Task[list, item]{Run: y.word(name, 0)}
}

func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	y := &story{
		t: t, rng: rand.New(rand.NewPCG(seed, 36)), s: memstore.New(),
		failed: map[string]int{}, saw: map[string][]graph.Event[list]{},
	}
	y.modes = []graph.Mode{0, graph.Values | graph.Updates, graph.Updates | graph.Tokens}[y.rng.IntN(3)]
	names := strings.Split("abcdef", "")[:2+y.rng.IntN(5)]
	g := graph.Graph[list, item]{
		Restore: byTheEnd, Nodes: tasks{}, Order: names, Edges: graph.Chain(append([]string{graph.Start}, names...)...),
		Apply: func(s list, u item) (list, error) {
			if u.Add == "-" { // takes one back
				return list{slices.Clip(s.Items[:len(s.Items)-1])}, nil
			}
			return appendItem(s, u)
		},
	}
	for i, name := range names {
		task := y.task(name, y.rng.IntN(7))
		task.Wait = graph.Wait(y.rng.IntN(2)) + 1
		g.Nodes[name] = task
		if j := i + 2 + y.rng.IntN(3); j < len(names) {
			g.Edges = append(g.Edges, graph.Edge{From: name, To: names[j]})
		}
	}
	most := 4 + y.rng.IntN(12)
	g.Branches = []graph.Branch[list]{graph.If(names[len(names)-1], func(s list) bool { return len(s.Items) < most }, names[0], graph.End)}
	y.plan = must(g)
	y.o = graph.Options{Store: y.s, MaxSteps: 3 + y.rng.IntN(9)}
	for _, name := range names {
		switch y.rng.IntN(8) {
		case 0:
			y.o.BreakBefore = append(y.o.BreakBefore, name)
		case 1:
			y.o.BreakAfter = append(y.o.BreakAfter, name)
		case 2:
			if y.plan.Shape().Subs[name].Nodes != nil {
				y.o.BreakAfter = append(y.o.BreakAfter, name+"/p")
			}
		}
	}
	return y
}

// call runs one request. Its reader may leave.
func (y *story) call(req ask) (last graph.Event[list], err error) {
	y.t.Helper()
	req.Thread, req.Modes = "t", y.modes
	leaves, seq := 1+y.rng.IntN(30), int64(0)
	for e, fault := range y.plan.Runner(y.o).Stream(y.t.Context(), req) {
		if err = fault; err != nil {
			break
		}
		if e.Seq < seq || e.Live && e.Seq != seq || !e.Live && e.Seq == seq {
			y.t.Fatalf("seq %d after %d: %+v", e.Seq, seq, e)
		}
		if seq == 0 {
			y.missed(e.Seq) // the request closed a run
		}
		if seq = e.Seq; !e.Live {
			last = e
			y.saw[e.Run] = append(y.saw[e.Run], e)
		}
		if leaves--; leaves == 0 && last.Kind != graph.RunEnded {
			break
		}
	}
	if last.Kind != "" && last.Kind != graph.RunEnded {
		y.missed(math.MaxInt64) // the reader left
		last = y.saw[last.Run][len(y.saw[last.Run])-1]
	}
	return last, err
}

// missed reads what no reader saw: the ends of runs that a later one closed, and what a run does whose reader leaves.
func (y *story) missed(before int64) {
	y.t.Helper()
	for run, saw := range y.saw {
		for e, err := range y.plan.Runner(y.o).Events(y.t.Context(), "t", run, saw[len(saw)-1].Seq, y.modes) {
			if err != nil || e.Seq < before && e.Kind != graph.RunEnded && before != math.MaxInt64 {
				y.t.Fatalf("%+v %v", e, err)
			}
			if e.Seq < before {
				y.saw[run] = append(y.saw[run], e)
			}
		}
	}
}

// live lives a thread with a few inputs, answers, edits and returns.
func (y *story) live() {
	y.t.Helper()
	req := ask{Input: item{"in"}}
	for range 12 {
		last, err := y.call(req)
		if waits, ok := errors.AsType[*graph.InterruptError](err); ok { // also if no task could run
			last.Interrupt = waits
		} else if err != nil && last.Kind == "" {
			y.t.Fatalf("%+v: %v", req, err)
		}
		if y.rng.IntN(5) == 0 {
			if _, _, err := y.plan.Runner(y.o).Update(y.t.Context(), graph.Edit[list, item]{Thread: "t", Updates: []item{{"edit"}}}); err != nil {
				y.t.Fatal(err)
			}
		}
		if last.Status == graph.Interrupted && y.rng.IntN(5) == 0 {
			if err := y.plan.Runner(y.o).Cancel(y.t.Context(), "t", last.Run); err != nil {
				y.t.Fatal(err)
			}
		}
		if req = (ask{Resume: true, Answers: map[string]any{}}); last.Interrupt != nil {
			for i, q := range last.Interrupt.Questions {
				if i == 0 || y.rng.IntN(2) == 0 {
					req.Answers[q.ID()] = true
				}
			}
		}
		switch x := y.rng.IntN(8); {
		case last.Status == graph.Completed || x == 0:
			req = ask{Input: item{"in"}}
		case x == 1:
			req.Updates = []item{{"more"}}
		case x == 2:
			req = ask{From: y.earlier(), Resume: y.rng.IntN(2) == 0}
		}
	}
}

// earlier returns a commit of the thread at which a run can go on.
func (y *story) earlier() graph.CommitID {
	y.t.Helper()
	var all []graph.CommitID
	for c, err := range y.s.Walk(y.t.Context(), "t", 0) {
		if err != nil {
			y.t.Fatal(err)
		}
		if len(c.Frontier) > 0 {
			all = append(all, c.ID)
		}
	}
	return all[y.rng.IntN(len(all))]
}

// The log shows the durable events of every run as its readers saw them, from any of them on.
func TestEvents(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for seed := range uint64(40) {
		y := newStory(t, seed)
		y.live()
		y.missed(math.MaxInt64)
		for run, want := range y.saw {
			for _, after := range append([]graph.Event[list]{{}}, want[y.rng.IntN(len(want))]) {
				var got []graph.Event[list]
				for e, err := range y.plan.Runner(y.o).Events(t.Context(), "t", run, after.Seq, y.modes) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, e)
				}
				rest := slices.DeleteFunc(slices.Clone(want), func(e graph.Event[list]) bool { return e.Seq <= after.Seq })
				if diff := cmp.Diff(rest, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, run %s after %d (-live +log):\n%s", seed, run, after.Seq, diff)
				}
			}
			for _, e := range want {
				kinds[fmt.Sprint(e.Kind, " ", e.Status)]++
				if e.Interrupt != nil && e.Interrupt.Before != nil {
					kinds["before"]++
				}
				if e.Interrupt != nil && e.Interrupt.After != nil {
					kinds["after"]++
				}
			}
		}
	}
	for _, k := range []string{
		"before", "after", "run_started running", "step_done running", "step_done completed", "run_ended completed",
		"run_ended interrupted", "run_ended failed", "run_ended cancelled", "run_ended limited", "run_ended superseded",
	} {
		if kinds[k] == 0 {
			t.Errorf("no event of kind %q", k)
		}
	}
}

// Events that the log does not show have the position of the last one that it shows.
func TestEventsThatAreNotSaved(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	p := three(t, map[string]node{"a": says("a"), "b": says("b"), "c": says("c")})
	seqs := func(r *runner, q ask) (kinds []string, out []int64) {
		for e, err := range r.Run(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			kinds, out = append(kinds, string(e.Kind)), append(out, e.Seq)
		}
		return kinds, out
	}
	r := p.Runner(graph.Options{Store: s})
	kinds, all := seqs(r, ask{Thread: "t", Run: "first"})
	if want := []string{"run_started", "step_done", "step_done", "step_done", "run_ended"}; !slices.Equal(kinds, want) || !slices.IsSorted(all) {
		t.Fatalf("%v %v, want %v", kinds, all, want)
	}
	if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: graph.CommitID(all[1] / 4)}, "died"); err != nil {
		t.Fatal(err)
	}
	_, head, err := r.State(t.Context(), "died")
	if err != nil {
		t.Fatal(err)
	}
	if _, got := seqs(r, ask{Thread: "died", Resume: true}); got[0] != int64(head.ID)*4 || got[1] <= got[0] {
		t.Errorf("after a death: %v, want to begin with %d", got, head.ID*4)
	}
	_, got := seqs(p.Runner(graph.Options{Store: s, SaveAtEnd: true}), ask{Thread: "end"})
	if got[0] != got[1] || got[1] != got[2] || got[2] >= got[3] || got[3] >= got[4] {
		t.Errorf("saved at the end: %v", got)
	}
	if _, got := seqs(p.Runner(graph.Options{}), ask{}); !slices.Equal(got, []int64{1, 2, 3, 4, 5}) {
		t.Errorf("without a store: %v", got)
	}
	for _, unknown := range [][2]string{{"t", "nobody"}, {"nowhere", "first"}} {
		for _, err := range r.Events(t.Context(), unknown[0], unknown[1], 0, 0) {
			if !errors.Is(err, graph.ErrNotFound) {
				t.Errorf("%v: %v", unknown, err)
			}
		}
	}
}
