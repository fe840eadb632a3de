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

	"example.com/ragflow/graph"
)

var errFlaky = errors.New("flaky")

// failing is a node that fails n times, then says a.
func failing(n int, ran *int) node {
	return func(context.Context, list) (item, error) {
		if *ran++; *ran <= n {
			return item{}, errFlaky
		}
		return item{"a"}, nil
	}
}

func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		retry  graph.Retry
		fails  int
		ran    int
		pauses []time.Duration
		ok     bool
	}{
		{"none asked for", graph.Retry{}, 1, 1, nil, false},
		{"not needed", graph.Retry{Attempts: 3}, 0, 1, nil, true},
		{"enough", graph.Retry{Attempts: 3}, 2, 3, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}, true},
		{"too few", graph.Retry{Attempts: 3}, 3, 3, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}, false},
		{
			"longest",
			graph.Retry{Attempts: 5, First: time.Second, Longest: 2 * time.Second},
			4, 5,
			[]time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 1500 * time.Millisecond, 1500 * time.Millisecond},
			true,
		},
		{"not worth it", graph.Retry{Attempts: 3, If: func(err error) bool { return !errors.Is(err, errFlaky) }}, 1, 1, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran, m := 0, newMemStore()
				p, err := plan(t, tasks{"a": {Run: failing(tt.fails, &ran), Retry: tt.retry}}, "^ a, a $")
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Runner(graph.Options{Store: m, Rand: func() float64 { return 0.5 }}).Invoke(t.Context(), ask{Thread: "t"})
				if ran != tt.ran || (err == nil) != tt.ok || err != nil && !errors.Is(err, errFlaky) {
					t.Errorf("ran %d times, %v; want %d, success %v", ran, err, tt.ran, tt.ok)
				}
				var pauses []time.Duration
				for _, a := range history(m)[1].Deltas[0].Notes.Failed {
					if a.Error != errFlaky.Error() {
						t.Errorf("noted %q", a.Error)
					}
					pauses = append(pauses, a.Pause)
				}
				if diff := cmp.Diff(tt.pauses, pauses); diff != "" {
					t.Errorf("pauses noted in the log (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRetryStopsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		p, err := plan(t, tasks{"a": {Run: failing(9, &ran), Retry: graph.Retry{Attempts: 9, First: time.Hour, Longest: time.Hour}}}, "^ a, a $")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := p.Runner(graph.Options{}).Invoke(ctx, ask{}); !errors.Is(err, context.DeadlineExceeded) || ran != 1 {
			t.Errorf("%v after %d runs", err, ran)
		}
	})
}

// faulty is an error with a method that panics.
type faulty struct{ method string }

func (e *faulty) call(method string) {
	if e.method == method {
		panic(method + " panics")
	}
}
func (e *faulty) Error() string { e.call("Error"); return "faulty" }
func (e *faulty) Unwrap() error { e.call("Unwrap"); return nil }
func (e *faulty) Is(error) bool { e.call("Is"); return false }
func (e *faulty) As(any) bool   { e.call("As"); return false }

