package graph_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// record has a field of each kind that JSON may change.
type record struct {
	Text  string         `json:"text,omitempty"`
	List  []int          `json:"list,omitempty"`
	Map   map[string]int `json:"map,omitempty"`
	When  time.Time      `json:"when,omitzero"`
	Empty bool           `json:"empty,omitempty"` // Apply saw an empty list that is not nil
}

// TestLiveStateIsReloadedState runs a graph whose updates JSON would change: the
// state that a run returns is the one that another runner reads from the store.
func TestLiveStateIsReloadedState(t *testing.T) {
	zone := time.FixedZone("elsewhere", 2*3600)
	for name, u := range map[string]record{
		"plain":        {Text: "x", List: []int{1}, Map: map[string]int{"a": 1}},
		"empty list":   {List: []int{}},
		"empty map":    {Map: map[string]int{}},
		"not UTF-8":    {Text: "a\xffb", Map: map[string]int{"\xfe": 1}},
		"zone":         {When: time.Date(2026, 11, 23, 8, 0, 0, 0, zone)},
		"clock":        {When: time.Now()},
		"big snapshot": {Text: string(make([]byte, 20<<10)), List: []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := graph.Compile(graph.Graph[record, record]{
				Apply: func(_, u record) (record, error) {
					u.Empty = u.List != nil && len(u.List) == 0
					return u, nil
				},
				Nodes: map[string]graph.Task[record, record]{"a": {Run: func(context.Context, record) (record, error) { return u, nil }}},
				Edges: chain(graph.Start, "a", graph.End),
			})
			if err != nil {
				t.Fatal(err)
			}
			store := memstore.New()
			live, err := p.Runner(graph.Options{Store: store}).Invoke(t.Context(), graph.Request[record]{Thread: "t", Input: u})
			if err != nil {
				t.Fatal(err)
			}
			reloaded, _, err := p.Runner(graph.Options{Store: store}).State(t.Context(), "t")
			if err != nil || !reflect.DeepEqual(live, reloaded) {
				t.Errorf("live %#v, reloaded %#v, %v", live, reloaded, err)
			}
		})
	}
}

