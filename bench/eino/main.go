// Command eino runs the scenarios of bench/README.md on CloudWeGo eino. It saves a checkpoint only if a graph
// is interrupted, and keeps no history: turns therefore store the conversation themselves, as one blob a
// turn.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cloudwego/eino/compose"
	_ "github.com/mattn/go-sqlite3"

	"example.com/ragflow/bench/measure"
)

func main() {
	ctx := context.Background()
	measure.Main(map[string]measure.Scenario{
		"chain":   func(n int, _ string) (measure.Result, error) { return chain(ctx, n) },
		"fanout":  func(n int, _ string) (measure.Result, error) { return fanOut(ctx, n) },
		"grow":    func(n int, dir string) (measure.Result, error) { return grow(ctx, n, dir) },
		"threads": func(n int, dir string) (measure.Result, error) { return threads(ctx, n, dir) },
		"meet":    func(n int, dir string) (measure.Result, error) { return meet(ctx, n, dir) },
		"sibling": func(int, string) (measure.Result, error) { return sibling(ctx) },
	})
}

func line[T any](ctx context.Context, nodes ...func(context.Context, T) (T, error)) (compose.Runnable[T, T], error) {
	g := compose.NewGraph[T, T]()
	last := compose.START
	for i, node := range nodes {
		name := fmt.Sprintf("n%03d", i)
		if err := errors.Join(g.AddLambdaNode(name, compose.InvokableLambda(node)), g.AddEdge(last, name)); err != nil {
			return nil, err
		}
		last = name
	}
	if err := g.AddEdge(last, compose.END); err != nil {
		return nil, err
	}
	return g.Compile(ctx, compose.WithMaxRunSteps(1000))
}

func chain(ctx context.Context, n int) (measure.Result, error) {
	nodes := make([]func(context.Context, int) (int, error), 100)
	for i := range nodes {
		nodes[i] = func(_ context.Context, s int) (int, error) { return s + 1, nil }
	}
	r, err := line(ctx, nodes...)
	if err != nil {
		return nil, err
	}
	watch := measure.Start()
	for range n {
		if got, err := r.Invoke(ctx, 0); err != nil || got != 100 {
			return nil, fmt.Errorf("%d: %w", got, err)
		}
	}
	return watch.Per(n * 100), nil
}

// fanOut has 100 nodes side by side that are part of the graph, because eino has no dynamic fan-out.
func fanOut(ctx context.Context, n int) (measure.Result, error) {
	g := compose.NewGraph[int, map[string]any]()
	err := g.AddLambdaNode("merge", compose.InvokableLambda(
		func(_ context.Context, all map[string]any) (map[string]any, error) { return all, nil },
	))
	for i := range 100 {
		name := strconv.Itoa(i)
		err = errors.Join(err,
			g.AddLambdaNode(name, compose.InvokableLambda(func(context.Context, int) (int, error) { return 1, nil }), compose.WithOutputKey(name)),
			g.AddEdge(compose.START, name), g.AddEdge(name, "merge"))
	}
	if err != nil {
		return nil, err
	}
	if err := g.AddEdge("merge", compose.END); err != nil {
		return nil, err
	}
	r, err := g.Compile(ctx, compose.WithNodeTriggerMode(compose.AllPredecessor))
	if err != nil {
		return nil, err
	}
	watch := measure.Start()
	for range n {
		if got, err := r.Invoke(ctx, 0); err != nil || len(got) != 100 {
			return nil, fmt.Errorf("%d: %w", len(got), err)
		}
	}
	return watch.Per(n * 100), nil
}

type conversation struct {
	Messages  []string `json:"messages"`
	Documents []string `json:"documents"`
}

// talk has the seven nodes of a turn, and the table of conversations.
type talk struct {
	run compose.Runnable[conversation, conversation]
	db  *sql.DB
}

func newTalk(ctx context.Context, dir string) (*talk, error) {
	idle := func(_ context.Context, s conversation) (conversation, error) { return s, nil }
	r, err := line(ctx, idle, idle,
		func(_ context.Context, s conversation) (conversation, error) {
			s.Documents = measure.Documents()
			return s, nil
		}, idle, idle, idle,
		func(_ context.Context, s conversation) (conversation, error) {
			s.Messages = append(s.Messages[:len(s.Messages):len(s.Messages)], measure.Message())
			return s, nil
		})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", filepath.Join(dir, "threads.db")+"?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=60000")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE TABLE turns(thread TEXT, n INTEGER, state BLOB, PRIMARY KEY(thread, n))`)
	return &talk{r, db}, err
}