// An error whose method panics is a panic of the node, beside a sibling and in a FanOut.
func TestPanicsOfErrors(t *testing.T) {
	for _, method := range []string{"Error", "Unwrap", "Is", "As"} {
		t.Run(method, func(t *testing.T) {
			err := &faulty{method}
			work := func(context.Context, list, int) (item, error) { return item{}, err }
			fan := graph.FanOut(0, func(list) []int { return make([]int, 3) }, work, func(list, []item) (item, error) { return item{}, nil })
			for _, n := range []node{fails(err), fan} {
				p, err := plan(t, tasks{"a": {Run: n}, "b": {Run: says("b")}}, "^ a, ^ b, a $, b $")
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Runner(graph.Options{Store: newMemStore()}).Invoke(t.Context(), ask{Thread: "t"})
				if panicked, ok := errors.AsType[*graph.PanicError](err); !ok || panicked.Value != method+" panics" {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestPanicsAreNotRetried(t *testing.T) {
	ran := 0
	p, err := plan(t, tasks{"a": {Run: func(context.Context, list) (item, error) { ran++; panic("boom") }, Retry: graph.Retry{Attempts: 3}}}, "^ a, a $")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Runner(graph.Options{}).Invoke(t.Context(), ask{})
	if _, ok := errors.AsType[*graph.PanicError](err); !ok || ran != 1 {
		t.Errorf("%v after %d runs", err, ran)
	}
}

func TestRetriesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		p, err := plan(t, tasks{"a": {Run: failing(1, &ran), Retry: graph.Retry{Attempts: 2}}}, "^ a, a $")
		if err != nil {
			t.Fatal(err)
		}
		var kinds []graph.EventKind
		for e, err := range p.Runner(graph.Options{}).Stream(t.Context(), ask{}) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, e.Kind)
			if e.Kind == graph.TaskRetried && (e.Node != "a" || e.Tasks[0].Error != "flaky") {
				t.Errorf("told %+v", e)
			}
		}
		want := []graph.EventKind{graph.RunStarted, graph.TaskStarted, graph.TaskRetried, graph.TaskDone, graph.StepDone, graph.RunEnded}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestTimeout(t *testing.T) {
	works := func(n int) node {
		return func(ctx context.Context, _ list) (item, error) {
			return item{"a"}, nap(ctx, time.Duration(n)*time.Second)
		}
	}
	run := 2500 * time.Millisecond
	for _, tt := range []struct {
		name    string
		node    node
		timeout time.Duration
		want    string
	}{
		{"in time", works(2), run, ""},
		{"too long", works(3), run, `node "a", step 1: took longer than 2.5s: `},
		{"deaf, but done", func(context.Context, list) (item, error) { <-time.After(3 * time.Second); return item{"a"}, nil }, run, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := plan(t, tasks{"a": {Run: tt.node, Timeout: tt.timeout}}, "^ a, a $")
				if err != nil {
					t.Fatal(err)
				}
				_, err = p.Runner(graph.Options{}).Invoke(t.Context(), ask{})
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				if late, ok := errors.AsType[*graph.TimeoutError](err); tt.want != "" && (!ok || !errors.Is(late, context.DeadlineExceeded)) {
					t.Errorf("error %v is no TimeoutError", err)
				}
			})
		})
	}
}

// Each attempt has the whole time.
func TestTimeoutIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		slow := func(ctx context.Context, _ list) (item, error) {
			if ran++; ran == 1 {
				return item{}, nap(ctx, time.Hour)
			}
			return item{"a"}, nap(ctx, 900*time.Millisecond)
		}
		p, err := plan(t, tasks{"a": {Run: slow, Timeout: time.Second, Retry: graph.Retry{Attempts: 2}}}, "^ a, a $")
		if err != nil {
			t.Fatal(err)
		}
		if s, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{}); err != nil || ran != 2 || len(s.Items) != 1 {
			t.Errorf("%v, %v after %d runs", s, err, ran)
		}
	})
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := map[string]int{}
		cache := &graph.Cache[list, item]{
			Key: func(s list) string { return strings.Trim(s.Items[0], "-") }, TTL: time.Minute, Size: 2,
		}
		p, err := plan(t, tasks{"a": {Cache: cache, Run: func(_ context.Context, s list) (item, error) {
			ran[s.Items[0]]++
			return item{s.Items[0] + "!"}, nil
		}}}, "^ a, a $")
		if err != nil {
			t.Fatal(err)
		}
		m := newMemStore()
		call := func(word string, hit bool) {
			t.Helper()
			thread := fmt.Sprint(word, len(m.threads), time.Now().UnixNano())
			s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: thread, Input: item{word}})
			if err != nil || s.Items[1] != word+"!" {
				t.Errorf("%s: %v, %v", word, s.Items, err)
			}
			if got := m.threads[thread].commits[1].Deltas[0].Notes.Cached; got != hit {
				t.Errorf("%s: hit noted %v, want %v", word, got, hit)
			}
		}
		call("x", false)
		call("x", true)
		<-time.After(59 * time.Second)
		call("x", true)
		<-time.After(2 * time.Second)
		call("x", false)
		call("y", false)
		call("x", true)
		call("z", false) // drops y, the least recently used
		call("x", true)
		call("y", false)
		call("-", false) // no key
		call("-", false)
		if want := map[string]int{"x": 2, "y": 2, "z": 1, "-": 2}; !cmp.Equal(ran, want) {
			t.Errorf("ran %v, want %v", ran, want)
		}
		if cache.Len() != 2 {
			t.Errorf("keeps %d, want 2", cache.Len())
		}
		cache.Clear()
		call("x", false)
	})
}

