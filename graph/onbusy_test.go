package graph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ragflow/graph"
)

// slow compiles a graph of two nodes that take a second each.
func slow(t *testing.T) *graph.Plan[list, item] {
	t.Helper()
	work := func(w string) graph.Task[list, item] {
		return graph.Task[list, item]{Run: func(ctx context.Context, _ list) (item, error) { return item{w}, nap(ctx, time.Second) }}
	}
	p, err := graph.Compile(graph.Graph[list, item]{
		Apply: func(s list, u item) (list, error) {
			if u.Add == "-" { // takes one back
				return list{slices.Clip(s.Items[:len(s.Items)-1])}, nil
			}
			return appendItem(s, u)
		},
		Restore: func(now, then list) ([]item, error) {
			return slices.Repeat([]item{{"-"}}, len(now.Items)-len(then.Items)), nil
		},
		Nodes: tasks{"a": work("a"), "b": work("b")}, Order: []string{"a", "b"}, Edges: chain(graph.Start, "a", "b", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A second input comes after a second and a half: a is done, b under way.
func TestOnBusy(t *testing.T) {
	for _, tt := range []struct {
		policy graph.OnBusy
		wait   time.Duration
		first  error
		second error
		state  string
		log    string
	}{
		{graph.Reject, 0, nil, graph.ErrBusy, "1ab", "input loop loop"},
		{graph.Enqueue, 0, nil, nil, "1ab2ab", "input loop loop input loop loop"},
		{graph.Interrupt, 0, graph.ErrSuperseded, nil, "1a2ab", "input loop close input loop loop"},
		{graph.Rollback, 0, graph.ErrSuperseded, nil, "2ab", "input loop undo input loop loop"},
	} {
		t.Run(fmt.Sprint(tt.policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemStore()
				r := slow(t).Runner(graph.Options{Store: m})
				first := make(chan error)
				go func() {
					_, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "1", Input: item{"1"}, OnBusy: tt.policy})
					first <- err
				}()
				<-time.After(1500 * time.Millisecond)
				_, second := r.Invoke(t.Context(), ask{Thread: "t", Run: "2", Input: item{"2"}, OnBusy: tt.policy})
				if err := <-first; !errors.Is(err, tt.first) || !errors.Is(second, tt.second) {
					t.Errorf("first %v, second %v", err, second)
				}
				s, head, err := r.State(t.Context(), "t")
				if err != nil || whole(s) != tt.state || head.Status != graph.Completed {
					t.Errorf("state %v, %s, %v; want %s", s, head.Status, err, tt.state)
				}
				var sources []string
				for _, c := range history(m) {
					sources = append(sources, string(c.Source))
					if c.Source == graph.SourceUndo && (c.Run != "1" || c.Status != graph.Superseded) {
						t.Errorf("undone by %+v", c)
					}
				}
				if got := strings.Join(sources, " "); got != tt.log {
					t.Errorf("log %s, want %s", got, tt.log)
				}
			})
		})
	}
}

// The runner that is interrupted is another one, as in another process: it finds
// out when it writes.
func TestInterruptElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore()
		first := make(chan error)
		go func() {
			_, err := slow(t).Runner(graph.Options{Store: m, LeaseTTL: time.Hour}).Invoke(t.Context(), ask{Thread: "t", Run: "1", Input: item{"1"}})
			first <- err
		}()
		<-time.After(1500 * time.Millisecond)
		s, err := slow(t).Runner(graph.Options{Store: m, OnBusy: graph.Interrupt}).Invoke(t.Context(), ask{Thread: "t", Run: "2", Input: item{"2"}})
		if err != nil || whole(s) != "1a2ab" {
			t.Errorf("%v, %v", s, err)
		}
		if err := <-first; !errors.Is(err, graph.ErrSuperseded) {
			t.Errorf("first: %v", err)
		}
	})
}

// A run that stopped before, and does not run now, is not rolled back.
func TestRollbackOfNobody(t *testing.T) {
	broken := true
	g := graph.Graph[list, item]{
		Apply: appendItem, Restore: func(list, list) ([]item, error) { return nil, errRefused },
		Nodes: tasks{"a": {Run: func(context.Context, list) (item, error) {
			if broken {
				return item{}, errFlaky
			}
			return item{"a"}, nil
		}}},
		Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
	}
	r := must(g).Runner(graph.Options{Store: newMemStore(), OnBusy: graph.Rollback})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"1"}}); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	broken = false
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"2"}}); err != nil || whole(s) != "12a" {
		t.Errorf("%v, %v", s, err)
	}
	g.Restore = nil
	if _, err := must(g).Runner(graph.Options{OnBusy: graph.Rollback}).Invoke(t.Context(), ask{}); err == nil || err.Error() != "OnBusy is Rollback, but the graph has no Restore" {
		t.Errorf("error %v", err)
	}
}

func TestEnqueueEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := slow(t).Runner(graph.Options{Store: newMemStore(), OnBusy: graph.Enqueue})
		done := make(chan error)
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), []time.Duration{9e9, 9e9, 15e8}[i]) // the third gives up waiting
			defer cancel()
			go func() {
				_, err := r.Invoke(ctx, ask{Thread: "t", Input: item{strconv.Itoa(i)}})
				done <- err
			}()
			synctest.Wait()
		}
		for i, err := range []error{<-done, <-done, <-done} {
			if gaveUp := errors.Is(err, context.DeadlineExceeded) && errors.Is(err, graph.ErrBusy); gaveUp != (i == 0) || !gaveUp && err != nil {
				t.Errorf("end %d: %v", i, err)
			}
		}
		<-time.After(time.Minute)
		if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"last"}}); err != nil {
			t.Errorf("the queue is stuck: %v", err)
		}
	})
}

// crowdSize is how many runs meet on one thread; 1,000 if RAGFLOW_FULL is set.
func crowdSize() int {
	if os.Getenv("RAGFLOW_FULL") != "" {
		return 1000
	}
	return 100
}

// Many runs on one thread: every input that was told as begun is in the log, and
// no other; every run has one end; the state is what its inputs make.
func TestCrowd(t *testing.T) {
	for _, policy := range []graph.OnBusy{graph.Reject, graph.Enqueue, graph.Interrupt, graph.Rollback} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			m := newMemStore()
			p := must(graph.Graph[list, item]{
				Apply: func(s list, u item) (list, error) {
					if u.Add == "-" {
						return list{slices.Clip(s.Items[:len(s.Items)-1])}, nil
					}
					return appendItem(s, u)
				},
				Restore: func(now, then list) ([]item, error) {
					return slices.Repeat([]item{{"-"}}, len(now.Items)-len(then.Items)), nil
				},
				Nodes: tasks{"a": {Run: says("a")}, "b": {Run: says("b")}}, Order: []string{"a", "b"}, Edges: chain(graph.Start, "a", "b", graph.End),
			})
			r := p.Runner(graph.Options{Store: m, OnBusy: policy})
			var mu sync.Mutex
			began, ended, refused := map[string]bool{}, map[graph.Status]int{}, 0
			var runs sync.WaitGroup
			for i := range crowdSize() {
				runs.Go(func() {
					id := fmt.Sprint("r", i)
					for e, err := range r.Run(t.Context(), ask{Thread: "t", Run: id, Input: item{id}}) {
						mu.Lock()
						switch {
						case err != nil && !began[id]:
							refused++
							if !errors.Is(err, graph.ErrBusy) && !errors.Is(err, graph.ErrSuperseded) && !errors.Is(err, graph.ErrConflict) {
								t.Errorf("run %s: %v", id, err)
							}
						case err == nil && e.Kind == graph.RunStarted:
							began[id] = true
						case err == nil && e.Kind == graph.RunEnded:
							ended[e.Status]++
						}
						mu.Unlock()
					}
				})
			}
			runs.Wait()
			inputs, undone, completed := 0, 0, 0
			for _, c := range history(m) {
				if c.Source == graph.SourceInput {
					inputs++
					if !began[c.Run] {
						t.Errorf("the input of run %s is in the log, but was not told", c.Run)
					}
				}
				if c.Source == graph.SourceUndo {
					undone++
				}
				if c.Status == graph.Completed {
					completed++
				}
			}
			if inputs != len(began) || inputs+refused != crowdSize() || completed != ended[graph.Completed] || completed == 0 {
				t.Errorf("%d inputs, %d began, %d refused, %d completed; told ends %v", inputs, len(began), refused, completed, ended)
			}
			if policy == graph.Enqueue && (completed != crowdSize() || refused != 0) {
				t.Errorf("%d of %d completed", completed, crowdSize())
			}
			s, _, err := p.Runner(graph.Options{Store: m}).State(t.Context(), "t")
			got := 0
			for _, w := range s.Items {
				if strings.HasPrefix(w, "r") {
					got++
				}
			}
			if err != nil || got != inputs-undone || policy == graph.Rollback && len(s.Items) != 3*completed {
				t.Errorf("%d inputs in the state, %v; want %d - %d", got, err, inputs, undone)
			}
		})
	}
}
