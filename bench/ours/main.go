// Command ours runs the scenarios of bench/README.md on this project's engine and store.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/bench/measure"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
	threadstore "example.com/ragflow/threads"
)

// conversation is the state of the turns: the messages, and the documents of the last turn.
type conversation struct {
	Messages  []string `json:"messages"`
	Documents []string `json:"documents"`
}

type change struct {
	Say       string   `json:"say,omitempty"`
	Documents []string `json:"documents,omitempty"`
}

func apply(s conversation, u change) (conversation, error) {
	if u.Say != "" {
		s.Messages = append(s.Messages[:len(s.Messages):len(s.Messages)], u.Say)
	}
	if u.Documents != nil {
		s.Documents = u.Documents
	}
	return s, nil
}

func main() {
	ctx := context.Background()
	measure.Main(map[string]measure.Scenario{
		"chain":   func(n int, _ string) (measure.Result, error) { return chain(ctx, n, nil) },
		"durable": func(n int, dir string) (measure.Result, error) { return durable(ctx, n, dir) },
		"fanout":  func(n int, _ string) (measure.Result, error) { return fanOut(ctx, n) },
		"parts":   func(n int, dir string) (measure.Result, error) { return parts(ctx, n, dir) },
		"waits":   func(n int, _ string) (measure.Result, error) { return waits(ctx, n) },
		"compile": func(n int, _ string) (measure.Result, error) { return compile(n) },
		"grow":    func(n int, dir string) (measure.Result, error) { return grow(ctx, n, dir) },
		"threads": func(n int, dir string) (measure.Result, error) { return threads(ctx, n, dir) },
		"meet":    func(n int, dir string) (measure.Result, error) { return meet(ctx, n, dir) },
		"sibling": func(_ int, dir string) (measure.Result, error) { return sibling(ctx, dir) },
		"kill":    func(_ int, dir string) (measure.Result, error) { return kill(ctx, dir, false) },
		"resume":  func(_ int, dir string) (measure.Result, error) { return kill(ctx, dir, true) },
	})
}

// open opens the store of a folder: a file in it or, with BENCH_POSTGRES, a schema of its name on that
// server.
func open(ctx context.Context, dir string) (threadstore.Store, error) {
	if address := os.Getenv("BENCH_POSTGRES"); address != "" {
		return postgres.Open(ctx, address+"&search_path="+schema(dir), postgres.Options{OwnerDied: checkpoint.OwnerDied})
	}
	return checkpoint.Open(ctx, filepath.Join(dir, "threads.db"), checkpoint.Options{})
}

// schema is the schema of a folder on a server.
func schema(dir string) string { return strings.ReplaceAll(filepath.Base(dir), "-", "_") }

