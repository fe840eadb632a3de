package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// lived is a thread of one store whose calls come from fresh runners, as after a restart.
type lived struct {
	t *testing.T
	p *graph.Plan[list, item]
	o graph.Options
}

func onThread(t *testing.T, p *graph.Plan[list, item]) *lived {
	return &lived{t, p, graph.Options{Store: memstore.New()}}
}

func (l *lived) call(q ask) (string, error) {
	q.Thread = "t"
	s, err := l.p.Runner(l.o).Invoke(l.t.Context(), q)
	return whole(s), err
}

func (l *lived) want(words string, q ask) {
	l.t.Helper()
	if got, err := l.call(q); err != nil || got != words {
		l.t.Errorf("%s, %v; want %s", got, err, words)
	}
}

func (l *lived) waits(q ask, want ...string) {
	l.t.Helper()
	if _, err := l.call(q); !slices.Equal(ids(err), want) {
		l.t.Fatalf("open questions %v, want %v", ids(err), want)
	}
}

func yes(keys ...string) ask {
	a := map[string]any{}
	for _, k := range keys {
		a[k] = approval{Verdict: "yes"}
	}
	return ask{Resume: true, Answers: a}
}

func TestLangGraphThreads(t *testing.T) {
	in := ask{Input: item{"?"}}
	resume := ask{Resume: true}
	flaky := func(failures int, ran *int) graph.Task[list, item] {
		return graph.Task[list, item]{Run: func(context.Context, list) (item, error) {
			if *ran++; *ran <= failures {
				return item{}, errRefused
			}
			return item{"f"}, nil
		}}
	}
	asking := func(keys ...string) graph.Task[list, item] {
		return graph.Task[list, item]{Run: asks(new(int), keys...)}
	}
	nested := func(inner *graph.Plan[list, item]) graph.Task[list, item] {
		return graph.Sub(inner, func(list) item { return item{} }, func(_, end list) item { return item{"(" + whole(end) + ")"} })
	}
	for name, test := range map[string]func(*testing.T){
		"invoke_checkpoint_two": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			l.want("?a", in)
			l.want("?a?a", in)
		},
		"pending_writes_resume": func(t *testing.T) {
			one, two := 0, 0
			l := onThread(t, spoken(t, tasks{"a": {Run: counts(&one)}, "b": flaky(1, &two)}, "^ a, ^ b, a $, b $"))
			l.o.Parallel = 1
			if _, err := l.call(in); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			l.want("?cf", resume)
			if one != 1 || two != 2 {
				t.Errorf("ran %d and %d times", one, two)
			}
		},
		"checkpoint_recovery": func(t *testing.T) {
			n := 0
			l := onThread(t, spoken(t, tasks{"b": flaky(2, &n)}, "^ a, a b, b c, c $"))
			_, first := l.call(in)
			_, second := l.call(resume)
			if !errors.Is(first, errRefused) || !errors.Is(second, errRefused) {
				t.Fatal(first, second)
			}
			l.want("?afc", resume)
		},
		"dynamic_interrupt": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"b": asking("k")}, "^ a, a b, b $"))
			l.waits(in, "b/k")
			l.want("?ak:yes", yes("k"))
		},
		"interrupt_multiple": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"b": asking("k", "l")}, "^ b, b $"))
			l.waits(in, "b/k", "b/l")
			l.want("?k:yes,l:yes", yes("k", "l"))
		},
		"multiple_interrupts_one_at_a_time": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"b": asking("k", "l")}, "^ b, b $"))
			l.waits(in, "b/k", "b/l")
			l.waits(yes("l"), "b/k")
			l.want("?k:yes,l:yes", yes("k"))
		},
		"handles_multiple_interrupts_from_tasks": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": asking("k"), "b": asking("k")}, "^ a, ^ b, a $, b $"))
			l.waits(in, "a/k", "b/k")
			l.want("?k:yesk:yes", yes("a/k", "b/k"))
		},
		"null_resume_disallowed_with_multiple_interrupts": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": asking("k"), "b": asking("k")}, "^ a, ^ b, a $, b $"))
			l.waits(in, "a/k", "b/k")
			_, err := l.call(yes("k"))
			if _, ok := errors.AsType[*graph.AnswerError](err); !ok {
				t.Errorf("error %v", err)
			}
		},
		"interrupt_subgraph": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"s": nested(spoken(t, tasks{"i": asking("k")}, "^ i, i $"))}, "^ s, s $"))
			l.waits(in, "s/i#1/k")
			l.want("?(k:yes)", yes("k"))
		},
		"doubly_nested_graph_interrupts": func(t *testing.T) {
			deep := spoken(t, tasks{"m": nested(spoken(t, tasks{"i": asking("k")}, "^ i, i $"))}, "^ m, m $")
			l := onThread(t, spoken(t, tasks{"s": nested(deep)}, "^ s, s $"))
			l.waits(in, "s/m#1/i#1/k")
			l.want("?((k:yes))", yes("k"))
		},
		"nested_graph": func(t *testing.T) {
			onThread(t, spoken(t, tasks{"s": nested(spoken(t, nil, "^ x, x y, y $"))}, "^ a, a s, s $")).want("?a(xy)", in)
		},
		"nested_graph_interrupts_parallel": func(t *testing.T) {
			inner := nested(spoken(t, tasks{"i": asking("k")}, "^ i, i $"))
			l := onThread(t, spoken(t, tasks{"s": inner}, "^ s, ^ b, s $, b $"))
			l.waits(in, "s/i#1/k")
			if got, err := l.call(yes("k")); err != nil || len(got) != len("?(k:yes)b") {
				t.Errorf("%s, %v", got, err)
			}
		},
		"interruption_without_state_updates": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b c, c $"))
			l.o.BreakBefore = []string{graph.Every}
			_, err := l.call(in)
			for stops := 1; stops < 3; stops++ {
				if _, ok := errors.AsType[*graph.InterruptError](err); !ok {
					t.Fatal(err)
				}
				_, err = l.call(resume)
			}
			l.want("?abc", resume)
		},
		"command_goto_with_static_breakpoints": func(t *testing.T) {
			pick := graph.Task[list, item]{Pick: func(context.Context, list) (item, []string, error) { return item{"a"}, []string{"b"}, nil }, To: []string{"b"}}
			l := onThread(t, spoken(t, tasks{"a": pick}, "^ a, b $"))
			l.o.BreakBefore = []string{"b"}
			if _, err := l.call(in); err == nil {
				t.Fatal("no stop")
			}
			l.want("?ab", resume)
		},
		"entrypoint_from_resume_without_a_run": func(t *testing.T) {
			if _, err := onThread(t, spoken(t, nil, "^ a, a $")).call(resume); !errors.Is(err, graph.ErrNothingToDo) {
				t.Errorf("error %v", err)
			}
		},
		"new_input_over_an_interrupted_run": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"b": asking("k")}, "^ b, b $"))
			l.waits(in, "b/k")
			l.waits(in, "b/k")
			l.want("??k:yes", yes("k"))
		},
		"bulk_state_updates": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			s, _, err := l.p.Runner(l.o).Update(t.Context(), edit{Thread: "t", Create: true, Change: adds("x", "y", "z")})
			if err != nil || whole(s) != "xyz" {
				t.Fatal(s, err)
			}
			l.want("xyz?a", in)
		},
		"update_as_node": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b c, c $"))
			l.o.BreakBefore = []string{"b"}
			if _, err := l.call(in); err == nil {
				t.Fatal("no stop")
			}
			if _, _, err := l.p.Runner(l.o).Update(t.Context(), edit{Thread: "t", As: "b", Change: adds("B")}); err != nil {
				t.Fatal(err)
			}
			l.want("?aBc", resume)
		},
		"update_state_keeps_next": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.o.BreakAfter = []string{"a"}
			if _, err := l.call(in); err == nil {
				t.Fatal("no stop")
			}
			if _, _, err := l.p.Runner(l.o).Update(t.Context(), edit{Thread: "t", Change: adds("x")}); err != nil {
				t.Fatal(err)
			}
			l.want("?axb", resume)
		},
		"get_state_history": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.want("?ab", in)
			h, err := l.p.Runner(l.o).History(t.Context(), "t", 0, 10)
			var got []string
			for _, m := range h {
				got = append(got, whole(m.State))
			}
			if err != nil || !slices.Equal(got, []string{"?ab", "?a", "?"}) {
				t.Errorf("%v, %v", got, err)
			}
		},
		"get_state_history_paged": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.want("?ab", in)
			r := l.p.Runner(l.o)
			first, err := r.History(t.Context(), "t", 0, 2)
			if err != nil || len(first) != 2 {
				t.Fatal(first, err)
			}
			rest, err := r.History(t.Context(), "t", first[1].Commit.ID, 2)
			if err != nil || len(rest) != 1 || whole(rest[0].State) != "?" {
				t.Errorf("%v, %v", rest, err)
			}
		},
		"fork_and_replay_from_every_checkpoint": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b c, c $"))
			l.want("?abc", in)
			r := l.p.Runner(l.o)
			h, err := r.History(t.Context(), "t", 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range h[1:] {
				to := fmt.Sprint("fork", i)
				if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: m.Commit.ID}, to); err != nil {
					t.Fatal(err)
				}
				if s, err := r.Invoke(t.Context(), ask{Thread: to, Resume: true}); err != nil || whole(s) != "?abc" {
					t.Errorf("%v, %v", s, err)
				}
			}
			l.want("?abc?abc", in)
		},
		"fork_then_update": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			l.want("?ab", in)
			r := l.p.Runner(l.o)
			h, _ := r.History(t.Context(), "t", 0, 10)
			if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: h[1].Commit.ID}, "u"); err != nil {
				t.Fatal(err)
			}
			if s, err := r.Invoke(t.Context(), ask{Thread: "u", Resume: true, Updates: []item{{"x"}}}); err != nil || whole(s) != "?axb" {
				t.Errorf("%v, %v", s, err)
			}
		},
		"imp_task": func(t *testing.T) {
			done, failed := 0, false
			l := onThread(t, spoken(t, tasks{"a": {Run: func(ctx context.Context, _ list) (item, error) {
				w, err := graph.Once(ctx, "k", func(context.Context, string) (string, error) { done++; return "w", nil })
				if !failed {
					failed = true
					return item{}, errRefused
				}
				return item{w}, err
			}}}, "^ a, a $"))
			if _, err := l.call(in); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			if l.want("?w", resume); done != 1 {
				t.Errorf("done %d times", done)
			}
		},
		"graph_with_single_retry_policy": func(t *testing.T) {
			n := 0
			task := flaky(2, &n)
			task.Retry = graph.Retry{Attempts: 3, First: time.Nanosecond}
			onThread(t, spoken(t, tasks{"a": task}, "^ a, a $")).want("?f", in)
		},
		"graph_with_max_attempts_exceeded": func(t *testing.T) {
			n := 0
			task := flaky(9, &n)
			task.Retry = graph.Retry{Attempts: 3, First: time.Nanosecond}
			if _, err := onThread(t, spoken(t, tasks{"a": task}, "^ a, a $")).call(in); !errors.Is(err, errRefused) || n != 3 {
				t.Errorf("%d attempts, %v", n, err)
			}
		},
		"should_not_retry_on_other_exception": func(t *testing.T) {
			n := 0
			task := flaky(9, &n)
			task.Retry = graph.Retry{Attempts: 3, First: time.Nanosecond, If: func(error) bool { return false }}
			if _, err := onThread(t, spoken(t, tasks{"a": task}, "^ a, a $")).call(in); !errors.Is(err, errRefused) || n != 1 {
				t.Errorf("%d attempts, %v", n, err)
			}
		},
		"node_cache": func(t *testing.T) {
			n := 0
			task := graph.Task[list, item]{Run: counts(&n), Cache: &graph.Cache[list, item]{Key: func(list) string { return "k" }}}
			l := onThread(t, spoken(t, tasks{"a": task}, "^ a, a $"))
			l.want("?c", in)
			if l.want("?c?c", in); n != 1 {
				t.Errorf("ran %d times", n)
			}
		},
		"concurrent_execution_thread_is_busy": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			lease, err := l.o.Store.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "other", TTL: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.call(in); !errors.Is(err, graph.ErrBusy) {
				t.Errorf("error %v", err)
			}
			if err := l.o.Store.Release(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			l.want("?a", in)
		},
		"stream_updates_and_values": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a b, b $"))
			var got []string
			for e, err := range l.p.Runner(l.o).Stream(t.Context(), ask{Thread: "t", Modes: graph.Updates | graph.Values}) {
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range e.Tasks {
					got = append(got, d.Node+string(d.Body)+whole(e.State))
				}
			}
			if !slices.Equal(got, []string{`a{"add":"a"}a`, `b{"add":"b"}ab`}) {
				t.Errorf("%q", got)
			}
		},
		"stream_custom_from_a_node": func(t *testing.T) {
			l := onThread(t, spoken(t, tasks{"a": {Run: func(ctx context.Context, _ list) (item, error) {
				graph.Emit(ctx, "half")
				return item{"a"}, nil
			}}}, "^ a, a $"))
			var got []any
			for e, err := range l.p.Runner(l.o).Stream(t.Context(), ask{Thread: "t", Modes: graph.Customs}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == graph.Custom {
					got = append(got, e.Value)
				}
			}
			if len(got) != 1 || got[0] != "half" {
				t.Errorf("%v", got)
			}
		},
		"delete_nothing_on_prune_without_a_condition": func(t *testing.T) {
			l := onThread(t, spoken(t, nil, "^ a, a $"))
			l.want("?a", in)
			if _, err := l.p.Runner(l.o).Prune(t.Context(), graph.Pruning{Thread: "t"}); err == nil {
				t.Error("no error")
			}
			l.want("?a?a", in)
		},
	} {
		t.Run(name, test)
	}
}
