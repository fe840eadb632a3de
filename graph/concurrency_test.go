package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// nap waits, on the clock of a synctest bubble. It makes no timer for no time:
// under the race detector, Go 1.26.8 was seen to crash when a select in a bubble met
// a channel timer that is due already (runtime.(*timer).maybeRunChan).
func nap(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// timeless drops what a schedule may change: how long things took.
func timeless(h []graph.Commit) []graph.Commit {
	for i := range h {
		h[i].Time = time.Time{}
		h[i].Deltas = slices.Clone(h[i].Deltas)
		for k := range h[i].Deltas {
			h[i].Deltas[k].Notes.Start, h[i].Deltas[k].Notes.Duration = time.Time{}, 0
		}
	}
	return h
}

// schedule runs a plan once with naps drawn from rng and returns its trace.
func schedule(t *testing.T, p *graph.Plan[list, item]) []graph.Commit {
	t.Helper()
	m := newMemStore()
	r := p.Runner(graph.Options{Store: m, Parallel: 16})
	live, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r", Input: item{"?"}})
	if err != nil {
		t.Fatal(err)
	}
	back, _, err := r.State(t.Context(), "t")
	if err != nil || !reflect.DeepEqual(live, back) {
		t.Fatalf("live %v, reloaded %v, %v", live, back, err)
	}
	return timeless(history(m))
}

func TestAnyScheduleGivesOneTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	naps := make([]time.Duration, 16)
	work := func(ctx context.Context, i int) (item, error) {
		graph.Note(ctx, "began", strconv.Itoa(i))
		if err := nap(ctx, naps[i]); err != nil {
			return item{}, err
		}
		graph.Note(ctx, "ended", strconv.Itoa(i))
		graph.Count(ctx, graph.Call{Name: strconv.Itoa(i)})
		return item{fmt.Sprint(i, " ")}, nil
	}
	fan := graph.FanOut(16,
		func(list) []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} },
		func(ctx context.Context, _ list, i int) (item, error) { return work(ctx, i) },
		func(_ list, us []item) (item, error) {
			var all strings.Builder
			for _, u := range us {
				all.WriteString(u.Add)
			}
			return item{all.String()}, nil
		})
	nodes, order, edges := map[string]node{}, []string{}, []string{}
	for i := range 16 {
		name := fmt.Sprintf("n%02d", i)
		nodes[name] = func(ctx context.Context, _ list) (item, error) { return work(ctx, i) }
		order = append(order, name)
		edges = append(edges, "^ "+name, name+" $")
	}
	for _, tt := range []struct {
		name      string
		plan      *graph.Plan[list, item]
		schedules int
	}{
		{"fan-out", build(t, "a", map[string]node{"a": fan}, "^ a, a $"), 10_000},
		{"superstep", build(t, strings.Join(order, " "), nodes, strings.Join(edges, ",")), 2_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []graph.Commit
			n := tt.schedules
			switch {
			case testing.Short():
				n /= 50
			case os.Getenv("RAGFLOW_FULL") == "":
				n /= 5
			}
			synctest.Test(t, func(t *testing.T) {
				for range n {
					for i := range naps {
						naps[i] = time.Duration(rng.IntN(8)) * time.Millisecond // with ties
					}
					got := schedule(t, tt.plan)
					if want == nil {
						want = got
					}
					if !reflect.DeepEqual(want, got) {
						t.Fatalf("naps %v give another trace (-want +got):\n%s", naps, cmp.Diff(want, got))
					}
				}
			})
		})
	}
}

