package checkpoint_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// moment is when the commits of these tests were made, unless they say else.
func moment() time.Time { return time.Date(2026, 11, 21, 8, 30, 15, 123456000, time.UTC) }

// writer holds a lease and follows the head.
type writer struct {
	t     *testing.T
	s     graph.Store
	lease graph.Lease
	head  graph.CommitID
}

// hold acquires a thread for longer than any test takes.
func hold(t *testing.T, s graph.Store, thread string) *writer {
	t.Helper()
	return &writer{t: t, s: s, lease: acquire(t, s, thread, graph.AcquireOptions{Owner: "holder", TTL: time.Hour})}
}

func acquire(t *testing.T, s graph.Store, thread string, o graph.AcquireOptions) graph.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), thread, o)
	if err != nil {
		t.Fatalf("Acquire(%q): %v", thread, err)
	}
	return l
}

// commit appends b to the head; it must succeed.
func (w *writer) commit(b graph.Batch) graph.CommitID {
	w.t.Helper()
	b.Parent = w.head
	id, err := w.s.Commit(w.t.Context(), w.lease, b)
	if err != nil {
		w.t.Fatalf("Commit: %v", err)
	}
	w.head = id
	return id
}

func (w *writer) pend(r graph.TaskResult) {
	w.t.Helper()
	if err := w.s.Pend(w.t.Context(), w.lease, r); err != nil {
		w.t.Fatalf("Pend: %v", err)
	}
}

// batch is a commit of one superstep with the given deltas.
func batch(deltas ...graph.Delta) graph.Batch {
	return graph.Batch{Commit: graph.Commit{
		Run: "run", Step: 1, Source: graph.SourceLoop, Status: graph.Running, Time: moment(), Deltas: deltas,
	}}
}

// delta is an update of a node, with a body that names it.
func delta(node string, rank int) graph.Delta {
	return graph.Delta{Node: node, Rank: rank, Body: []byte(`{"by":"` + node + `"}`)}
}

func withSnapshot(b graph.Batch, body string) graph.Batch {
	b.Snapshot = []byte(body)
	return b
}

func load(t *testing.T, s graph.Store, thread string, at graph.CommitID) (graph.Snapshot, []graph.Delta) {
	t.Helper()
	snapshot, deltas, err := s.Load(t.Context(), thread, at)
	if err != nil {
		t.Fatalf("Load(%q, %d): %v", thread, at, err)
	}
	return snapshot, deltas
}

// headOf returns the head of thread "t".
func headOf(t *testing.T, s graph.Store) graph.Commit {
	t.Helper()
	c, err := s.Head(t.Context(), "t")
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return c
}

func walk(t *testing.T, s graph.Store, thread string) []graph.Commit {
	t.Helper()
	var commits []graph.Commit
	for c, err := range s.Walk(t.Context(), thread, 0) {
		if err != nil {
			t.Fatalf("Walk(%q): %v", thread, err)
		}
		commits = append(commits, c)
	}
	return commits
}

func pendingOf(t *testing.T, s graph.Store, thread string) []graph.TaskResult {
	t.Helper()
	r, err := s.Pending(t.Context(), thread)
	if err != nil {
		t.Fatalf("Pending(%q): %v", thread, err)
	}
	return r
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error = %v, want one that is %q", what, err, want)
	}
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	t.Errorf("%s:\n got %s\nwant %s", what, show(got), show(want))
}

// show prints structures as JSON, with bodies readable.
func show(v any) string {
	if b, err := json.Marshal(v); err == nil && !slices.Contains([]string{"null", "{}"}, string(b)) {
		return string(b[:min(len(b), 2000)])
	}
	return reflect.ValueOf(v).String()
}

// base is the commit that replaces pruned commits.
func base(run string) graph.Batch {
	return graph.Batch{
		Commit:   graph.Commit{Run: run, Deltas: []graph.Delta{{Body: []byte(`{"whole":"` + longText("base") + `"}`)}}},
		Snapshot: []byte(`{"state":"` + longText("base") + `"}`),
	}
}

func prune(t *testing.T, s *checkpoint.SQLite, name string, at graph.CommitID, run string) {
	t.Helper()
	l := acquire(t, s, name, graph.AcquireOptions{TTL: time.Hour})
	if err := s.Prune(t.Context(), l, at, base(run)); err != nil {
		t.Fatalf("Prune(%q, %d): %v", name, at, err)
	}
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}
