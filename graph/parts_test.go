package graph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// crowd is a fan-out of four parts that counts the runs of each. The third fails the first time,
// after the others have finished.
type crowd struct {
	mu    sync.Mutex
	ran   map[string]int
	rest  sync.WaitGroup // of the first attempt
	fault func(ctx context.Context) error
}

func newCrowd(fault func(context.Context) error) *crowd {
	c := &crowd{ran: map[string]int{}, fault: fault}
	c.rest.Add(3)
	return c
}

func (c *crowd) work(ctx context.Context, _ list, part string) (item, error) {
	c.mu.Lock()
	c.ran[part]++
	n := c.ran[part]
	c.mu.Unlock()
	graph.Count(ctx, graph.Call{Name: part})
	if part != "c" {
		defer func() {
			if n == 1 {
				c.rest.Done()
			}
		}()
		return item{part}, nil
	}
	if n == 1 {
		c.rest.Wait()
	}
	if err := c.fault(ctx); err != nil {
		return item{}, err
	}
	return item{part}, nil
}

func (c *crowd) runs() []int { return []int{c.ran["a"], c.ran["b"], c.ran["c"], c.ran["d"]} }

func (c *crowd) node() node {
	return graph.FanOut(0, func(list) []string { return []string{"a", "b", "c", "d"} }, c.work, func(_ list, us []item) (item, error) {
		var all string
		for _, u := range us {
			all += u.Add
		}
		return item{all}, nil
	})
}

// failsOnce returns a fault that happens once.
func failsOnce(err error) func(context.Context) error {
	return func(context.Context) error {
		defer func() { err = nil }()
		return err
	}
}

func asking(ctx context.Context) error {
	_, err := graph.Ask[bool](ctx, "sure", "?")
	return err
}

// After a failure, a retry, a question, in the same process or another, only the part that has
// not finished runs again, and the calls of each part are in the log once.
func TestFinishedPartsStayFinished(t *testing.T) {
	for _, tt := range []struct {
		name    string
		fault   func(context.Context) error
		retry   graph.Retry
		resumes bool
		answers map[string]any
		saves   bool
		calls   string
	}{
		{"failure", failsOnce(errFlaky), graph.Retry{}, true, nil, true, "abccd"},
		{"retry", failsOnce(errFlaky), graph.Retry{Attempts: 2, First: 1}, false, nil, true, "abccd"},
		{"retry without a store", failsOnce(errFlaky), graph.Retry{Attempts: 2, First: 1}, false, nil, false, ""},
		{"question", asking, graph.Retry{}, true, map[string]any{"sure": true}, true, "abccd"},
		{"panic", func() func(context.Context) error {
			panics := true
			return func(context.Context) error {
				if panics {
					panics = false
					panic("once")
				}
				return nil
			}
		}(), graph.Retry{}, true, nil, true, "abccd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrowd(tt.fault)
			m := newMemStore()
			p, err := plan(t, tasks{"n": {Run: c.node(), Retry: tt.retry}, "x": {Run: says("x")}}, "^ n, ^ x, n $, x $")
			if err != nil {
				t.Fatal(err)
			}
			o := graph.Options{}
			if tt.saves {
				o.Store = m
			}
			s, err := p.Runner(o).Invoke(t.Context(), ask{Thread: "t"})
			if tt.resumes {
				if err == nil {
					t.Fatal("no failure")
				}
				s, err = p.Runner(o).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: tt.answers})
			}
			if want := []string{"abcd", "x"}; err != nil || !slices.Equal(s.Items, want) {
				t.Fatalf("%v, %v; want %v", s.Items, err, want)
			}
			if got := c.runs(); !slices.Equal(got, []int{1, 1, 2, 1}) {
				t.Errorf("parts ran %v times, want 1, 1, 2, 1", got)
			}
			if !tt.saves {
				return
			}
			var calls []string
			for c, err := range m.Walk(t.Context(), "t", 0) {
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range c.Deltas {
					if d.Path != "" {
						t.Errorf("a part in the log: %+v", d)
					}
					for _, call := range d.Notes.Calls {
						calls = append(calls, call.Name)
					}
				}
			}
			slices.Sort(calls)
			if got := strings.Join(calls, ""); got != tt.calls {
				t.Errorf("calls %s in the log, want %s", got, tt.calls)
			}
			if len(m.threads["t"].pending) != 0 {
				t.Errorf("left behind %v", m.threads["t"].pending)
			}
		})
	}
}

// A process that dies in the middle leaves its finished parts, with their notes.
func TestPartsOfADeadProcess(t *testing.T) {
	m, c := newMemStore(), newCrowd(failsOnce(errFlaky))
	p := build(t, "n", map[string]node{"n": c.node()}, "^ n, n $")
	dead := errors.New("dead")
	m.before = func(op string) error {
		if op == "commit" && len(m.threads["t"].commits) > 0 { // after the input
			return dead
		}
		return nil
	}
	if _, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, dead) {
		t.Fatal(err)
	}
	m.before = nil
	m.threads["t"].held = false
	s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || !slices.Equal(s.Items, []string{"abcd"}) || !slices.Equal(c.runs(), []int{1, 1, 2, 1}) {
		t.Errorf("%v, %v; parts ran %v times", s.Items, err, c.runs())
	}
	if calls := m.threads["t"].commits[1].Deltas[0].Notes.Calls; len(calls) != 4 {
		t.Errorf("calls %v, want one of each part", calls)
	}
}

