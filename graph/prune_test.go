package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// pruned compiles a graph of one node whose states can be made from nothing.
func pruned(t *testing.T, restore func(now, then list) ([]item, error), n node) *graph.Plan[list, item] {
	t.Helper()
	return must(graph.Graph[list, item]{
		Apply: appendItem, Restore: restore,
		Nodes: tasks{"a": {Run: n}}, Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
	})
}

// fromNothing returns what appends all that then has and now has not.
func fromNothing(now, then list) ([]item, error) {
	var out []item
	for _, w := range then.Items[len(now.Items):] {
		out = append(out, item{w})
	}
	return out, nil
}

// TestPrune: of four turns, one taken back, each condition keeps those it names,
// and the state is the same before and after, for every reader.
func TestPrune(t *testing.T) {
	began := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		p       graph.Pruning
		want    graph.Pruned
		sources string
	}{
		{"the last two turns", graph.Pruning{KeepTurns: 2}, graph.Pruned{Turns: 1, Kept: 2, Commits: 2, Bytes: 22, At: 2}, "base input loop input loop undo input loop"},
		{"since a minute", graph.Pruning{Before: began.Add(time.Minute)}, graph.Pruned{Turns: 1, Kept: 2, Commits: 2, Bytes: 22, At: 2}, "base input loop input loop undo input loop"},
		{"of a size", graph.Pruning{MaxBytes: 71}, graph.Pruned{Turns: 2, Kept: 1, Commits: 7, Bytes: 77, At: 7}, "base input loop"},
		{"of no size at all", graph.Pruning{MaxBytes: 1}, graph.Pruned{Turns: 3, Commits: 9, Bytes: 99, At: 9}, "base"},
		{"every condition counts", graph.Pruning{KeepTurns: 2, MaxBytes: 71}, graph.Pruned{Turns: 2, Kept: 1, Commits: 7, Bytes: 77, At: 7}, "base input loop"},
		{"nothing to drop", graph.Pruning{KeepTurns: 9}, graph.Pruned{Kept: 3}, "input loop input loop input loop undo input loop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, now := newMemStore(), began
			plan := pruned(t, fromNothing, says("x"))
			o := graph.Options{Store: m, Clock: func() time.Time { return now }}
			r := plan.Runner(o)
			for i := range 3 {
				if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{strconv.Itoa(i)}}); err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Minute)
			}
			// The third turn is taken back, by an update that changes nothing much.
			if _, _, err := r.Update(t.Context(), edit{Thread: "t", Source: graph.SourceUndo, Change: adds("u")}); err != nil {
				t.Fatal(err)
			}
			before, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"3"}})
			if err != nil {
				t.Fatal(err)
			}
			tt.p.Thread, tt.p.DryRun = "t", true
			plans, err := r.Prune(t.Context(), tt.p)
			if diff := cmp.Diff(tt.want, plans); err != nil || diff != "" || len(history(m)) != 9 {
				t.Fatalf("dry run: %v (-want +got):\n%s", err, diff)
			}
			tt.p.DryRun = false
			if got, err := r.Prune(t.Context(), tt.p); err != nil || got != tt.want {
				t.Fatalf("Prune = %+v, %v, want %+v", got, err, tt.want)
			}
			var sources []string
			for _, c := range history(m) {
				sources = append(sources, string(c.Source))
			}
			if got := strings.Join(sources, " "); got != tt.sources {
				t.Errorf("log %s, want %s", got, tt.sources)
			}
			for name, r := range map[string]*runner{"the same runner": r, "another": plan.Runner(o)} {
				if after, _, err := r.State(t.Context(), "t"); err != nil || !cmp.Equal(before, after) {
					t.Errorf("state by %s: %v, %v, want %v", name, after, err, before)
				}
			}
			if again, err := r.Prune(t.Context(), tt.p); err != nil || again.Commits != 0 || again.At != 0 {
				t.Errorf("pruning again: %+v, %v, want nothing to go", again, err)
			}
			if next, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"4"}}); err != nil || len(next.Items) != len(before.Items)+2 {
				t.Errorf("the next turn: %v, %v", next, err)
			}
		})
	}
}

// TestPruneKeepsWhatHasNotEnded: a run that failed can be resumed after pruning,
// and one that an update began, without any input, is left alone.
func TestPruneKeepsWhatHasNotEnded(t *testing.T) {
	fail := true
	r := must(graph.Graph[list, item]{
		Apply: appendItem, Restore: fromNothing,
		Nodes: tasks{"first": {Run: says("f")}, "second": {Run: func(_ context.Context, s list) (item, error) {
			if fail && len(s.Items) > 3 {
				return item{}, errFlaky
			}
			return item{"x"}, nil
		}}},
		Order: []string{"first", "second"}, Edges: chain(graph.Start, "first", "second", graph.End),
	}).Runner(graph.Options{Store: newMemStore()})
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"0"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"1"}}); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	all := graph.Pruning{Thread: "t", MaxBytes: 1}
	if got, err := r.Prune(t.Context(), all); err != nil || got.Turns != 1 || got.Kept != 1 {
		t.Errorf("Prune = %+v, %v, want the ended turn to go", got, err)
	}
	fail = false
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(s) != "0fx1fx" {
		t.Errorf("resumed: %v, %v", s, err)
	}
	if got, err := r.Prune(t.Context(), all); err != nil || got.Kept != 0 {
		t.Errorf("Prune = %+v, %v, want all to go", got, err)
	}
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", As: "first", Change: adds("by hand")}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Prune(t.Context(), all); err != nil || got != (graph.Pruned{}) {
		t.Errorf("Prune of a run that an update began = %+v, %v, want nothing to go", got, err)
	}
	if s, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); err != nil || whole(s) != "0fx1fxby handx" {
		t.Errorf("resumed: %v, %v", s, err)
	}
}

