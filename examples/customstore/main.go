// Command customstore shows a store of its own: it saves in SQLite and writes each commit to an audit
// file too, a line of JSON each.
//
//	go run ./examples/customstore jobs.db audit.jsonl
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// Audited is a store that reports the commits of another one. It only changes Commit; the embedded store does the
// rest. It is safe for concurrent use.
type Audited struct {
	graph.Store
	mu  sync.Mutex
	out io.Writer
}

type line struct {
	Time   time.Time    `json:"time"`
	Thread string       `json:"thread"`
	Run    string       `json:"run"`
	Step   int          `json:"step"`
	Status graph.Status `json:"status"`
	Nodes  []string     `json:"nodes,omitempty"`
}

// Commit implements graph.Store. The line is written before the commit: an audit that fails stops the
// run, and a line without a commit is a step that will be done again.
func (a *Audited) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	out := line{Time: time.Now().UTC(), Thread: l.Thread, Run: b.Run, Step: b.Step, Status: b.Status}
	for _, d := range b.Deltas {
		if d.Node != "" {
			out.Nodes = append(out.Nodes, d.Node)
		}
	}
	a.mu.Lock()
	err := json.NewEncoder(a.out).Encode(out)
	a.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("write the audit: %w", err)
	}
	return a.Store.Commit(ctx, l, b)
}

func run(ctx context.Context, file string, audit io.Writer) (string, error) {
	store, err := checkpoint.Open(ctx, file, checkpoint.Options{})
	if err != nil {
		return "", err
	}
	defer store.Close()
	say := func(word string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(context.Context, string) (string, error) { return word, nil }}
	}
	plan, err := graph.Compile(graph.Graph[string, string]{
		Name: "customstore", Apply: func(s, u string) (string, error) { return s + u, nil },
		Nodes: map[string]graph.Task[string, string]{"greet": say("hello "), "name": say("world")},
		Edges: graph.Chain(graph.Start, "greet", "name", graph.End),
	})
	if err != nil {
		return "", err
	}
	runner := plan.Runner(graph.Options{Store: &Audited{Store: store, out: audit}})
	return runner.Invoke(ctx, graph.Request[string]{Thread: "t"})
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: customstore DATABASE AUDIT")
	}
	audit, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer audit.Close()
	s, err := run(context.Background(), os.Args[1], audit)
	fmt.Println(s, err)
}