// TestSnapshotIsLiveState keeps an empty list in the state only: the snapshot
// loses it, so the live state loses it too.
func TestSnapshotIsLiveState(t *testing.T) {
	p, err := graph.Compile(graph.Graph[record, string]{
		Apply: func(s record, u string) (record, error) { return record{Text: s.Text + u, List: []int{}}, nil },
		Nodes: map[string]graph.Task[record, string]{"a": {Run: func(context.Context, record) (string, error) {
			return string(make([]byte, 20<<10)), nil
		}}},
		Edges: chain(graph.Start, "a", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	live, err := p.Runner(graph.Options{Store: store}).Invoke(t.Context(), graph.Request[string]{Thread: "t"})
	if err != nil {
		t.Fatal(err)
	}
	reloaded, _, err := p.Runner(graph.Options{Store: store}).State(t.Context(), "t")
	if err != nil || !reflect.DeepEqual(live, reloaded) {
		t.Errorf("live list %#v, reloaded %#v, %v", live.List, reloaded.List, err)
	}
}

// TestBreakBeforeAfterOtherStop stops a run by a drain, a pause or an edit right
// before a node with a breakpoint: the resume must stop at the breakpoint.
func TestBreakBeforeAfterOtherStop(t *testing.T) {
	for _, stop := range []string{"drain", "pause", "break after", "edit"} {
		t.Run(stop, func(t *testing.T) {
			paid := false
			ended := make(chan struct{})
			p := three(t, map[string]node{
				"a": func(context.Context, list) (item, error) {
					if stop == "drain" || stop == "pause" {
						close(ended)
					}
					return item{"a"}, nil
				},
				"b": func(context.Context, list) (item, error) { paid = true; return item{"b"}, nil },
			})
			o := graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}}
			first, req := o, ask{Thread: "t"}
			switch stop {
			case "drain":
				first.Drain = ended
			case "pause":
				req.Pause = ended
			case "break after":
				first.BreakAfter = []string{"a"}
			case "edit":
				first.BreakBefore = []string{"a"}
			}
			r := p.Runner(first)
			if _, err := r.Invoke(t.Context(), req); err == nil {
				t.Fatal("the run did not stop")
			}
			r = p.Runner(o)
			if stop == "edit" {
				_, _, err := r.Update(t.Context(), graph.Edit[list, item]{
					Thread: "t", As: "a",
					Change: func(context.Context, list, graph.Commit) ([]item, error) { return []item{{"x"}}, nil },
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
			if e, ok := errors.AsType[*graph.InterruptError](err); !ok || len(e.Before) == 0 || paid {
				t.Errorf("resume: %v, node ran = %v; want a stop before it", err, paid)
			}
			if _, err = r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || !paid {
				t.Errorf("second resume: %v, node ran = %v", err, paid)
			}
		})
	}
}

// TestInterruptIsOnTheLastEvent: the last event says what an interrupted run waits for.
func TestInterruptIsOnTheLastEvent(t *testing.T) {
	r := three(t, map[string]node{}).Runner(graph.Options{Store: memstore.New(), BreakBefore: []string{"b"}})
	var last graph.Event[list]
	for e, err := range r.Run(t.Context(), ask{Thread: "t"}) {
		if err == nil {
			last = e
		}
	}
	if last.Kind != graph.RunEnded || last.Status != graph.Interrupted || last.Interrupt == nil || len(last.Interrupt.Before) != 1 {
		t.Errorf("last event %+v", last)
	}
}

// TestStoppingIsPrompt: Interrupt does not wait Request.Wait for the lease.
func TestStoppingIsPrompt(t *testing.T) {
	for _, policy := range []graph.OnBusy{graph.Interrupt, graph.Rollback} {
		r := slow(t).Runner(graph.Options{Store: memstore.New(), OnBusy: policy})
		began := make(chan struct{})
		first := make(chan error)
		go func() {
			for _, err := range r.Run(t.Context(), ask{Thread: "t", Input: item{"1"}}) {
				if err != nil {
					first <- err
					return
				}
				select {
				case <-began:
				default:
					close(began)
				}
			}
		}()
		<-began
		start := time.Now()
		var took time.Duration
		for _, err := range r.Run(t.Context(), ask{Thread: "t", Input: item{"2"}, Wait: 30 * time.Second}) {
			if took = time.Since(start); err != nil {
				t.Error(err)
			}
			break
		}
		if err := <-first; !errors.Is(err, graph.ErrSuperseded) {
			t.Errorf("first run: %v", err)
		}
		if took > 5*time.Second {
			t.Errorf("the second run began after %v", took)
		}
	}
}

type panicking struct{ N int }

func (p panicking) MarshalJSON() ([]byte, error) {
	if p.N > 0 {
		panic("no JSON")
	}
	return []byte("0"), nil
}

func (*panicking) UnmarshalJSON([]byte) error { return nil }

type panickingHook struct{ begin bool }

func (h panickingHook) Begin(ctx context.Context, _ graph.Span) (context.Context, func(error)) {
	if h.begin {
		panic("begin")
	}
	return ctx, func(error) { panic("end") }
}

// TestPanicsOfCallbacks: a panic of a caller's function fails the task or loses
// the span; it does not end the process.
func TestPanicsOfCallbacks(t *testing.T) {
	two := func(task graph.Task[panicking, panicking]) *graph.Plan[panicking, panicking] {
		p, err := graph.Compile(graph.Graph[panicking, panicking]{
			Apply: func(s, _ panicking) (panicking, error) { return s, nil },
			Nodes: map[string]graph.Task[panicking, panicking]{"a": task, "b": task},
			Order: []string{"a", "b"},
			Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: graph.Start, To: "b"}, {From: "a", To: graph.End}, {From: "b", To: graph.End}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, task := range map[string]graph.Task[panicking, panicking]{
		"Retry.If": {
			Run:   func(context.Context, panicking) (panicking, error) { return panicking{}, errors.New("failed") },
			Retry: graph.Retry{Attempts: 2, If: func(error) bool { panic("if") }},
		},
		"MarshalJSON": {Run: func(context.Context, panicking) (panicking, error) { return panicking{1}, nil }},
	} {
		_, err := two(task).Runner(graph.Options{Store: memstore.New()}).Invoke(t.Context(), graph.Request[panicking]{Thread: "t"})
		if _, ok := errors.AsType[*graph.PanicError](err); !ok {
			t.Errorf("%s: %v, want a PanicError", name, err)
		}
	}
	calm := two(graph.Task[panicking, panicking]{Run: func(context.Context, panicking) (panicking, error) { return panicking{}, nil }})
	for _, begin := range []bool{true, false} {
		o := graph.Options{Store: memstore.New(), Hook: panickingHook{begin}}
		if _, err := calm.Runner(o).Invoke(t.Context(), graph.Request[panicking]{Thread: "t"}); err != nil {
			t.Errorf("hook: %v", err)
		}
	}
}