// TestPruneRefuses: what cannot be pruned is told, and nothing changes.
func TestPruneRefuses(t *testing.T) {
	some := graph.Pruning{Thread: "t", KeepTurns: 1}
	for _, tt := range []struct {
		name    string
		restore func(now, then list) ([]item, error)
		store   func(*memStore) graph.Store
		p       graph.Pruning
		want    error  // matched, or
		text    string // contained
	}{
		{"no condition", fromNothing, nil, graph.Pruning{Thread: "t"}, graph.ErrNoCondition, ""},
		{"an unknown thread", fromNothing, nil, graph.Pruning{Thread: "unknown", KeepTurns: 1}, graph.ErrNotFound, ""},
		{"no store", fromNothing, func(*memStore) graph.Store { return nil }, some, graph.ErrNotFound, ""},
		{"a store that cannot", fromNothing, func(m *memStore) graph.Store { return struct{ graph.Store }{m} }, some, graph.ErrNoPruning, ""},
		{"a graph without Restore", nil, nil, some, nil, "the graph has no Restore"},
		{"a Restore that fails", func(list, list) ([]item, error) { return nil, errRefused }, nil, some, errRefused, ""},
		{"a Restore that panics", func(list, list) ([]item, error) { panic("no") }, nil, some, nil, "panic: no"},
		{"a Restore that forgets", func(list, list) ([]item, error) { return nil, nil }, nil, some, nil, "the updates of Restore do not give the state of commit 4"},
		{"a Restore that Apply refuses", func(list, list) ([]item, error) { return []item{{"bad"}}, nil }, nil, some, errRefused, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemStore()
			full := pruned(t, fromNothing, says("x")).Runner(graph.Options{Store: m})
			for range 3 {
				if _, err := full.Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}}); err != nil {
					t.Fatal(err)
				}
			}
			before := logged(m)
			var s graph.Store = m
			if tt.store != nil {
				s = tt.store(m)
			}
			_, err := pruned(t, tt.restore, says("x")).Runner(graph.Options{Store: s}).Prune(t.Context(), tt.p)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want %v %s", err, tt.want, tt.text)
			}
			if diff := cmp.Diff(before, logged(m)); diff != "" || m.threads["unknown"] != nil {
				t.Errorf("the log changed:\n%s", diff)
			}
			if _, err := full.Invoke(t.Context(), ask{Thread: "t", Input: item{"next"}}); err != nil {
				t.Errorf("the thread is not free afterwards: %v", err)
			}
		})
	}
}

// TestPruneBeside: a thread that a run holds is busy, and who lost the lease
// meanwhile prunes nothing.
func TestPruneBeside(t *testing.T) {
	m := newMemStore()
	r := pruned(t, fromNothing, says("x")).Runner(graph.Options{Store: m})
	for range 2 {
		if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"in"}}); err != nil {
			t.Fatal(err)
		}
	}
	before := logged(m)
	l, err := m.Acquire(t.Context(), "t", graph.AcquireOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prune(t.Context(), graph.Pruning{Thread: "t", KeepTurns: 1}); !errors.Is(err, graph.ErrBusy) {
		t.Errorf("a held thread: error = %v, want ErrBusy", err)
	}
	if err := m.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	m.before = func(op string) error {
		if op == "prune" {
			m.threads["t"].lease.Token++
		}
		return nil
	}
	if _, err := r.Prune(t.Context(), graph.Pruning{Thread: "t", KeepTurns: 1}); !errors.Is(err, graph.ErrSuperseded) {
		t.Errorf("a lost lease: error = %v, want ErrSuperseded", err)
	}
	if diff := cmp.Diff(before, logged(m)); diff != "" {
		t.Errorf("the log changed:\n%s", diff)
	}
}

// Of a long conversation only the last turn stays in the log; facts about
// all of them stay.
func ExampleRunner_Prune() {
	plan := must(graph.Graph[[]string, []string]{
		Apply:   func(s, u []string) ([]string, error) { return append(slices.Clip(s), u...), nil },
		Restore: func(_, then []string) ([][]string, error) { return [][]string{then}, nil },
		Nodes: map[string]graph.Task[[]string, []string]{"answer": {Run: func(_ context.Context, s []string) ([]string, error) {
			return []string{"re: " + s[len(s)-1]}, nil
		}}},
		Order: []string{"answer"},
		Edges: []graph.Edge{{From: graph.Start, To: "answer"}, {From: "answer", To: graph.End}},
	})
	r, ctx := plan.Runner(graph.Options{Store: newMemStore()}), context.Background()
	for _, q := range []string{"rain?", "snow?", "wind?"} {
		if _, err := r.Invoke(ctx, graph.Request[[]string]{Thread: "weather", Input: []string{q}}); err != nil {
			fmt.Println(err)
		}
	}
	did, err := r.Prune(ctx, graph.Pruning{Thread: "weather", KeepTurns: 1})
	fmt.Println(did.Turns, "turns went,", did.Commits, "commits,", err)
	s, _, err := r.State(ctx, "weather")
	fmt.Println(s, err)
	history, err := r.History(ctx, "weather", 0, 10)
	for _, m := range history {
		fmt.Println(m.Commit.Source, len(m.State))
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2 turns went, 4 commits, <nil>
	// [rain? re: rain? snow? re: snow? wind? re: wind?] <nil>
	// loop 6
	// input 5
	// base 4
}