func TestFirstCauseInTime(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	after := func(d time.Duration, err error) node {
		return func(ctx context.Context, _ list) (item, error) {
			if cause := nap(ctx, d); cause != nil {
				return item{}, cause
			}
			return item{}, err
		}
	}
	fan := graph.FanOut(0,
		func(list) []node {
			return []node{after(3*time.Second, late), after(time.Second, early), after(2*time.Second, late)}
		},
		func(ctx context.Context, s list, n node) (item, error) { return n(ctx, s) },
		func(list, []item) (item, error) { return item{}, nil })
	for _, tt := range []struct {
		name, node string
		plan       *graph.Plan[list, item]
	}{
		{"superstep", "c", three(t, map[string]node{"b": after(2*time.Second, late), "c": after(time.Second, early)})},
		{"fan-out", "a", three(t, map[string]node{"a": fan})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := tt.plan.Runner(graph.Options{Parallel: 4}).Invoke(t.Context(), ask{})
				ne, ok := errors.AsType[*graph.NodeError](err)
				if !ok || ne.Node != tt.node || !errors.Is(err, early) || errors.Is(err, late) {
					t.Errorf("error %v, want the early one of node %s", err, tt.node)
				}
				if took := time.Since(began); took != time.Second {
					t.Errorf("took %v: the others were not cancelled", took)
				}
			})
		})
	}
}

func TestFanOutLimit(t *testing.T) {
	for limit, want := range map[int]time.Duration{-1: time.Second, 0: time.Second, 1: 10 * time.Second, 4: 3 * time.Second, 99: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			n := graph.FanOut(limit,
				func(list) []int { return make([]int, 10) },
				func(ctx context.Context, _ list, _ int) (item, error) { return item{}, nap(ctx, time.Second) },
				func(_ list, us []item) (item, error) { return item{strconv.Itoa(len(us))}, nil })
			u, err := n(t.Context(), list{})
			if took := time.Since(began); err != nil || u.Add != "10" || took != want {
				t.Errorf("limit %d: %v, %v after %v, want 10 after %v", limit, u, err, took, want)
			}
		})
	}
}

func TestFanOutOfNothing(t *testing.T) {
	n := graph.FanOut(0, func(list) []int { return nil },
		func(context.Context, list, int) (item, error) { return item{}, errors.New("a worker ran") },
		func(_ list, us []item) (item, error) { return item{strconv.FormatBool(us == nil)}, nil })
	if u, err := n(t.Context(), list{}); err != nil || u.Add != "true" {
		t.Errorf("got %v, %v", u, err)
	}
}

func TestFanOutNotesAndEvents(t *testing.T) {
	broken := false
	n := graph.FanOut(0, func(list) []int { return []int{0, 1, 2} },
		func(ctx context.Context, _ list, i int) (item, error) {
			graph.Note(ctx, "part", strconv.Itoa(i))
			graph.Emit(ctx, i)
			switch {
			case i == 1 && broken:
				return item{}, errors.New("boom")
			case i == 1:
				graph.Skip(ctx, "no need")
			case i == 2:
				graph.Warn(ctx, "careful")
			}
			return item{}, nil
		},
		func(list, []item) (item, error) { return item{}, nil })
	if _, err := n(t.Context(), list{}); err != nil {
		t.Errorf("outside a run: %v", err)
	}
	r := build(t, "a", map[string]node{"a": n}, "^ a, a $").Runner(graph.Options{})
	var notes graph.Notes
	var emitted []any
	run := func() (last error) {
		for e, err := range r.Stream(t.Context(), ask{}) {
			switch {
			case err != nil:
				last = err
			case e.Kind == graph.Custom:
				emitted = append(emitted, e.Value)
			case len(e.Tasks) > 0:
				notes = e.Tasks[0].Notes
			}
		}
		return last
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	want := []graph.Detail{{Key: "part", Value: "0"}, {Key: "part", Value: "1"}, {Key: "skipped", Value: "no need"}, {Key: "part", Value: "2"}}
	if diff := cmp.Diff(want, notes.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if len(emitted) != 3 || !cmp.Equal(notes.Warnings, []string{"careful"}) {
		t.Errorf("emitted %v, warnings %v", emitted, notes.Warnings)
	}
	broken = true
	if err := run(); err == nil || !slices.Contains(notes.Details, graph.Detail{Key: "part", Value: "1"}) {
		t.Errorf("failed attempt: %v, details %v; want its notes", err, notes.Details)
	}
}

func TestCancellation(t *testing.T) {
	mine := errors.New("the user pressed a key")
	wait := func(ctx context.Context, _ list) (item, error) { return item{}, nap(ctx, time.Hour) }
	for _, tt := range []struct {
		name  string
		nodes map[string]node
	}{
		{"inline", map[string]node{"a": wait}},
		{"side by side", map[string]node{"b": wait, "c": wait}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemStore()
				r := three(t, tt.nodes).Runner(graph.Options{Store: m})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(mine) })
				_, err := r.Invoke(ctx, ask{Thread: "t", Input: item{"?"}})
				if !errors.Is(err, context.Canceled) || !errors.Is(err, mine) {
					t.Errorf("error %v, want context.Canceled and its cause", err)
				}
				if _, head, _ := r.State(t.Context(), "t"); head.Status != graph.Cancelled || len(head.Frontier) == 0 {
					t.Errorf("head is %s with frontier %v, want cancelled and resumable", head.Status, head.Frontier)
				}
			})
		})
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := three(t, map[string]node{"b": func(ctx context.Context, _ list) (item, error) { return item{}, nap(ctx, time.Hour) }}).Runner(graph.Options{})
		if _, err := r.Invoke(ctx, ask{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want context.DeadlineExceeded", err)
		}
	})
}