// size returns the bytes of all files in a folder, or of the tables and indexes in its schema.
func size(ctx context.Context, dir string) (bytes float64, err error) {
	address := os.Getenv("BENCH_POSTGRES")
	if address == "" {
		return float64(measure.Bytes(dir)), nil
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'S')`, schema(dir)).Scan(&bytes)
	return bytes, errors.Join(err, conn.Close(ctx))
}

// line compiles nodes in sequence.
func line[S, U any](apply func(S, U) (S, error), nodes ...graph.Node[S, U]) (*graph.Plan[S, U], error) {
	g := graph.Graph[S, U]{Name: "line", Apply: apply, Nodes: map[string]graph.Task[S, U]{}}
	from := graph.Start
	for i, run := range nodes {
		name := fmt.Sprintf("n%05d", i)
		g.Nodes[name] = graph.Task[S, U]{Run: run}
		g.Order = append(g.Order, name)
		g.Edges = append(g.Edges, graph.Edge{From: from, To: name})
		from = name
	}
	g.Edges = append(g.Edges, graph.Edge{From: from, To: graph.End})
	return graph.Compile(g)
}

func count(s, u int) (int, error) { return s + u, nil }

// chain runs a graph of 100 nodes that add 1 each, n times.
func chain(ctx context.Context, n int, store graph.Store) (measure.Result, error) {
	nodes := make([]graph.Node[int, int], 100)
	for i := range nodes {
		nodes[i] = func(context.Context, int) (int, error) { return 1, nil }
	}
	plan, err := line(count, nodes...)
	if err != nil {
		return nil, err
	}
	r := plan.Runner(graph.Options{MaxSteps: 1000, Store: store})
	watch := measure.Start()
	for i := range n {
		got, err := r.Invoke(ctx, graph.Request[int]{Thread: "t" + strconv.Itoa(i)})
		if err != nil || got != 100 {
			return nil, fmt.Errorf("run %d: %d: %w", i, got, err)
		}
	}
	return watch.Per(n * 100), nil
}

func durable(ctx context.Context, n int, dir string) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	r, err := chain(ctx, n, store)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	bytes, err := size(ctx, dir)
	r["bytes_per_step"] = bytes / float64(n*100)
	return r, err
}

// fanOut runs 100 workers and a merge, n times.
func fanOut(ctx context.Context, n int) (measure.Result, error) {
	parts := make([]int, 100)
	plan, err := line(count, graph.FanOut(0,
		func(int) []int { return parts },
		func(context.Context, int, int) (int, error) { return 1, nil },
		func(_ int, us []int) (int, error) {
			sum := 0
			for _, u := range us {
				sum += u
			}
			return sum, nil
		}))
	if err != nil {
		return nil, err
	}
	r := plan.Runner(graph.Options{})
	watch := measure.Start()
	for range n {
		if got, err := r.Invoke(ctx, graph.Request[int]{}); err != nil || got != 100 {
			return nil, fmt.Errorf("%d: %w", got, err)
		}
	}
	return watch.Per(n * 100), nil
}

// parts runs 100 steps of 16 parts each, n times. The parts finish at once and are saved in one transaction,
// because a 17th takes 5 ms; then the step is saved. It returns how much such a step costs more than one that
// waits as long and saves nothing before its end, also as a multiple of the cost of saving the step.
func parts(ctx context.Context, n int, dir string) (measure.Result, error) {
	all := make([]int, 17)
	all[0] = 1
	work := func(_ context.Context, _, long int) (int, error) {
		time.Sleep(time.Duration(long) * 5 * time.Millisecond)
		return 1, nil
	}
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	saved, err := cpuOfSteps(ctx, n, store, graph.FanOut(0, func(int) []int { return all }, work,
		func(_ int, us []int) (int, error) { return len(us), nil }))
	if err != nil {
		return nil, err
	}
	plain := func(ctx context.Context, _ int) (int, error) {
		return 17, measure.Side(17, func(i int) error { _, err := work(ctx, 0, all[i]); return err })
	}
	durable, err := cpuOfSteps(ctx, n, store, plain)
	if err != nil {
		return nil, err
	}
	bare, err := cpuOfSteps(ctx, n, nil, plain)
	return measure.Result{"cpu_us": saved - durable, "times_a_step": (saved - durable) / (durable - bare)}, errors.Join(err, store.Close())
}

// cpuOfSteps returns the processor time of each of n times 100 steps.
func cpuOfSteps(ctx context.Context, n int, store graph.Store, node graph.Node[int, int]) (float64, error) {
	plan, err := line(count, slices.Repeat([]graph.Node[int, int]{node}, 100)...)
	if err != nil {
		return 0, err
	}
	r := plan.Runner(graph.Options{MaxSteps: 1000, Store: store})
	watch := measure.Start()
	for i := range n {
		got, err := r.Invoke(ctx, graph.Request[int]{Thread: fmt.Sprint(watch, i)})
		if err != nil || got != 1700 {
			return 0, fmt.Errorf("run %d: %d: %w", i, got, err)
		}
	}
	return watch.Per(n * 100)["cpu_us"], nil
}

// waits runs eight nodes side by side that wait 200 ms each, on one processor, n times.
func waits(ctx context.Context, n int) (measure.Result, error) {
	runtime.GOMAXPROCS(1)
	g := graph.Graph[int, int]{Name: "waits", Apply: count, Nodes: map[string]graph.Task[int, int]{}}
	for i := range 8 {
		name := strconv.Itoa(i)
		g.Nodes[name] = graph.Task[int, int]{Run: func(context.Context, int) (int, error) { time.Sleep(200 * time.Millisecond); return 1, nil }}
		g.Order = append(g.Order, name)
		g.Edges = append(g.Edges, graph.Edge{From: graph.Start, To: name}, graph.Edge{From: name, To: graph.End})
	}
	plan, err := graph.Compile(g)
	if err != nil {
		return nil, err
	}
	r := plan.Runner(graph.Options{})
	watch := measure.Start()
	for range n {
		if got, err := r.Invoke(ctx, graph.Request[int]{}); err != nil || got != 8 {
			return nil, fmt.Errorf("%d: %w", got, err)
		}
	}
	return watch.Per(n), nil
}

// compile compiles a graph of n nodes in a chain, once.
func compile(n int) (measure.Result, error) {
	nodes := make([]graph.Node[int, int], n)
	for i := range nodes {
		nodes[i] = func(context.Context, int) (int, error) { return 1, nil }
	}
	watch := measure.Start()
	_, err := line(count, nodes...)
	return watch.Per(1), err
}

// turns compiles the seven nodes of a turn: documents arrive at the second, the answer at the last.
func turns(store graph.Store) (*graph.Runner[conversation, change], error) {
	idle := func(context.Context, conversation) (change, error) { return change{}, nil }
	plan, err := line(apply, idle, idle,
		func(context.Context, conversation) (change, error) {
			return change{Documents: measure.Documents()}, nil
		}, idle, idle, idle,
		func(context.Context, conversation) (change, error) { return change{Say: measure.Message()}, nil })
	if err != nil {
		return nil, err
	}
	return plan.Runner(graph.Options{Store: store}), nil
}

func say() change { return change{Say: measure.Message()} }

// grow runs one thread of n turns.
func grow(ctx context.Context, n int, dir string) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	r, err := turns(store)
	if err != nil {
		return nil, err
	}
	out, err := measure.Grow(n, func() error {
		_, err := r.Invoke(ctx, graph.Request[change]{Thread: "one", Input: say()})
		return err
	})
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	out["bytes"], err = size(ctx, dir)
	return out, err
}

// threads runs n threads of ten turns each, all at once.
func threads(ctx context.Context, n int, dir string) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	r, err := turns(store)
	if err != nil {
		return nil, err
	}
	watch := measure.Start()
	err = measure.Side(n, func(i int) error {
		for range 10 {
			if _, err := r.Invoke(ctx, graph.Request[change]{Thread: strconv.Itoa(i), Input: say()}); err != nil {
				return err
			}
		}
		return nil
	})
	out := watch.Per(n * 10)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	out["bytes"], err = size(ctx, dir)
	return out, err
}

// meet lets two runs of one thread start at the same time, n times.
func meet(ctx context.Context, n int, dir string) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	r, err := turns(store)
	if err != nil {
		return nil, err
	}
	told := 0
	var mu sync.Mutex
	kept := 0
	for range n {
		err := measure.Side(2, func(int) error {
			s, err := r.Invoke(ctx, graph.Request[change]{Thread: "one", Input: say(), Wait: time.Minute})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				told += 2
				kept = max(kept, len(s.Messages))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return measure.Result{"acknowledged": float64(told), "kept": float64(kept)}, store.Close()
}

// sibling has four nodes side by side. One fails the first time.
func sibling(ctx context.Context, dir string) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	ran := map[string]int{}
	others := sync.WaitGroup{}
	others.Add(3)
	node := func(name string, fails bool) graph.Node[int, int] {
		return func(context.Context, int) (int, error) {
			mu.Lock()
			ran[name]++
			first := ran[name] == 1
			mu.Unlock()
			if fails && first {
				others.Wait()
				time.Sleep(100 * time.Millisecond) // their results are told
				return 0, errors.New("the first time it fails")
			}
			if first {
				others.Done()
			}
			return 1, nil
		}
	}
	g := graph.Graph[int, int]{Name: "siblings", Apply: count, Nodes: map[string]graph.Task[int, int]{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		g.Nodes[name] = graph.Task[int, int]{Run: node(name, name == "d")}
		g.Order = append(g.Order, name)
		g.Edges = append(g.Edges, graph.Edge{From: graph.Start, To: name}, graph.Edge{From: name, To: graph.End})
	}
	plan, err := graph.Compile(g)
	if err != nil {
		return nil, err
	}
	r := plan.Runner(graph.Options{Store: store, Parallel: 4})
	if _, err := r.Invoke(ctx, graph.Request[int]{Thread: "one"}); err == nil {
		return nil, errors.New("the failing sibling did not fail")
	}
	got, err := r.Invoke(ctx, graph.Request[int]{Thread: "one", Resume: true})
	if err != nil || got != 4 {
		return nil, fmt.Errorf("resumed: %d: %w", got, err)
	}
	return measure.Result{"runs_of_finished": float64(ran["a"]+ran["b"]+ran["c"]) / 3}, store.Close()
}

// kill runs ten nodes. The sixth kills the process; resume continues.
func kill(ctx context.Context, dir string, resume bool) (measure.Result, error) {
	store, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	nodes := make([]graph.Node[int, int], 10)
	for i := range nodes {
		nodes[i] = func(context.Context, int) (int, error) {
			if i == 5 && !resume {
				measure.Die()
			}
			return 1, measure.Mark(dir, i)
		}
	}
	plan, err := line(count, nodes...)
	if err != nil {
		return nil, err
	}
	got, err := plan.Runner(graph.Options{Store: store, Owner: checkpoint.ProcessOwner()}).Invoke(ctx, graph.Request[int]{Thread: "one", Resume: resume})
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "state", got)
	return measure.Marked(dir)
}
