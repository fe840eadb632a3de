package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// list is the state of most tests: what was appended, in order.
type list struct {
	Items []string `json:"items,omitempty"`
}

// item is their update; "bad" is refused.
type item struct {
	Add string `json:"add,omitempty"`
}

var errRefused = errors.New("refused")

func appendItem(s list, u item) (list, error) {
	switch u.Add {
	case "":
		return s, nil
	case "bad":
		return s, errRefused
	}
	s.Items = append(slices.Clip(s.Items), u.Add)
	return s, nil
}

type (
	node   = graph.Node[list, item]
	tasks  = map[string]graph.Task[list, item]
	runner = graph.Runner[list, item]
	ask    = graph.Request[item]
)

func says(s string) node { return func(context.Context, list) (item, error) { return item{s}, nil } }

func fails(err error) node { return func(context.Context, list) (item, error) { return item{}, err } }

// build compiles a graph of named nodes; edges are "a b" pairs, where ^ is
// Start and $ is End.
func build(tb testing.TB, order string, nodes map[string]node, edges string, branches ...graph.Branch[list]) *graph.Plan[list, item] {
	tb.Helper()
	g := graph.Graph[list, item]{Name: "test", Apply: appendItem, Nodes: tasks{}, Order: strings.Fields(order), Branches: branches}
	for name, n := range nodes {
		g.Nodes[name] = graph.Task[list, item]{Run: n}
	}
	end := strings.NewReplacer("^", graph.Start, "$", graph.End)
	for e := range strings.SplitSeq(edges, ",") {
		from, to, _ := strings.Cut(strings.TrimSpace(e), " ")
		g.Edges = append(g.Edges, graph.Edge{From: end.Replace(from), To: end.Replace(to)})
	}
	p, err := graph.Compile(g)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Tasks of a step wait for models, so they run side by side on any number of processors.
func TestTasksRunSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 64
	var all sync.WaitGroup
	all.Add(n)
	nodes, order, edges := map[string]node{}, []string{}, []string{}
	for i := range n {
		name := fmt.Sprint("n", i)
		nodes[name] = func(context.Context, list) (item, error) {
			all.Done()
			all.Wait() // all of them run now
			return item{}, nil
		}
		order, edges = append(order, name), append(edges, "^ "+name, name+" $")
	}
	p := build(t, strings.Join(order, " "), nodes, strings.Join(edges, ","))
	if _, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{}); err != nil {
		t.Fatal(err)
	}
}

// three makes a graph of one node, then two side by side, then one.
func three(tb testing.TB, nodes map[string]node) *graph.Plan[list, item] {
	tb.Helper()
	for _, n := range []string{"a", "b", "c", "d"} {
		if nodes[n] == nil {
			nodes[n] = says(n)
		}
	}
	return build(tb, "a b c d", nodes, "^ a, a b, a c, b d, c d, d $")
}

// told lists a run's events in short.
func told(t *testing.T, r *runner, q ask) ([]string, error) {
	t.Helper()
	var out []string
	for e, err := range r.Run(t.Context(), q) {
		if err != nil {
			return out, err
		}
		out = append(out, strings.Join([]string{string(e.Kind), string(e.Status), strings.Join(e.Next, "+"), strings.Join(e.State.Items, "")}, " "))
	}
	return out, nil
}

func logged(m *memStore) []string {
	var out []string
	for _, c := range history(m) {
		line := []string{string(c.Source), string(c.Status), strings.Join(c.Frontier, "+")}
		for _, d := range c.Deltas {
			line = append(line, d.Node+string(d.Body)+d.Error)
		}
		out = append(out, strings.Join(line, " "))
	}
	return out
}

