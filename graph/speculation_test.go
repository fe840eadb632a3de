package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// takes is a node that needs a second, emits its name as a token in the middle and counts a call.
func takes(name string) node {
	return func(ctx context.Context, _ list) (item, error) {
		for range 2 {
			select {
			case <-time.After(time.Second / 2):
			case <-ctx.Done():
				graph.Count(ctx, graph.Call{Name: "model", Counts: map[string]int64{"output_tokens": 7}})
				return item{}, ctx.Err()
			}
			graph.EmitToken(ctx, name)
		}
		return item{name}, nil
	}
}

// deciding is grade → (write → polish | again); grade takes a second.
func deciding(verdict string, early ...string) graph.Graph[list, item] {
	return graph.Graph[list, item]{
		Name: "deciding", Apply: appendItem,
		Order: []string{"grade", "again", "write", "polish"},
		Nodes: tasks{
			"grade": {Run: takes(verdict), Speculate: graph.Speculation[list]{Nodes: early}},
			"again": {Run: takes("again")}, "write": {Run: takes("write")}, "polish": {Run: takes("polish")},
		},
		Edges: slices.Concat(graph.Chain(graph.Start, "grade"), graph.Chain("write", "polish", graph.End), graph.Chain("again", graph.End)),
		Branches: []graph.Branch[list]{{From: "grade", To: []string{"write", "again"}, Route: func(s list) string {
			if s.Items[len(s.Items)-1] == "good" {
				return "write"
			}
			return "again"
		}}},
	}
}

// observed is what a run showed, without times.
type observed struct {
	Events []string
	State  list
	Err    error
	Took   time.Duration
}

func observe(t *testing.T, g graph.Graph[list, item], o graph.Options, req ask) (out observed) {
	t.Helper()
	p, err := graph.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for e, err := range p.Runner(o).Stream(t.Context(), req) {
		if err != nil {
			out.Err = err
			break
		}
		out.Events = append(out.Events, fmt.Sprint(e.Kind, e.Path, e.Node, e.Step, e.Value, e.Next, e.Status))
		if !e.Live {
			out.State = e.State
		}
	}
	out.Took = time.Since(began)
	return out
}

// wasted are the nodes that the log of a thread counts as wasted.
func wasted(t *testing.T, s graph.Store) (out []graph.Wasted) {
	t.Helper()
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Deltas {
			out = append(out, d.Notes.Wasted...)
		}
	}
	return out
}

