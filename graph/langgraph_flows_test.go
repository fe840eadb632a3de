package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
)

// sends is a node that does work for each of its parts, side by side, and joins their words.
func sends(limit int, parts []string, work func(context.Context, list, string) (item, error)) graph.Task[list, item] {
	return graph.Task[list, item]{Run: graph.FanOut(limit, func(list) []string { return parts }, work, joined)}
}

func joined(_ list, us []item) (item, error) {
	var words string
	for _, u := range us {
		words += u.Add
	}
	return item{words}, nil
}

// within returns a subgraph whose update is the words of its state.
func within(inner *graph.Plan[list, item]) graph.Task[list, item] {
	return graph.Sub(inner, func(list) item { return item{} }, func(_, end list) item { return item{whole(end)} })
}

// asksOnce asks for an approval and says the verdict.
func asksOnce(ctx context.Context, key string) (item, error) {
	a, err := graph.Ask[approval](ctx, key, key+"?")
	return item{a.Verdict}, err
}

// seen runs a request and returns what show makes of its events, without empty texts.
func (l *lived) seen(q ask, show func(graph.Event[list]) string) (got []string) {
	l.t.Helper()
	q.Thread = "t"
	for e, err := range l.p.Runner(l.o).Stream(l.t.Context(), q) {
		if err != nil {
			return append(got, "error: "+err.Error())
		}
		if text := show(e); text != "" {
			got = append(got, text)
		}
	}
	return got
}