func TestRunSavesThenTells(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
	seen := 0
	for e, err := range r.Run(t.Context(), ask{Thread: "t", Input: item{"?"}}) {
		if err != nil {
			t.Fatal(err)
		}
		h := history(m)
		if got, want := h[len(h)-1].ID, e.Commit; got != want {
			t.Errorf("%s told at head %d, want %d", e.Kind, got, want)
		}
		seen++
	}
	if want := 5; seen != want {
		t.Errorf("told %d events, want %d", seen, want)
	}
	want := []string{
		`input running a {"add":"?"}`,
		`loop running b+c a{"add":"a"}`,
		`loop running d b{"add":"b"} c{"add":"c"}`,
		`loop completed  d{"add":"d"}`,
	}
	if diff := cmp.Diff(want, logged(m)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestRunEvents(t *testing.T) {
	r := three(t, map[string]node{}).Runner(graph.Options{})
	got, err := told(t, r, ask{Input: item{"?"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"run_started running a ?",
		"step_done running b+c ?a",
		"step_done running d ?abc",
		"step_done completed  ?abcd",
		"run_ended completed  ?abcd",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestThreadLives(t *testing.T) {
	m := newMemStore()
	p := three(t, map[string]node{})
	for range 150 {
		live, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Input: item{strings.Repeat("x", 600)}})
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := p.Runner(graph.Options{Store: m}).State(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(live, back); diff != "" {
			t.Fatalf("reloaded state differs (-live +reloaded):\n%s", diff)
		}
	}
	for _, b := range m.threads["t"].commits {
		if b.Snapshot != nil {
			t.Errorf("a snapshot of %d bytes, though the state is as large as the updates", len(b.Snapshot))
		}
	}
}

// The state keeps the last ten items. Reading it costs a few times what it holds, and the snapshots
// take less than half of what the updates take.
func TestSnapshotsPay(t *testing.T) {
	m := newMemStore()
	p, err := graph.Compile(graph.Graph[list, item]{
		Apply: func(s list, u item) (list, error) {
			s.Items = append(slices.Clip(s.Items), u.Add)
			return list{s.Items[max(0, len(s.Items)-10):]}, nil
		},
		Nodes: tasks{"a": {Run: says("a")}},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: "a", To: graph.End}},
	})
	if err != nil {
		t.Fatal(err)
	}
	saved, logged := 0, 0
	for range 200 {
		if _, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Input: item{strings.Repeat("x", 600)}}); err != nil {
			t.Fatal(err)
		}
		commits := m.threads["t"].commits
		snapshot, deltas, err := m.Load(t.Context(), "t", commits[len(commits)-1].ID)
		if err != nil {
			t.Fatal(err)
		}
		read := len(snapshot.Body)
		for _, d := range deltas {
			read += len(d.Body)
		}
		if read > 20_000 { // the state has 3 KB; below 8 KB of updates no snapshot is made
			t.Fatalf("%d bytes are read", read)
		}
	}
	for _, b := range m.threads["t"].commits {
		saved += len(b.Snapshot)
		logged += b.BodyBytes()
		if b.Snapshot != nil && b.Status != graph.Completed {
			t.Errorf("snapshot in a commit that is %s", b.Status)
		}
	}
	if saved == 0 || saved > logged/2 {
		t.Errorf("%d bytes of snapshots, %d of updates", saved, logged)
	}
	t.Logf("%d bytes of snapshots, %d of updates", saved, logged)
}

// Reading an unfinished run costs what its state holds, not what all its steps logged.
func TestLongUnfinishedRun(t *testing.T) {
	m := newMemStore()
	p, err := graph.Compile(graph.Graph[list, item]{
		Apply:    func(_ list, u item) (list, error) { return list{[]string{u.Add}}, nil },
		Nodes:    tasks{"a": {Run: says(strings.Repeat("x", 100))}},
		Edges:    []graph.Edge{{From: graph.Start, To: "a"}},
		Branches: []graph.Branch[list]{{From: "a", Route: func(list) string { return "a" }, To: []string{"a", graph.End}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: m, MaxSteps: 10_000})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); err == nil {
		t.Fatal("the run has no end")
	}
	for _, step := range []int{5_000, 10_000} {
		snapshot, deltas, err := m.Load(t.Context(), "t", m.threads["t"].commits[step].ID)
		if err != nil || len(snapshot.Body) == 0 || len(deltas) > 1_000 {
			t.Errorf("step %d: a snapshot of %d bytes and %d deltas are read, %v", step, len(snapshot.Body), len(deltas), err)
		}
	}
}

func TestStateAt(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
	if _, _, err := r.State(t.Context(), "t"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("State of an unknown thread: %v, want ErrNotFound", err)
	}
	for e, err := range r.Run(t.Context(), ask{Thread: "t", Input: item{"?"}}) {
		if err != nil {
			t.Fatal(err)
		}
		back, err := r.StateAt(t.Context(), "t", e.Commit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e.State, back); diff != "" {
			t.Errorf("state at commit %d (-told +loaded):\n%s", e.Commit, diff)
		}
	}
	if _, err := three(t, map[string]node{}).Runner(graph.Options{}).StateAt(t.Context(), "t", 1); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("StateAt without a store: %v, want ErrNotFound", err)
	}
}

func TestFailureKeepsFinishedSiblings(t *testing.T) {
	m := newMemStore()
	boom := errors.New("boom")
	broken, ran := true, 0
	bDone := make(chan struct{})
	p := three(t, map[string]node{
		"b": func(context.Context, list) (item, error) { ran++; defer close(bDone); return item{"b"}, nil },
		"c": func(ctx context.Context, _ list) (item, error) {
			graph.Note(ctx, "tried", "yes")
			<-bDone
			if broken {
				return item{}, boom
			}
			return item{"c"}, nil
		},
	})
	r := p.Runner(graph.Options{Store: m, Parallel: 2})
	got, err := told(t, r, ask{Thread: "t", Run: "r1", Input: item{"?"}})
	ne, ok := errors.AsType[*graph.NodeError](err)
	if !ok || !errors.Is(err, boom) || ne.Node != "c" || ne.Step != 2 {
		t.Fatalf("Run: %v, want boom of node c in step 2", err)
	}
	if want := "run_ended failed b+c ?a"; got[len(got)-1] != want {
		t.Errorf("last event %q, want %q", got[len(got)-1], want)
	}
	h := history(m)
	closing := h[len(h)-1]
	if want := []graph.Detail{{Key: "tried", Value: "yes"}}; closing.Deltas[0].Error != "boom" || !cmp.Equal(closing.Deltas[0].Notes.Details, want) {
		t.Errorf("failed attempt saved as %+v", closing.Deltas[0])
	}

	broken = false
	state, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(state.Items, ""), "?abcd"; got != want {
		t.Errorf("state after resume %q, want %q", got, want)
	}
	if ran != 1 {
		t.Errorf("b ran %d times, want once", ran)
	}
	back, head, err := r.State(t.Context(), "t")
	if err != nil || head.Run != "r1" || !cmp.Equal(state, back) {
		t.Errorf("reloaded %v of run %q, %v; want %v of run r1", back, head.Run, err, state)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); !errors.Is(err, graph.ErrNothingToDo) {
		t.Errorf("second resume: %v, want ErrNothingToDo", err)
	}
}

// A refused update must not come back from the saved results for ever.
func TestApplyErrorIsRunAgain(t *testing.T) {
	m := newMemStore()
	say, runs := "bad", map[string]int{}
	p := three(t, map[string]node{
		"b": func(context.Context, list) (item, error) { runs["b"]++; return item{"b"}, nil },
		"c": func(context.Context, list) (item, error) { runs["c"]++; return item{say}, nil },
	})
	r := p.Runner(graph.Options{Store: m, Parallel: 1})
	_, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
	if ne, ok := errors.AsType[*graph.NodeError](err); !ok || ne.Node != "c" || !errors.Is(err, errRefused) {
		t.Fatalf("Invoke: %v, want the refusal of node c", err)
	}
	say = "c"
	state, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(state.Items, ""), "?abcd"; got != want {
		t.Errorf("state %q, want %q", got, want)
	}
	if want := map[string]int{"b": 1, "c": 2}; !cmp.Equal(runs, want) {
		t.Errorf("runs %v, want %v", runs, want)
	}
}

func TestPanics(t *testing.T) {
	boom := func() { panic("boom") }
	for _, tt := range []struct {
		name string
		node node
		live bool
	}{
		{"inline", func(context.Context, list) (item, error) { boom(); return item{}, nil }, false},
		{"on a worker", func(context.Context, list) (item, error) { boom(); return item{}, nil }, true},
		{"in a fan-out", graph.FanOut(0,
			func(list) []int { return []int{1, 2} },
			func(context.Context, list, int) (item, error) { boom(); return item{}, nil },
			func(list, []item) (item, error) { return item{}, nil }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := build(t, "a", map[string]node{"a": tt.node}, "^ a, a $")
			r := p.Runner(graph.Options{})
			events := r.Run
			if tt.live {
				events = r.Stream
			}
			var last error
			for _, err := range events(t.Context(), ask{}) {
				last = err
			}
			pe, ok := errors.AsType[*graph.PanicError](last)
			if !ok || pe.Value != "boom" || !strings.Contains(string(pe.Stack), "TestPanics") {
				t.Errorf("error %v, want a panic with its stack", last)
			}
		})
	}
}

func TestPanicsOfApplyAndRoute(t *testing.T) {
	g := graph.Graph[list, item]{
		Apply: func(_ list, u item) (list, error) {
			if u.Add == "a" {
				panic("in apply")
			}
			return list{}, nil
		},
		Nodes: tasks{"a": {Run: says("a")}}, Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
	}
	p, err := graph.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Runner(graph.Options{}).Invoke(t.Context(), ask{})
	if pe, ok := errors.AsType[*graph.PanicError](err); !ok || pe.Value != "in apply" {
		t.Errorf("error %v, want the panic of Apply", err)
	}
	for _, tt := range []struct {
		name  string
		route func(list) string
		want  string
	}{
		{"panic", func(list) string { panic("in route") }, "panic: in route"},
		{"target that is none", func(list) string { return "b" }, `branch returned "b", which is not one of its targets`},
	} {
		p := build(t, "a", map[string]node{"a": says("a")}, "^ a", graph.Branch[list]{From: "a", Route: tt.route, To: []string{graph.End}})
		_, err := p.Runner(graph.Options{}).Invoke(t.Context(), ask{})
		if ne, ok := errors.AsType[*graph.NodeError](err); !ok || ne.Err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func loop(tb testing.TB, turns int) *graph.Plan[list, item] {
	tb.Helper()
	return build(tb, "a", map[string]node{"a": says("a")}, "^ a", graph.Branch[list]{
		From: "a", To: []string{"a", graph.End},
		Route: func(s list) string {
			if len(s.Items) < turns {
				return "a"
			}
			return graph.End
		},
	})
}

func TestStepLimitAndResume(t *testing.T) {
	m := newMemStore()
	r := loop(t, 25).Runner(graph.Options{Store: m, MaxSteps: 10})
	q := ask{Thread: "t"}
	for call, want := range []int{10, 20, 25} {
		state, err := r.Invoke(t.Context(), q)
		if len(state.Items) != want {
			t.Errorf("call %d: %d items, want %d", call, len(state.Items), want)
		}
		limit, limited := errors.AsType[*graph.StepLimitError](err)
		if limited != (want < 25) || (err != nil && !limited) {
			t.Fatalf("call %d: %v", call, err)
		}
		if limited && !cmp.Equal(limit.Next, []string{"a"}) {
			t.Errorf("call %d: next %v, want a", call, limit.Next)
		}
		_, head, _ := r.State(t.Context(), "t")
		if limited && head.Status != graph.Limited {
			t.Errorf("call %d: status %s, want limited", call, head.Status)
		}
		q.Resume = true
	}
}

func TestNewInputSupersedes(t *testing.T) {
	m := newMemStore()
	broken := true
	p := build(t, "a", map[string]node{"a": func(context.Context, list) (item, error) {
		if broken {
			return item{}, errors.New("boom")
		}
		return item{"a"}, nil
	}}, "^ a, a $")
	r := p.Runner(graph.Options{Store: m})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r1", Input: item{"one"}}); err == nil {
		t.Fatal("first run did not fail")
	}
	broken = false
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Run: "r2", Input: item{"two"}}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`input running a {"add":"one"}`,
		`close failed a aboom`,
		`close superseded `,
		`input running a {"add":"two"}`,
		`loop completed  a{"add":"a"}`,
	}
	if diff := cmp.Diff(want, logged(m)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	h := history(m)
	if got := []string{h[2].Run, h[3].Run}; !cmp.Equal(got, []string{"r1", "r2"}) {
		t.Errorf("superseding commits are of runs %v", got)
	}
	if state, _, _ := r.State(t.Context(), "t"); !cmp.Equal(state.Items, []string{"one", "two", "a"}) {
		t.Errorf("state %v", state.Items)
	}
}

func TestGraphChanged(t *testing.T) {
	m := newMemStore()
	old := build(t, "a b", map[string]node{"a": fails(errors.New("boom")), "b": says("b")}, "^ a, a b, b $")
	if _, err := old.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); err == nil {
		t.Fatal("first run did not fail")
	}
	changed := build(t, "a", map[string]node{"a": says("a")}, "^ a, a $").Runner(graph.Options{Store: m})
	if _, err := changed.Invoke(t.Context(), ask{Thread: "t", Resume: true}); !errors.Is(err, graph.ErrGraphChanged) {
		t.Errorf("resume by another graph: %v, want ErrGraphChanged", err)
	}
	state, err := changed.Invoke(t.Context(), ask{Thread: "t", Input: item{"!"}})
	if err != nil || !cmp.Equal(state.Items, []string{"?", "!", "a"}) {
		t.Errorf("new input to another graph: %v, %v", state.Items, err)
	}
}