// With a speculation, a run shows the same events in the same order and ends in the same state.
func TestSpeculation(t *testing.T) {
	cut := []graph.Wasted{{Node: "write", Duration: time.Second, Calls: nil}}
	for name, tt := range map[string]struct {
		verdict string
		early   []string
		change  func(*graph.Graph[list, item], *graph.Options)
		took    time.Duration // 3 s on the good route without a speculation, 2 s on the other
		wasted  []graph.Wasted
	}{
		"none":       {"good", nil, nil, 3 * time.Second, nil},
		"right":      {"good", []string{"write"}, nil, 2 * time.Second, nil},
		"whole path": {"good", []string{"write", "polish"}, nil, 2 * time.Second, nil},
		"wrong":      {"poor", []string{"write"}, nil, 2 * time.Second, cut},
		"policies": {"good", []string{"write", "polish"}, func(g *graph.Graph[list, item], _ *graph.Options) {
			write := g.Nodes["write"]
			write.Retry, write.Timeout = graph.Retry{Attempts: 2, First: time.Second}, time.Minute
			run := write.Run
			write.Run = func(ctx context.Context, s list) (item, error) {
				if graph.Info(ctx).Attempt == 1 {
					return item{}, errors.New("first")
				}
				return run(ctx, s)
			}
			g.Nodes["write"] = write
		}, 3 * time.Second, nil},
		"fan-out waits": {"good", []string{"write"}, func(g *graph.Graph[list, item], _ *graph.Options) {
			g.Nodes["write"] = graph.Task[list, item]{Run: graph.FanOut(1, func(list) []string { return []string{"x", "y"} },
				func(ctx context.Context, s list, w string) (item, error) { return takes(w)(ctx, s) },
				func(_ list, us []item) (item, error) { return item{us[0].Add + us[1].Add}, nil })}
		}, 4 * time.Second, nil},
		"subgraph waits": {"good", []string{"write"}, func(g *graph.Graph[list, item], _ *graph.Options) {
			inner, err := graph.Compile(deciding("poor", "write"))
			if err != nil {
				t.Fatal(err)
			}
			g.Nodes["write"] = graph.Sub(inner, func(list) item { return item{} }, func(_, s list) item { return item{whole(s)} })
		}, 4 * time.Second, cut},
		"goes away": {"good", []string{"write"}, func(g *graph.Graph[list, item], _ *graph.Options) {
			g.Nodes["write"] = graph.Task[list, item]{Run: takes("write"), OnError: graph.OnError[list, item]{
				Update: func(list, graph.Failure) item { return item{"handled"} },
			}}
		}, 2 * time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []observed
				for _, early := range [][]string{nil, tt.early} {
					g, o := deciding(tt.verdict, early...), graph.Options{Store: memstore.New(), Rand: func() float64 { return 1 }}
					if tt.change != nil {
						tt.change(&g, &o)
					}
					if early == nil {
						grade := g.Nodes["grade"]
						grade.Speculate = graph.Speculation[list]{}
						g.Nodes["grade"] = grade
					}
					got := observe(t, g, o, ask{Thread: "t"})
					all = append(all, got)
					if early == nil {
						continue
					}
					if got.Took != tt.took {
						t.Errorf("took %v, want %v", got.Took, tt.took)
					}
					if diff := cmp.Diff(tt.wasted, wasted(t, o.Store), cmpopts.IgnoreFields(graph.Wasted{}, "Calls")); diff != "" {
						t.Errorf("wasted (-want +got):\n%s", diff)
					}
				}
				if diff := cmp.Diff(all[0], all[len(all)-1], cmpopts.IgnoreFields(observed{}, "Took")); diff != "" {
					t.Errorf("(-without +with speculation):\n%s", diff)
				}
			})
		})
	}
}

// If decides from the state before the task, and its panic fails the task.
func TestSpeculationIf(t *testing.T) {
	for name, tt := range map[string]struct {
		test  func(list) bool
		took  time.Duration
		fails bool
	}{
		"true":  {func(s list) bool { return len(s.Items) == 0 }, 2 * time.Second, false}, // before the task
		"false": {func(s list) bool { return len(s.Items) > 0 }, 3 * time.Second, false},
		"panic": {func(list) bool { panic("broken") }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := deciding("good", "write")
				grade := g.Nodes["grade"]
				grade.Speculate.If = tt.test
				g.Nodes["grade"] = grade
				got := observe(t, g, graph.Options{Store: memstore.New()}, ask{Thread: "t"})
				failure, failed := errors.AsType[*graph.NodeError](got.Err)
				if got.Took != tt.took || failed != tt.fails || failed && failure.Node != "grade" {
					t.Errorf("took %v with %v, want %v", got.Took, got.Err, tt.took)
				}
			})
		})
	}
}

// The cost of a wrong guess is in the notes of the task that decided.
func TestSpeculationCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for verdict, want := range map[string]int64{"good": 0, "poor": 7} {
			g := deciding(verdict, "write")
			write := g.Nodes["write"]
			slow := write.Run
			write.Run = func(ctx context.Context, s list) (item, error) {
				time.Sleep(time.Second / 4)
				return slow(ctx, s)
			}
			g.Nodes["write"] = write
			s := memstore.New()
			observe(t, g, graph.Options{Store: s}, ask{Thread: "t"})
			var tokens int64
			for _, w := range wasted(t, s) {
				for _, c := range w.Calls {
					tokens += c.Counts["output_tokens"]
				}
			}
			if tokens != want {
				t.Errorf("%s: %d tokens wasted, want %d", verdict, tokens, want)
			}
			for c, err := range s.Walk(t.Context(), "t", 0) {
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range c.Deltas {
					if early := d.Node == "write"; early && d.Notes.Early != time.Second {
						t.Errorf("%s began %v early, want 1s", d.Node, d.Notes.Early)
					}
				}
			}
		}
	})
}

