package threads_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// stubs is a graph of seven nodes in a row, as those of an answer, that do next to nothing: what
// remains is the cost of engine and store.
func stubs(t *testing.T) *graph.Plan[state.State, state.Update] {
	t.Helper()
	g := graph.Graph[state.State, state.Update]{
		Name: "stubs", Version: "1", Apply: state.Apply, Order: strings.Fields("one two three four five six seven"),
		Nodes: map[string]graph.Task[state.State, state.Update]{},
		Edges: []graph.Edge{{From: graph.Start, To: "one"}},
	}
	for i, name := range g.Order {
		run := func(context.Context, state.State) (state.Update, error) { return state.Update{}, nil }
		to := graph.End
		if i+1 < len(g.Order) {
			to = g.Order[i+1]
		} else {
			run = func(context.Context, state.State) (state.Update, error) { return said(state.AI), nil }
		}
		g.Nodes[name] = graph.Task[state.State, state.Update]{Run: run}
		g.Edges = append(g.Edges, graph.Edge{From: name, To: to})
	}
	plan, err := graph.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// said is a message of 400 bytes that stands nowhere else.
func said(role state.Role) state.Update {
	id := rand.Text()
	content := strings.Repeat(id+" ", 15)
	return state.Update{Messages: []state.MessageOp{{Put: &state.Message{ID: id, Role: role, Content: content[:400]}}}}
}

// TestThousandTurns gates what a thread costs: 1,000 turns of seven nodes and
// two messages of 400 bytes within 4.5 MB, and the last turn no dearer than the
// tenth.
func TestThousandTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("8,000 commits; left out with -short")
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	store, err := checkpoint.Open(t.Context(), path, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	runner := stubs(t).Runner(graph.Options{Store: store})
	turn := func() {
		if _, err := runner.Invoke(t.Context(), graph.Request[state.Update]{Thread: "t", Input: said(state.Human)}); err != nil {
			t.Fatal(err)
		}
	}
	// cost is what one turn runs and what it writes, the least of five: how many
	// commits share a write is a matter of chance. The write-ahead log is empty before
	// each.
	cost := func() (statements, bytes int64) {
		for n := range 5 {
			flush(t, store)
			before := store.Counters().Statements
			turn()
			ran, wrote := store.Counters().Statements-before, fileSize(t, path+"-wal")
			if n == 0 || ran < statements {
				statements = ran
			}
			if n == 0 || wrote < bytes {
				bytes = wrote
			}
		}
		return statements, bytes
	}
	for range 5 {
		turn()
	}
	earlyStatements, earlyBytes := cost() // turns 6 to 10
	for range 985 {
		turn()
	}
	lateStatements, lateBytes := cost()
	flush(t, store)
	size := fileSize(t, path)
	t.Logf("1,000 turns: %d bytes; turn 10: %d statements, %d bytes; turn 1,000: %d statements, %d bytes",
		size, earlyStatements, earlyBytes, lateStatements, lateBytes)
	if limit := int64(4_500_000); size > limit {
		t.Errorf("1,000 turns take %d bytes, want at most %d", size, limit)
	}
	if ratio := float64(lateStatements) / float64(earlyStatements); ratio < 0.8 || ratio > 1.2 {
		t.Errorf("turn 1,000 runs %.2f times the statements of turn 10", ratio)
	}
	if ratio := float64(lateBytes) / float64(earlyBytes); ratio < 0.8 || ratio > 1.2 {
		t.Errorf("turn 1,000 writes %.2f times the bytes of turn 10", ratio)
	}
	s, _, err := runner.State(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Messages) != 2000 {
		t.Errorf("the thread holds %d messages, want 2000", len(s.Messages))
	}
}

func flush(t *testing.T, store *checkpoint.SQLite) {
	t.Helper()
	if err := store.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