func TestFailuresAreNotCached(t *testing.T) {
	ran := 0
	p, err := plan(t, tasks{"a": {
		Run: failing(1, &ran), Cache: &graph.Cache[list, item]{Key: func(list) string { return "k" }},
		OnError: graph.OnError[list, item]{Update: sorry},
	}}, "^ a, a $")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"!flaky", "a", "a"} {
		if s, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{}); err != nil || s.Items[0] != want {
			t.Errorf("%v, %v; want %s", s, err, want)
		}
	}
	if ran != 2 {
		t.Errorf("ran %d times, want 2", ran)
	}
}

func TestOnError(t *testing.T) {
	for _, tt := range []struct{ name, to, want, next string }{
		{"goes on where it would", "", "!flaky b", "b"},
		{"goes on elsewhere", "h", "!flaky h", "h"},
		{"ends the run", graph.End, "!flaky", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran, m := 0, newMemStore()
			nodes := words("bh")
			nodes["a"] = graph.Task[list, item]{Run: failing(9, &ran), OnError: graph.OnError[list, item]{Update: sorry, To: tt.to}}
			if tt.to == "" || tt.to == graph.End {
				delete(nodes, "h")
			}
			edges := "^ a, a b, b $"
			if nodes["h"].Run != nil {
				edges += ", h $"
			}
			p, err := plan(t, nodes, edges)
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"})
			if got := strings.Join(s.Items, " "); err != nil || got != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
			c := history(m)[1]
			if got := strings.Join(c.Frontier, ""); got != tt.next || c.Deltas[0].Notes.Caught != "flaky" || c.Deltas[0].Error != "" {
				t.Errorf("saved %+v", c)
			}
		})
	}
}

// The siblings of a failure that is handled go on, and a crash after it resumes
// at the handler.
func TestOnErrorSurvives(t *testing.T) {
	ran, broken, m := 0, true, newMemStore()
	nodes := words("bch")
	nodes["a"] = graph.Task[list, item]{Run: failing(9, &ran), OnError: graph.OnError[list, item]{Update: sorry, To: "h"}}
	nodes["c"] = graph.Task[list, item]{Run: func(context.Context, list) (item, error) {
		if broken {
			return item{}, errRefused
		}
		return item{"c"}, nil
	}}
	p, err := plan(t, nodes, "^ a, ^ c, a b, b $, h $, c $")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: m, Parallel: 1})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	broken = false
	s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || !slices.Equal(s.Items, []string{"!flaky", "c", "h"}) || ran != 1 {
		t.Errorf("%v, %v; a ran %d times", s.Items, err, ran)
	}
}

func TestOnErrorTellsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		var got graph.Failure
		p, err := plan(t, tasks{"a": {
			Run: failing(9, &ran), Retry: graph.Retry{Attempts: 3},
			OnError: graph.OnError[list, item]{Update: func(_ list, f graph.Failure) item { got = f; return item{} }},
		}}, "^ a, a $")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{}); err != nil || got.Node != "a" || got.Attempts != 3 || !errors.Is(got.Err, errFlaky) {
			t.Errorf("%v, handled %+v", err, got)
		}
	})
}