// Questions and deeds of a node wait for the decision, and never happen on the wrong route.
func TestSpeculationAsksAndActs(t *testing.T) {
	for _, verdict := range []string{"good", "poor"} {
		t.Run(verdict, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var deeds []string
				g := deciding(verdict, "write")
				g.Nodes["write"] = graph.Task[list, item]{Run: func(ctx context.Context, _ list) (item, error) {
					_, err := graph.Once(ctx, "pay", func(_ context.Context, key string) (string, error) {
						deeds = append(deeds, fmt.Sprint(time.Since(began)))
						return key, nil
					})
					if err != nil {
						return item{}, err
					}
					a, err := graph.Ask[approval](ctx, "ok", "?")
					return item{a.Verdict}, err
				}}
				o := graph.Options{Store: memstore.New()}
				got := observe(t, g, o, ask{Thread: "t"})
				if verdict == "poor" {
					if deeds != nil || got.Err != nil {
						t.Errorf("deeds %v, %v", deeds, got.Err)
					}
					return
				}
				if want := []string{"1s"}; !cmp.Equal(deeds, want) || !cmp.Equal(ids(got.Err), []string{"write/ok"}) {
					t.Errorf("deeds %v, want %v; questions %v", deeds, want, ids(got.Err))
				}
				got = observe(t, g, o, ask{Thread: "t", Resume: true, Answers: map[string]any{"ok": approval{Verdict: "yes"}}})
				if want := "goodyespolish"; whole(got.State) != want || len(deeds) != 1 {
					t.Errorf("state %q, %d deeds, want %q and 1", whole(got.State), len(deeds), want)
				}
			})
		})
	}
}

// A speculation ends with its run, however that ends, and does not begin what the run may not.
func TestSpeculationEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		o     graph.Options
		grade error
		began bool
	}{
		"breakpoint before": {graph.Options{BreakBefore: []string{"write"}}, nil, false},
		"breakpoint after":  {graph.Options{BreakAfter: []string{"grade"}}, nil, false},
		"step limit":        {graph.Options{MaxSteps: 1}, nil, false},
		"failure":           {graph.Options{}, errRefused, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log []string
				g := deciding("good", "write")
				g.Nodes["write"] = graph.Task[list, item]{Run: func(ctx context.Context, _ list) (item, error) {
					log = append(log, "begins")
					defer func() { log = append(log, "ends") }()
					<-ctx.Done()
					return item{}, ctx.Err()
				}}
				if tt.grade != nil {
					g.Nodes["grade"] = graph.Task[list, item]{Speculate: g.Nodes["grade"].Speculate, Run: func(context.Context, list) (item, error) {
						time.Sleep(time.Second)
						return item{}, tt.grade
					}}
				}
				tt.o.Store = memstore.New()
				if got := observe(t, g, tt.o, ask{Thread: "t"}); got.Err == nil {
					t.Error("no error")
				}
				if got := strings.Join(log, " "); tt.began != (got == "begins ends") || !tt.began && got != "" {
					t.Errorf("%q", got)
				}
				if got := len(wasted(t, tt.o.Store)); (got == 1) != tt.began {
					t.Errorf("%d wasted", got)
				}
			})
		})
	}
}

func TestSpeculationFaults(t *testing.T) {
	for early, want := range map[string]string{
		"nobody": `"nobody" is not another node that can follow "grade"`,
		"polish": `"polish" is not another node that can follow "grade"`,
		"grade":  `"grade" is not another node that can follow "grade"`,
	} {
		if _, err := graph.Compile(deciding("good", early)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", early, err, want)
		}
	}
}