// Every place where a consumer may leave: the run is closed, the thread is
// free, no goroutine is left and the run can be resumed.
func TestBreakAnywhere(t *testing.T) {
	p := three(t, map[string]node{"b": func(ctx context.Context, _ list) (item, error) {
		graph.Emit(ctx, 1)
		graph.Emit(ctx, 2)
		return item{"b"}, nil
	}})
	for at := 1; ; at++ {
		m := newMemStore()
		r := p.Runner(graph.Options{Store: m})
		before := runtime.NumGoroutine()
		seen := 0
		var last graph.Event[list]
		for e, err := range r.Stream(t.Context(), ask{Thread: "t", Input: item{"?"}}) {
			if err != nil {
				t.Fatal(err)
			}
			last = e
			if seen++; seen == at {
				break
			}
		}
		for runtime.NumGoroutine() > before { // those that have signalled their end may still be unwinding
			runtime.Gosched()
		}
		if seen < at {
			if want := 15; seen != want {
				t.Errorf("saw %d events, want %d", seen, want)
			}
			return
		}
		state, head, err := r.State(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case head.Status == graph.Completed && (last.Node == "d" || last.Status == graph.Completed):
			// the last task was done in spite of it, so the run is too
		case head.Status == graph.Cancelled:
			state, err = r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
		default:
			t.Errorf("break at event %d (%s): head is %s, want cancelled", at, last.Kind, head.Status)
		}
		if err != nil || strings.Join(state.Items, "") != "?abcd" {
			t.Errorf("break at event %d: resumed to %v, %v", at, state.Items, err)
		}
	}
}

func TestConsumerPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine stays
		m := newMemStore()
		r := three(t, map[string]node{"b": func(ctx context.Context, _ list) (item, error) {
			for range 1000 {
				graph.Emit(ctx, "x")
			}
			return item{}, nil
		}}).Runner(graph.Options{Store: m})
		func() {
			defer func() {
				if v := recover(); v != "consumer" {
					t.Errorf("recovered %v", v)
				}
			}()
			for e, err := range r.Stream(t.Context(), ask{Thread: "t"}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == graph.Custom {
					panic("consumer")
				}
			}
		}()
		if m.threads["t"].held {
			t.Error("the lease was not released")
		}
	})
}

func TestNodeThatEndsItsGoroutine(t *testing.T) {
	p := three(t, map[string]node{"b": func(context.Context, list) (item, error) { runtime.Goexit(); return item{}, nil }})
	_, err := p.Runner(graph.Options{Parallel: 1}).Invoke(t.Context(), ask{})
	if ne, ok := errors.AsType[*graph.NodeError](err); !ok || ne.Node != "b" {
		t.Errorf("error %v, want one of node b", err)
	}
}

// A stalled consumer makes the node wait: what it may run ahead is bounded.
func TestStalledConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, got := 0, 0
		p := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
			for sent < 10_000 {
				graph.Emit(ctx, sent)
				sent++
			}
			return item{}, nil
		}}, "^ a, a $")
		for e, err := range p.Runner(graph.Options{}).Stream(t.Context(), ask{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != graph.Custom {
				continue
			}
			if e.Value != got {
				t.Fatalf("event %v, want %d: dropped or out of order", e.Value, got)
			}
			if got++; got == 10 {
				synctest.Wait() // the node sends all it can
				if sent > got+100 {
					t.Errorf("node is at %d while the consumer has seen %d", sent, got)
				}
			}
		}
		if got != 10_000 {
			t.Errorf("saw %d events, want all 10000", got)
		}
	})
}

func TestLeaseIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, renewed := newMemStore(), 0
		m.before = func(op string) error {
			if op != "renew" {
				return nil
			}
			if renewed++; renewed%3 == 0 { // a store out of reach for a moment
				return errors.New("no answer")
			}
			return nil
		}
		r := three(t, map[string]node{"a": func(ctx context.Context, _ list) (item, error) { return item{}, nap(ctx, time.Minute) }}).
			Runner(graph.Options{Store: m, LeaseTTL: 15 * time.Second})
		if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); err != nil {
			t.Fatal(err)
		}
		if renewed < 11 || renewed > 12 {
			t.Errorf("renewed %d times in a minute, want every 5 s", renewed)
		}
	})
}

func TestLostLease(t *testing.T) {
	for _, slow := range []string{"a", "b"} { // inline and on a worker
		t.Run(slow, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemStore()
				p := three(t, map[string]node{slow: func(ctx context.Context, _ list) (item, error) {
					m.steal("t")
					return item{"late"}, nap(ctx, time.Hour)
				}})
				r := p.Runner(graph.Options{Store: m, Parallel: 1})
				before := 0
				var last graph.Event[list]
				var failure error
				for e, err := range r.Run(t.Context(), ask{Thread: "t", Input: item{"?"}}) {
					if failure = err; err == nil {
						last = e
					}
					if e.Kind == graph.StepDone || e.Kind == graph.RunStarted {
						before = len(history(m))
					}
				}
				if !errors.Is(failure, graph.ErrSuperseded) || last.Kind != graph.RunEnded || last.Status != graph.Superseded {
					t.Errorf("ended with %s %s and %v, want superseded", last.Kind, last.Status, failure)
				}
				if got := len(history(m)); got != before {
					t.Errorf("wrote %d commits after losing the lease", got-before)
				}
			})
		})
	}
}

// lockedStore is a store whose file another process locks until a time: every write waits.
type lockedStore struct {
	*memStore
	until atomic.Pointer[time.Time]
}

func (s *lockedStore) wait(ctx context.Context) error {
	if until := s.until.Load(); until != nil {
		return nap(ctx, time.Until(*until))
	}
	return nil
}

func (s *lockedStore) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.memStore.Renew(ctx, l, ttl)
}

func (s *lockedStore) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	if err := s.wait(ctx); err != nil {
		return 0, err
	}
	return s.memStore.Commit(ctx, l, b)
}

func (s *lockedStore) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.memStore.Pend(ctx, l, r)
}

// A run outlives a lock that another process holds for longer than the lease lasts, in its nodes
// and in its writes, because nobody can take the thread over meanwhile.
func TestStoreIsLocked(t *testing.T) {
	for _, held := range []time.Duration{20 * time.Second, 90 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			m := &lockedStore{memStore: newMemStore()}
			slow := func(ctx context.Context, _ list) (item, error) {
				until := time.Now().Add(held)
				m.until.Store(&until)
				return item{"x"}, nap(ctx, held/2)
			}
			r := build(t, "a", map[string]node{"a": slow}, "^ a, a $").Runner(graph.Options{Store: m, LeaseTTL: 15 * time.Second})
			if s, err := r.Invoke(t.Context(), ask{Thread: "t"}); err != nil || len(s.Items) != 1 {
				t.Errorf("locked for %v: %v, %v", held, s, err)
			}
		})
	}
}

func TestOneRunnerServesManyThreads(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
	results := make(chan error)
	for i := range 50 {
		go func() {
			s, err := r.Invoke(t.Context(), ask{Thread: strconv.Itoa(i), Input: item{strconv.Itoa(i)}})
			if want := fmt.Sprint(i, "abcd"); err == nil && strings.Join(s.Items, "") != want {
				err = fmt.Errorf("state %v, want %s", s.Items, want)
			}
			results <- err
		}()
	}
	for range 50 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
