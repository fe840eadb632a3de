package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// sum is a state that is smaller than its log: what was said last, and how often.
type sum struct {
	Last  string `json:"last"`
	Count int    `json:"count"`
}

func sumPlan(tb testing.TB) *graph.Plan[sum, string] {
	tb.Helper()
	node := func(name string) graph.Task[sum, string] {
		return graph.Task[sum, string]{Run: func(_ context.Context, s sum) (string, error) { return fmt.Sprint(name, s.Count), nil }}
	}
	plan, err := graph.Compile(graph.Graph[sum, string]{
		Apply: func(s sum, u string) (sum, error) { return sum{u, s.Count + 1}, nil },
		Restore: func(_, then sum) ([]string, error) { // an update adds one to the count
			return append(make([]string, then.Count-1), then.Last), nil
		},
		Nodes: map[string]graph.Task[sum, string]{"a": node("a"), "b": node("b"), "c": node("c")},
		Order: []string{"a", "b", "c"},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: "a", To: "b"}, {From: "a", To: "c"}, {From: "b", To: graph.End}, {From: "c", To: graph.End}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// TestManyThreads runs ten turns on each of 200 threads, or of 10,000 if RAGFLOW_FULL is set, 64 at a time.
// Once a tenth is done, memory grows no more, and at the end no goroutine is left.
func TestManyThreads(t *testing.T) {
	threads := 200
	if os.Getenv("RAGFLOW_FULL") != "" {
		threads = 10_000
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	r := sumPlan(t).Runner(graph.Options{Store: s, LeaseTTL: time.Hour})
	run := func(from, to int) {
		next := make(chan int)
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for i := range next {
					for turn := range 10 {
						got, err := r.Invoke(t.Context(), graph.Request[string]{Thread: strconv.Itoa(i), Input: "in"})
						if err != nil || got.Count != 4*(turn+1) {
							t.Errorf("thread %d, turn %d: %+v, %v", i, turn, got, err)
						}
					}
				}
			})
		}
		for i := from; i < to; i++ {
			next <- i
		}
		close(next)
		all.Wait()
	}
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	goroutines := runtime.NumGoroutine()
	run(0, threads/10)
	before := heap()
	run(threads/10, threads)
	grown := heap() - before
	if grown > 20<<20 {
		t.Errorf("memory grew by %d bytes, want at most 20 MiB", grown)
	}
	if got := runtime.NumGoroutine(); got > goroutines {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	size := fileSize(t, path)
	if each := size / int64(threads*10); each > 1024 {
		t.Errorf("%d bytes a turn, want at most 1,024", each)
	}
	t.Logf("%d threads × 10 turns: memory grew by %d KiB, the file has %.1f MB", threads, grown>>10, float64(size)/1e6)
}

// TestStatementsOfATurn counts the statements of a thread's second turn. The lease is taken in one transaction of four; the
// head is read for the test, with four; the commit updates the thread, inserts its row and two more deltas and deletes
// pending results, in seven; the release takes four. The commit reads nothing of the head, which this process wrote.
func TestStatementsOfATurn(t *testing.T) {
	s := openMemory(t)
	defer func() { _ = s.Close() }()
	say(t, s, "t", "first", `"in"`)
	before := s.Counters().Statements
	say(t, s, "t", "second", `"in"`)
	if got, want := s.Counters().Statements-before, int64(4+4+7+4); got != want {
		t.Errorf("%d statements, want %d", got, want)
	}
}

// TestSameStateEverywhere makes random threads, and compares the state of the run with the state folded from
// the log, from a fork, after a prune and after an import into another store: plain, encrypted and in memory.
func TestSameStateEverywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	plan := sumPlan(t)
	for round := range 60 {
		s := []*checkpoint.SQLite{
			open(t, filepath.Join(t.TempDir(), "threads.db")), openSealed(t, ":memory:", "a"), openMemory(t),
		}[round%3]
		var live sum
		var heads []graph.CommitID
		states := map[graph.CommitID]sum{}
		for range 1 + random.IntN(12) {
			r := plan.Runner(graph.Options{Store: s}) // remembers nothing
			got, err := r.Invoke(t.Context(), graph.Request[string]{Thread: "t", Input: strconv.Itoa(random.IntN(1000))})
			if err != nil {
				t.Fatal(err)
			}
			live = got
			head, err := s.Head(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			heads, states[head.ID] = append(heads, head.ID), live
		}
		same := func(what string, s *checkpoint.SQLite, thread string, at graph.CommitID, want sum) {
			t.Helper()
			got, err := plan.Runner(graph.Options{Store: s}).StateAt(t.Context(), thread, at)
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("round %d, %s at %d: %+v, %v, want %+v", round, what, at, got, err, want)
			}
		}
		newest := heads[len(heads)-1]
		same("reloaded", s, "t", newest, live)
		at := heads[random.IntN(len(heads))]
		if err := s.Copy(t.Context(), "t", at, "fork", nil); err != nil {
			t.Fatal(err)
		}
		same("forked", s, "fork", 0, states[at])
		a, err := s.Export(t.Context(), "t", 0)
		if err != nil {
			t.Fatal(err)
		}
		other := openSealed(t, ":memory:", "b")
		if err := other.Import(t.Context(), a, "other"); err != nil {
			t.Fatal(err)
		}
		same("imported", other, "other", 0, live)
		kept := random.IntN(len(heads))
		conditions := graph.Pruning{Thread: "t", KeepTurns: kept}
		if kept == 0 {
			conditions.MaxBytes = 1
		}
		did, err := plan.Runner(graph.Options{Store: s}).Prune(t.Context(), conditions)
		if err != nil || did.Kept != kept || did.At != heads[len(heads)-1-kept] {
			t.Fatalf("round %d: pruned %+v, %v, want %d kept", round, did, err, kept)
		}
		same("pruned", s, "t", newest, live)
		for _, at := range heads[len(heads)-1-kept:] {
			same("pruned", s, "t", at, states[at])
		}
		if err := s.Copy(t.Context(), "t", 0, "fork of what is left", nil); err != nil {
			t.Fatal(err)
		}
		same("forked after that", s, "fork of what is left", 0, live)
		same("the fork after that", s, "fork", 0, states[at])
		if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("round %d: findings %v, %v", round, found, err)
		}
		if err := errors.Join(s.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