func TestLangGraphFlows(t *testing.T) {
	in, resume := ask{Input: item{"?"}}, ask{Resume: true}
	equal := func(t *testing.T, what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for name, test := range map[string]func(*testing.T){
		"send_dedupe_on_resume": func(t *testing.T) {
			var ran atomic.Int32
			l := onThread(t, spoken(t, tasks{"a": sends(0, []string{"1", "2", "3"}, func(ctx context.Context, _ list, p string) (item, error) {
				if p == "2" {
					return asksOnce(ctx, "k")
				}
				ran.Add(1)
				return item{p}, nil
			})}, "^ a, a b, b $"))
			l.waits(in, "a[1]/k")
			l.want("?1yes3b", yes("k"))
			equal(t, "runs of the other parts", ran.Load(), int32(2))
		},
		"send_react_interrupt": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": sends(0, []string{"1", "2"}, func(ctx context.Context, _ list, _ string) (item, error) { return asksOnce(ctx, "k") })}, "^ a, a $"))
			l.waits(in, "a[0]/k", "a[1]/k")
			l.waits(yes("a[1]/k"), "a[0]/k")
			l.want("?yesyes", yes("a[0]/k"))
		},
		"send_with_own_state": func(t *testing.T) {
			inner := spoken(t, nil, "^ x, x y, y $")
			part := graph.Sub(inner, func(p string) item { return item{p} }, func(_ string, end list) item { return item{whole(end)} })
			fan := graph.Task[list, item]{Run: graph.FanOut(0, func(list) []string { return []string{"1", "2"} },
				func(ctx context.Context, _ list, p string) (item, error) { return part.Run(ctx, p) }, joined)}
			onThread(t, spoken(t, tasks{"a": fan}, "^ a, a $")).want("?1xy2xy", in)
		},
		"command_goto_send": func(t *testing.T) {
			parts, where := []string{"l", "s", "s"}, map[string]string{"l": "long", "s": "short"}
			work := graph.FanOut(0, func(list) []string { return parts }, func(_ context.Context, _ list, p string) (item, error) { return item{p}, nil }, joined)
			fan := graph.Task[list, item]{To: []string{"long", "short", "none"}, Pick: func(ctx context.Context, s list) (u item, next []string, err error) {
				u, err = work(ctx, s)
				for p := range strings.SplitSeq(u.Add, "") {
					next = append(next, where[p])
				}
				if u.Add == "" {
					next = []string{"none"}
				}
				return u, next, err
			}}
			l := onThread(t, spoken(t, tasks{"a": fan}, "^ a, long $, short $, none $"))
			l.want("?lsslongshort", in)
			parts = nil
			l.want("?lsslongshort?none", in)
			parts, where = []string{"z"}, map[string]string{"z": "nowhere"}
			if _, err := l.call(in); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
				t.Errorf("error %v", err)
			}
		},
		"max_concurrency": func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most int
				var mu sync.Mutex
				l := onThread(t, spoken(t, tasks{"a": sends(2, []string{"1", "2", "3", "4", "5"}, func(ctx context.Context, _ list, p string) (item, error) {
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					err := nap(ctx, time.Second)
					mu.Lock()
					now--
					mu.Unlock()
					return item{p}, err
				})}, "^ a, a $"))
				l.want("?12345", in)
				equal(t, "at once", most, 2)
			})
		},
		"parent_command": func(t *testing.T) {
			inner := spoken(t, nil, "^ x, x $")
			sub := graph.SubPick(inner, func(list) item { return item{} }, func(_, end list) (item, []string) { return item{whole(end)}, []string{"c"} }, "b", "c")
			onThread(t, spoken(t, tasks{"s": sub}, "^ s, b $, c $")).want("?xc", in)
		},
		"parent_command_goto_many": func(t *testing.T) {
			inner := spoken(t, nil, "^ x, x $")
			sub := graph.SubPick(inner, func(list) item { return item{} }, func(_, end list) (item, []string) { return item{whole(end)}, []string{"c", "b"} }, "b", "c")
			onThread(t, spoken(t, tasks{"s": sub}, "^ s, b $, c $")).want("?xbc", in)
		},
		"subgraph_retries": func(t *testing.T) {
			one, two := 0, 0
			sub := within(spoken(t, tasks{"x": {Run: counts(&one)}, "y": {Run: failing(1, &two)}}, "^ x, x y, y $"))
			sub.Retry = graph.Retry{Attempts: 2, First: 1}
			onThread(t, spoken(t, tasks{"s": sub}, "^ s, s $")).want("?ca", in)
			equal(t, "runs", []int{one, two}, []int{1, 2})
		},
		"subgraph_checkpoint_true": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"s": recalling(spoken(t, nil, "^ x, x $"))}, "^ s, s $"))
			l.want("?<1>", in)
			l.want("?<1>?<2>", in)
		},
		"subgraph_checkpoint_true_interrupt": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"s": recalling(spoken(t, tasks{"x": {Run: asks(new(int), "k")}}, "^ x, x $"))}, "^ s, s $"))
			l.waits(in, "s/x#1/k")
			l.want("?<1>", yes("k"))
			l.waits(in, "s/x#1/k")
			l.want("?<1>?<2>", yes("k"))
		},
		"double_interrupt_subgraph": func(t *testing.T) {
			sub := within(spoken(t, tasks{"x": {Run: asks(new(int), "k")}, "y": {Run: asks(new(int), "l")}}, "^ x, x y, y $"))
			l := onThread(t, spoken(t, tasks{"s": sub}, "^ s, s b, b $"))
			l.waits(in, "s/x#1/k")
			l.waits(yes("k"), "s/y#2/l")
			l.want("?k:yesl:yesb", yes("l"))
		},
		"nested_graph_state": func(t *testing.T) {
			inner := spoken(t, nil, "^ x, x y, y $")
			l := onThread(t, spoken(t, tasks{"s": within(inner)}, "^ s, s $"))
			l.o.BreakBefore = []string{"s/y"}
			if _, err := l.call(in); err == nil {
				t.Fatal("no stop")
			}
			frames, err := inner.Inside(t.Context(), l.o.Store, "t", 0, "s")
			if err != nil || len(frames) != 2 || whole(frames[1].State) != "x" {
				t.Errorf("%v, %v", frames, err)
			}
			l.want("?xy", resume)
		},
		"stream_subgraphs_during_execution": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"s": within(spoken(t, nil, "^ x, x $"))}, "^ s, s $"))
			got := l.seen(ask{Modes: graph.Tasks}, func(e graph.Event[list]) string {
				return strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Path, "/", e.Node))
			})
			equal(t, "events", got, []string{"run_started /", "task_started /s", "task_started s/x", "task_done s/x", "task_done /s", "step_done /", "run_ended /"})
		},
		"debug_subgraphs": func(t *testing.T) {
			deep := within(spoken(t, nil, "^ x, x $"))
			l := onThread(t, spoken(t, tasks{"s": within(spoken(t, tasks{"m": deep}, "^ m, m $"))}, "^ s, s $"))
			got := l.seen(ask{Modes: graph.Tasks | graph.Updates}, func(e graph.Event[list]) string {
				if e.Kind != graph.TaskDone {
					return ""
				}
				return e.Path + "/" + e.Node + string(e.Tasks[0].Body)
			})
			equal(t, "updates", got, []string{`s/m#1/x{"add":"x"}`, `s/m{"add":"x"}`, `/s{"add":"x"}`})
		},
		"debug_retry": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": {Run: failing(1, new(int)), Retry: graph.Retry{Attempts: 2, First: 1}}}, "^ a, a $"))
			got := l.seen(in, func(e graph.Event[list]) string {
				if e.Kind != graph.TaskRetried {
					return ""
				}
				return e.Node + ": " + e.Tasks[0].Error
			})
			equal(t, "retries", got, []string{"a: flaky"})
		},
		"interrupt_loop": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": {Run: func(ctx context.Context, _ list) (item, error) {
				for {
					a, err := graph.Ask[approval](ctx, "age", "?")
					if err != nil || a.Verdict == "yes" {
						return item{a.Verdict}, err
					}
				}
			}}}, "^ a, a $"))
			l.waits(in, "a/age")
			l.waits(ask{Resume: true, Answers: map[string]any{"age": approval{Verdict: "no"}}}, "a/age")
			l.want("?yes", yes("age"))
		},
		"multiple_interrupt_state_persistence": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": {Run: asks(new(int), "k")}, "b": {Run: asks(new(int), "l")}}, "^ a, a b, b $"))
			l.waits(in, "a/k")
			l.waits(yes("k"), "b/l")
			s, head, err := l.p.Runner(l.o).State(t.Context(), "t")
			if err != nil || whole(s) != "?k:yes" || head.Status != graph.Interrupted {
				t.Errorf("%v, %v, %v", s, head, err)
			}
			l.want("?k:yesl:yes", yes("l"))
		},
		"interrupts_in_tasks_surfaced_once": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": {Run: asks(new(int), "k")}, "b": {Run: asks(new(int), "l")}}, "^ a, ^ b, a $, b $"))
			stops := 0
			l.seen(in, func(e graph.Event[list]) string {
				if e.Interrupt != nil {
					stops += len(e.Interrupt.Questions)
				}
				return ""
			})
			equal(t, "questions", stops, 2)
		},
		"interrupt_stream_mode_values": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"b": {Run: asks(new(int), "k")}}, "^ a, a b, b $"))
			got := l.seen(ask{Input: item{"?"}, Modes: graph.Values}, func(e graph.Event[list]) string { return whole(e.State) })
			equal(t, "values", got, []string{"?", "?a", "?a", `error: waits for answers to "b/k"`})
		},
		"fork_does_not_apply_pending_writes": func(t *testing.T) {
			one, two := 0, 0
			l := onThread(t, spoken(t, tasks{"b": {Run: counts(&one)}, "c": {Run: failing(1, &two)}}, "^ a, a b, a c, b $, c $"))
			l.o.Parallel = 1
			if _, err := l.call(in); !errors.Is(err, errFlaky) {
				t.Fatal(err)
			}
			r := l.p.Runner(l.o)
			h, err := r.History(t.Context(), "t", 0, 9)
			if err == nil {
				err = r.Fork(t.Context(), graph.Point{Thread: "t", Commit: h[len(h)-1].Commit.ID}, "u") // after the input
			}
			if err != nil {
				t.Fatal(err)
			}
			if s, err := r.Invoke(t.Context(), ask{Thread: "u", Resume: true}); err != nil || whole(s) != "?aca" {
				t.Errorf("%v, %v", s, err)
			}
			equal(t, "runs of b", one, 2)
		},
		"run_from_checkpoint_id_retains_previous_writes": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.want("?ab", in)
			r := l.p.Runner(l.o)
			h, err := r.History(t.Context(), "t", 0, 9)
			if err == nil {
				err = r.Fork(t.Context(), graph.Point{Thread: "t", Commit: h[1].Commit.ID}, "u")
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Invoke(t.Context(), ask{Thread: "u", Resume: true}); err != nil {
				t.Fatal(err)
			}
			forked, err := r.History(t.Context(), "u", 0, 9)
			if err != nil || len(forked) != 3 || whole(forked[2].State) != "?" {
				t.Errorf("%v, %v", forked, err)
			}
			l.want("?ab?ab", in)
		},
		"checkpoint_metadata": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			for _, user := range []string{"ann", "bob", "ann"} {
				if _, err := l.call(ask{Metadata: map[string]string{"user": user}}); err != nil {
					t.Fatal(err)
				}
			}
			r := l.p.Runner(l.o)
			all, err := r.Runs(t.Context(), graph.RunQuery{Thread: "t", Metadata: map[string]string{"user": "ann"}})
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			older, err := r.Runs(t.Context(), graph.RunQuery{Thread: "t", Status: graph.Completed, Before: all[0].Input, Limit: 1})
			if err != nil || len(older) != 1 || older[0].Metadata["user"] != "bob" {
				t.Errorf("%v, %v", older, err)
			}
		},
		"supersteps_populate_task_results": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, ^ b, a $, b $"))
			l.want("?ab", in)
			h, err := l.p.Runner(l.o).History(t.Context(), "t", 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range h[0].Commit.Deltas {
				got = append(got, d.Node+string(d.Body))
			}
			equal(t, "results", got, []string{`a{"add":"a"}`, `b{"add":"b"}`})
		},
		"invoke_checkpoint_three": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			l.want("?a", in)
			if s, err := l.p.Runner(l.o).Invoke(t.Context(), ask{Thread: "other", Input: item{"!"}}); err != nil || whole(s) != "!a" {
				t.Errorf("%v, %v", s, err)
			}
			l.want("?a?a", in)
		},
		"update_as_input": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			if _, _, err := l.p.Runner(l.o).Update(t.Context(), edit{Thread: "t", Create: true, As: "a", Updates: []item{{"A"}}}); err != nil {
				t.Fatal(err)
			}
			l.want("Ab", resume)
		},
		"batch_many_processes_in_out": func(t *testing.T) {
			r := spoken(t, nil, "^ a, a b, b c, c $").Runner(graph.Options{})
			for i, got := range r.Batch(t.Context(), []ask{{Input: item{"1"}}, {Input: item{"2"}}, {Input: item{"3"}}}, 2) {
				if want := fmt.Sprint(i+1, "abc"); got.Err != nil || whole(got.State) != want {
					t.Errorf("%v, %v; want %s", got.State, got.Err, want)
				}
			}
		},
		"step_timeout_on_stream_hang": func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang := graph.Task[list, item]{Timeout: time.Second, Run: func(ctx context.Context, _ list) (item, error) { return item{}, nap(ctx, time.Hour) }}
				_, err := onThread(t, spoken(t, tasks{"a": hang}, "^ a, ^ b, a $, b $")).call(in)
				if late, ok := errors.AsType[*graph.TimeoutError](err); !ok || late.After != time.Second {
					t.Errorf("error %v", err)
				}
			})
		},
		"graph_with_jitter_retry_policy": func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := onThread(t, spoken(t, tasks{"a": {Run: failing(2, new(int)), Retry: graph.Retry{Attempts: 3, First: time.Second, Longest: time.Minute}}}, "^ a, a $"))
				l.o.Rand = func() float64 { return 0.5 }
				began := time.Now()
				l.want("?a", in)
				equal(t, "pauses", time.Since(began), 2250*time.Millisecond) // 3/4 of 1 s and of 2 s
			})
		},
		"should_retry_on_sequence_of_exceptions": func(t *testing.T) {
			errs := []error{errFlaky, errRefused, errors.New("other")}
			n := 0
			task := graph.Task[list, item]{Run: func(context.Context, list) (item, error) { n++; return item{}, errs[n-1] }, Retry: graph.Retry{
				Attempts: 9, First: 1, If: func(err error) bool { return errors.Is(err, errFlaky) || errors.Is(err, errRefused) },
			}}
			if _, err := onThread(t, spoken(t, tasks{"a": task}, "^ a, a $")).call(in); err == nil || n != 3 {
				t.Errorf("%d attempts, %v", n, err)
			}
		},
		"node_cache_ttl": func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				task := graph.Task[list, item]{Run: counts(&n), Cache: &graph.Cache[list, item]{Key: func(list) string { return "k" }, TTL: time.Minute}}
				l := onThread(t, spoken(t, tasks{"a": task}, "^ a, a $"))
				l.want("?c", in)
				<-time.After(59 * time.Second)
				l.want("?c?c", in)
				<-time.After(2 * time.Second)
				l.want("?c?c?c", in)
				equal(t, "runs", n, 2)
			})
		},
		"durability_exit": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b c, c $"))
			l.o.SaveAtEnd = true
			l.want("?abc", in)
			h, err := l.p.Runner(l.o).History(t.Context(), "t", 0, 9)
			if err != nil || len(h) != 2 || whole(h[0].State) != "?abc" {
				t.Errorf("%d commits, %v", len(h), err)
			}
		},
		"node_error_handler_parallel_branches": func(t *testing.T) {
			broken := graph.Task[list, item]{Run: fails(errRefused), OnError: graph.OnError[list, item]{Update: func(list, graph.Failure) item { return item{"!"} }, To: "h"}}
			onThread(t, spoken(t, tasks{"a": broken}, "^ a, ^ b, a c, b c, c $, h $")).want("?!bch", in)
		},
		"recursion_limit_resumed": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b c, c $"))
			l.o.MaxSteps = 2
			_, err := l.call(in)
			if limit, ok := errors.AsType[*graph.StepLimitError](err); !ok || !slices.Equal(limit.Next, []string{"c"}) {
				t.Fatal(err)
			}
			l.want("?abc", resume)
		},
		"defer_node_with_cycle": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"z": {Wait: graph.Last}}, "^ a, ^ z, z $", until(4, "a", "a")))
			l.want("?aaaz", in)
		},
		"migrate_checkpoints": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.o.BreakBefore = []string{"b"}
			if _, err := l.call(in); err == nil {
				t.Fatal("no stop")
			}
			l.p, l.o.BreakBefore = spoken(t, nil, "^ a, a c, c $"), nil
			if _, err := l.call(resume); !errors.Is(err, graph.ErrGraphChanged) {
				t.Errorf("error %v", err)
			}
			l.o.Migrate = func(graph.Commit) ([]string, error) { return []string{"c"}, nil }
			l.want("?ac", resume)
		},
		"interrupt_functional": func(t *testing.T) {
			did := 0
			l := onThread(t, spoken(t, tasks{"a": {Run: func(ctx context.Context, _ list) (item, error) {
				w, err := graph.Once(ctx, "k", func(context.Context, string) (string, error) { did++; return "w", nil })
				if err != nil {
					return item{}, err
				}
				u, err := asksOnce(ctx, "q")
				return item{w + u.Add}, err
			}}}, "^ a, a $"))
			l.waits(in, "a/q")
			l.want("?wyes", yes("q"))
			equal(t, "done", did, 1)
		},
		"add_sequence": func(t *testing.T) {
			g := graph.Graph[list, item]{Apply: appendItem, Nodes: tasks{"a": {Run: says("a")}, "b": {Run: says("b")}}, Edges: graph.Chain(graph.Start, "a", "b", graph.End)}
			onThread(t, must(g)).want("?ab", in)
		},
		"conditional_edge_of_two_targets": func(t *testing.T) {
			long := graph.If("a", func(s list) bool { return len(s.Items) > 2 }, "b", "c")
			l := onThread(t, spoken(t, nil, "^ a, b $, c $", long))
			l.want("?ac", in)
			l.want("?ac?ab", in)
		},
		"nested_graph_xray": func(t *testing.T) {
			p := spoken(t, tasks{"s": within(spoken(t, nil, "^ x, x y, y $"))}, "^ s, s z, z $")
			if picture := draw.Mermaid(p.Shape()); !strings.Contains(picture, `["x"]`) {
				t.Errorf("drawing without the node of the subgraph:\n%s", picture)
			}
		},
	} {
		t.Run(name, test)
	}
}

// recalling is a subgraph that continues from the words of its last call; its update is their number.
func recalling(inner *graph.Plan[list, item]) graph.Task[list, item] {
	return graph.SubFrom(inner,
		func(s list) list {
			var before list
			for _, w := range s.Items {
				if strings.HasPrefix(w, "<") {
					before.Items = append(before.Items, w)
				}
			}
			return before
		},
		func(list) item { return item{} },
		func(_, end list) item { return item{fmt.Sprintf("<%d>", len(end.Items))} })
}