func (t *talk) turn(ctx context.Context, thread string) error {
	var s conversation
	var n int
	var body []byte
	err := t.db.QueryRowContext(ctx, `SELECT n, state FROM turns WHERE thread = ? ORDER BY n DESC LIMIT 1`, thread).Scan(&n, &body)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if body != nil {
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&s); err != nil {
			return err
		}
	}
	s.Messages = append(s.Messages, measure.Message())
	if s, err = t.run.Invoke(ctx, s); err != nil {
		return err
	}
	if body, err = json.Marshal(s); err != nil {
		return err
	}
	_, err = t.db.ExecContext(ctx, `INSERT OR REPLACE INTO turns VALUES (?, ?, ?)`, thread, n+1, body)
	return err
}

func grow(ctx context.Context, n int, dir string) (measure.Result, error) {
	t, err := newTalk(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := measure.Grow(n, func() error { return t.turn(ctx, "one") })
	if err := errors.Join(err, t.db.Close()); err != nil {
		return nil, err
	}
	out["bytes"] = float64(measure.Bytes(dir))
	return out, nil
}

func threads(ctx context.Context, n int, dir string) (measure.Result, error) {
	t, err := newTalk(ctx, dir)
	if err != nil {
		return nil, err
	}
	watch := measure.Start()
	err = measure.Side(n, func(i int) error {
		for range 10 {
			if err := t.turn(ctx, strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	})
	out := watch.Per(n * 10)
	if err := errors.Join(err, t.db.Close()); err != nil {
		return nil, err
	}
	out["bytes"] = float64(measure.Bytes(dir))
	return out, nil
}

func meet(ctx context.Context, n int, dir string) (measure.Result, error) {
	t, err := newTalk(ctx, dir)
	if err != nil {
		return nil, err
	}
	for range n {
		if err := measure.Side(2, func(int) error { return t.turn(ctx, "one") }); err != nil {
			return nil, err
		}
	}
	var body []byte
	var s conversation
	if err := t.db.QueryRowContext(ctx, `SELECT state FROM turns ORDER BY n DESC LIMIT 1`).Scan(&body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, err
	}
	return measure.Result{"acknowledged": float64(4 * n), "kept": float64(len(s.Messages))}, t.db.Close()
}

type memory struct {
	sync.Mutex
	blobs map[string][]byte
}

func (m *memory) Get(_ context.Context, id string) ([]byte, bool, error) {
	m.Lock()
	defer m.Unlock()
	b, ok := m.blobs[id]
	return b, ok, nil
}

func (m *memory) Set(_ context.Context, id string, b []byte) error {
	m.Lock()
	defer m.Unlock()
	m.blobs[id] = b
	return nil
}

// sibling has four nodes side by side. One fails the first time, and the run is retried under the same
// checkpoint id.
func sibling(ctx context.Context) (measure.Result, error) {
	var mu sync.Mutex
	ran := map[string]int{}
	var others sync.WaitGroup
	others.Add(3)
	g := compose.NewGraph[int, map[string]any]()
	for _, name := range []string{"a", "b", "c", "d"} {
		node := func(context.Context, int) (int, error) {
			mu.Lock()
			ran[name]++
			first := ran[name] == 1
			mu.Unlock()
			if name == "d" && first {
				others.Wait()
				return 0, errors.New("the first time it fails")
			}
			if first {
				others.Done()
			}
			return 1, nil
		}
		if err := errors.Join(g.AddLambdaNode(name, compose.InvokableLambda(node), compose.WithOutputKey(name)),
			g.AddEdge(compose.START, name), g.AddEdge(name, compose.END)); err != nil {
			return nil, err
		}
	}
	r, err := g.Compile(ctx, compose.WithNodeTriggerMode(compose.AllPredecessor), compose.WithCheckPointStore(&memory{blobs: map[string][]byte{}}))
	if err != nil {
		return nil, err
	}
	if _, err := r.Invoke(ctx, 0, compose.WithCheckPointID("one")); err == nil {
		return nil, errors.New("the failing sibling did not fail")
	}
	if _, err := r.Invoke(ctx, 0, compose.WithCheckPointID("one")); err != nil {
		return nil, err
	}
	return measure.Result{"runs_of_finished": float64(ran["a"]+ran["b"]+ran["c"]) / 3}, nil
}