// Two calls of a FanOut in one node, also with the same parts, do not take each other's results,
// and a part that has changed runs again.
func TestPartsAreTheirOwn(t *testing.T) {
	m, fail, parts := newMemStore(), true, []string{"a", "b"}
	fan := func(mark string) node {
		return graph.FanOut(0, func(list) []string { return parts },
			func(_ context.Context, _ list, part string) (item, error) { return item{part + mark}, nil },
			func(_ list, us []item) (item, error) { return item{us[0].Add + us[1].Add}, nil })
	}
	first, second := fan("1"), fan("2")
	n := func(ctx context.Context, s list) (item, error) {
		u, err := first(ctx, s)
		if err != nil {
			return u, err
		}
		v, err := second(ctx, s)
		if fail {
			err = errFlaky
		}
		return item{u.Add + v.Add}, err
	}
	p := build(t, "n", map[string]node{"n": n}, "^ n, n $")
	if _, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	fail, parts = false, []string{"a", "z"}
	s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || !slices.Equal(s.Items, []string{"a1z1a2z2"}) {
		t.Error(s.Items, err)
	}
}

// An update that Apply refuses takes its parts along: they may be the cause.
func TestRefusedPartsRunAgain(t *testing.T) {
	m, answer := newMemStore(), "bad"
	fan := graph.FanOut(0, func(list) []int { return []int{0} },
		func(context.Context, list, int) (item, error) { return item{answer}, nil },
		func(_ list, us []item) (item, error) { return us[0], nil })
	p := build(t, "n", map[string]node{"n": fan}, "^ n, n $")
	if _, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"}); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	answer = "good"
	s, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil || !slices.Equal(s.Items, []string{"good"}) {
		t.Error(s.Items, err)
	}
}

// Finished parts are saved while others still run, in one write.
func TestPartsAreSavedWhileOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore()
		var saved []graph.TaskResult
		fan := graph.FanOut(0, func(list) []int { return []int{0, 1, 2, 3} }, func(ctx context.Context, _ list, i int) (item, error) {
			if i < 3 {
				return item{"x"}, nil
			}
			err := nap(ctx, time.Second)
			saved, _ = m.Pending(ctx, "t")
			return item{"y"}, err
		}, func(list, []item) (item, error) { return item{"z"}, nil })
		p := build(t, "n", map[string]node{"n": fan}, "^ n, n $")
		if _, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t"}); err != nil {
			t.Fatal(err)
		}
		if len(saved) != 1 || strings.Count(string(saved[0].Delta.Body), `"part":`) != 3 {
			t.Errorf("saved %v, want three parts in one group", saved)
		}
	})
}

// A part continues with its own nodes if its worker is a subgraph: they are saved, retried and asked one
// by one, as what LangGraph's Send starts.
func TestPartsWithNodesOfTheirOwn(t *testing.T) {
	var mu sync.Mutex
	ran := map[string]int{}
	count := func(ctx context.Context, s list) (first bool) {
		mu.Lock()
		defer mu.Unlock()
		key := graph.Info(ctx).Node + s.Items[0]
		ran[key]++
		return ran[key] == 1
	}
	inner, err := plan(t, tasks{
		"fetch": {Run: func(ctx context.Context, s list) (item, error) { count(ctx, s); return item{"f"}, nil }},
		"check": {Retry: graph.Retry{Attempts: 2, First: 1}, Run: func(ctx context.Context, s list) (item, error) {
			if count(ctx, s) && s.Items[0] == "a" {
				return item{}, errFlaky
			}
			if s.Items[0] == "b" {
				return item{"c"}, asking(ctx)
			}
			return item{"c"}, nil
		}},
		"long": {Run: says("l")},
	}, "^ fetch, check $, long $", graph.Branch[list]{From: "fetch", To: []string{"check", "long"}, Route: func(s list) string {
		if s.Items[0] == "c" {
			return "long"
		}
		return "check"
	}})
	if err != nil {
		t.Fatal(err)
	}
	part := graph.Sub(inner, func(w string) item { return item{w} }, func(_ string, end list) item { return item{whole(end)} })
	p := build(t, "fan z", map[string]node{
		"fan": graph.FanOut(0, func(list) []string { return []string{"a", "b", "c"} },
			func(ctx context.Context, _ list, w string) (item, error) { return part.Run(ctx, w) },
			func(_ list, us []item) (item, error) { return item{us[0].Add + us[1].Add + us[2].Add}, nil }),
		"z": says("z"),
	}, "^ fan, fan z, z $")
	s := newMemStore()
	_, err = p.Runner(graph.Options{Store: s}).Invoke(t.Context(), ask{Thread: "t"})
	if got := ids(err); !slices.Equal(got, []string{"fan[1]/check#2/sure"}) {
		t.Fatal(got)
	}
	state, err := p.Runner(graph.Options{Store: s}).Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"sure": true}})
	if want := "afcbfccflz"; err != nil || whole(state) != want {
		t.Errorf("%q, %v, want %q", whole(state), err, want)
	}
	want := map[string]int{"fetcha": 1, "fetchb": 1, "fetchc": 1, "checka": 2, "checkb": 2}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