func TestRefusals(t *testing.T) {
	m := newMemStore()
	r := three(t, map[string]node{}).Runner(graph.Options{Store: m})
	if _, err := m.Acquire(t.Context(), "taken", graph.AcquireOptions{Owner: "other"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    ask
		want error
		text string
	}{
		{"busy", ask{Thread: "taken"}, graph.ErrBusy, `thread "taken": held by other`},
		{"nothing to resume", ask{Thread: "t", Resume: true}, graph.ErrNothingToDo, `thread "t"`},
		{"bad input", ask{Thread: "t", Input: item{"bad"}}, errRefused, "apply input"},
		{"no thread", ask{}, nil, "needs a thread"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := told(t, r, tt.q)
			if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want %v with %q", err, tt.want, tt.text)
			}
			if len(got) > 0 || len(history(m)) > 0 {
				t.Errorf("told %v and saved %v, want nothing", got, logged(m))
			}
		})
	}
}

// lossy has a field that JSON does not carry.
type lossy struct {
	Text   string
	hidden string `json:"-"`
}

func TestCheckCodec(t *testing.T) {
	p, err := graph.Compile(graph.Graph[string, lossy]{
		Apply: func(s string, u lossy) (string, error) { return s + u.Text + u.hidden, nil },
		Nodes: map[string]graph.Task[string, lossy]{"a": {Run: func(context.Context, string) (lossy, error) {
			return lossy{"seen", "lost"}, nil
		}}},
		Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	for check, want := range map[bool]string{false: "seenlost", true: "seen"} {
		got, err := p.Runner(graph.Options{CheckCodec: check}).Invoke(t.Context(), graph.Request[lossy]{})
		if err != nil || got != want {
			t.Errorf("CheckCodec %v: %q, %v; want %q", check, got, err, want)
		}
	}
}

func TestStoreFailures(t *testing.T) {
	disk := errors.New("disk full")
	for _, tt := range []struct {
		op    string
		after int // calls that still work
		want  error
	}{
		{"acquire", 0, disk},
		{"head", 0, disk},
		{"commit", 0, disk},
		{"commit", 1, disk},
		{"commit", 3, disk},
		{"pend", 1, disk},
		{"release", 0, nil}, // the lease ends by itself
	} {
		t.Run(tt.op, func(t *testing.T) {
			m := newMemStore()
			calls := 0
			m.before = func(op string) error {
				if op == tt.op {
					if calls++; calls > tt.after {
						return disk
					}
				}
				return nil
			}
			p := three(t, map[string]node{})
			_, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}})
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			m.before = nil
			if tt.op == "release" || len(history(m)) == 0 {
				return
			}
			state, err := p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Resume: true})
			if err != nil || strings.Join(state.Items, "") != "?abcd" {
				t.Errorf("resume: %v, %v; want ?abcd", state.Items, err)
			}
		})
	}
}

func TestNotesAreSaved(t *testing.T) {
	m := newMemStore()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("east", 3600))
	p := build(t, "a", map[string]node{"a": func(ctx context.Context, _ list) (item, error) {
		graph.Note(ctx, "k", "v")
		graph.Warn(ctx, "careful")
		graph.Skip(ctx, "no need")
		graph.Count(ctx, graph.Call{Name: "model", Counts: map[string]int64{"tokens": 3}})
		now = now.Add(time.Second)
		return item{}, nil
	}}, "^ a, a $")
	r := p.Runner(graph.Options{Store: m, Clock: func() time.Time { return now }})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t"}); err != nil {
		t.Fatal(err)
	}
	h := history(m)
	want := []graph.Delta{{Node: "a", Notes: graph.Notes{
		Start: time.Date(2026, 1, 2, 2, 4, 5, 6000, time.UTC), Duration: time.Second,
		Details: []graph.Detail{{Key: "k", Value: "v"}}, Warnings: []string{"careful"}, Skipped: "no need",
		Calls: []graph.Call{{Name: "model", Counts: map[string]int64{"tokens": 3}}},
	}}}
	if diff := cmp.Diff(want, h[1].Deltas); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}
