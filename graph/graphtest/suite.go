package graphtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// clause is one test of a store.
type clause struct {
	name string
	run  func(t *testing.T, s graph.Store)
}

// Run tests a store. open returns a new, empty store for each clause. A store that is an
// io.Closer is closed after the clause. The clauses of pruning, copying and listing run only if the
// store is a graph.Pruner, a graph.Copier or a graph.Lister. A graph.Lister reads updates with [Texts].
func Run(t *testing.T, open func(t *testing.T) graph.Store) {
	t.Helper()
	for _, topic := range []struct {
		name    string
		clauses []clause
	}{
		{"lease", leaseClauses()},
		{"release", releaseClauses()},
		{"commit", commitClauses()},
		{"load", loadClauses()},
		{"pending", pendingClauses()},
		{"walk", walkClauses()},
		{"content", contentClauses()},
		{"notes", notesClauses()},
		{"concurrency", concurrencyClauses()},
		{"prune", pruneClauses()},
		{"copy", copyClauses()},
		{"threads", threadClauses()},
		{"owners", ownerClauses()},
		{"edits", editClauses()},
		{"people", peopleClauses()},
	} {
		t.Run(topic.name, func(t *testing.T) {
			for _, c := range topic.clauses {
				t.Run(c.name, func(t *testing.T) {
					s := open(t)
					t.Cleanup(func() { closeStore(t, s) })
					c.run(t, s)
				})
			}
		})
	}
}

// need makes clauses skip a store that does not implement I.
func need[I any](clauses []clause) []clause {
	for i, c := range clauses {
		clauses[i].run = func(t *testing.T, s graph.Store) {
			t.Helper()
			if _, ok := s.(I); !ok {
				t.Skipf("the store is no %v", reflect.TypeFor[I]())
			}
			c.run(t, s)
		}
	}
	return clauses
}

// RunPersistent tests a store with its data in a folder: all of [Run], and that a store that is
// opened again in the same folder has the same content.
func RunPersistent(t *testing.T, open func(t *testing.T, dir string) graph.Store) {
	t.Helper()
	Run(t, func(t *testing.T) graph.Store {
		t.Helper()
		return open(t, t.TempDir())
	})
	t.Run("reopen", func(t *testing.T) {
		for _, c := range reopenClauses() {
			t.Run(c.name, func(t *testing.T) {
				dir := t.TempDir()
				s := open(t, dir)
				c.before(t, s)
				closeStore(t, s)
				s = open(t, dir)
				t.Cleanup(func() { closeStore(t, s) })
				c.after(t, s)
			})
		}
	})
}

func closeStore(t *testing.T, s graph.Store) {
	t.Helper()
	if c, ok := s.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// moment is the default time of commits in these tests.
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

func result(node string, rank int) graph.TaskResult {
	return graph.TaskResult{Run: "run", Step: 1, Attempt: 1, Delta: delta(node, rank)}
}

func withSnapshot(b graph.Batch, body string) graph.Batch {
	b.Snapshot = []byte(body)
	return b
}

// nodes lists whose deltas these are.
func nodes(deltas []graph.Delta) []string {
	var names []string
	for _, d := range deltas {
		names = append(names, d.Node)
	}
	return names
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

func walk(t *testing.T, s graph.Store, thread string, from graph.CommitID) []graph.Commit {
	t.Helper()
	var commits []graph.Commit
	for c, err := range s.Walk(t.Context(), thread, from) {
		if err != nil {
			t.Fatalf("Walk(%q, %d): %v", thread, from, err)
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

// longText is a text that fills more than one page of some databases.
func longText(what string) string { return strings.Repeat(what+" ", 200) }

// turn commits an input and a step of one run, and returns the last commit.
func (w *writer) turn(n int) graph.CommitID {
	w.t.Helper()
	run := fmt.Sprint(w.lease.Thread, " run ", n)
	w.commit(graph.Batch{Commit: graph.Commit{
		Run: run, Source: graph.SourceInput, Status: graph.Running, Time: moment(), Frontier: []string{"a"},
		Deltas: []graph.Delta{{Body: fmt.Appendf(nil, `{"question":%d,"text":"%s"}`, n, longText("shared"))}},
	}})
	notes := graph.Notes{Start: moment().Add(-1234567), Duration: 987654321, Warnings: []string{longText("note")}}
	return w.commit(graph.Batch{Commit: graph.Commit{
		Run: run, Step: 1, Source: graph.SourceLoop, Status: graph.Completed, Time: moment(), Fingerprint: "f",
		Deltas: []graph.Delta{
			{Node: "a", Body: fmt.Appendf(nil, `{ "answer" : %d, "tag":"<&\u2028>", "own":"%s"}`, n, longText(w.lease.Thread)), Notes: notes},
			{Node: "b", Rank: 1, Error: "no\tluck", Notes: graph.Notes{Skipped: "why"}},
		},
	}})
}

// thread creates a thread of three turns and releases its lease.
func thread(t *testing.T, s graph.Store, name string) []graph.Commit {
	t.Helper()
	w := hold(t, s, name)
	for n := range 3 {
		w.turn(n)
	}
	w.release()
	return walk(t, s, name, 0)
}

func (w *writer) release() {
	w.t.Helper()
	if err := w.s.Release(w.t.Context(), w.lease); err != nil {
		w.t.Fatalf("Release: %v", err)
	}
}

// bare removes the fields of commits that depend on the store.
func bare(commits []graph.Commit) []graph.Commit {
	out := append([]graph.Commit{}, commits...)
	for i := range out {
		out[i].ID, out[i].Parent, out[i].Thread = 0, 0, ""
	}
	return out
}
