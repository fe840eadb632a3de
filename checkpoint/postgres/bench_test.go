package postgres_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/threads"
)

// stores are the stores that are measured beside each other.
func stores(b *testing.B) map[string]func() threads.Store {
	b.Helper()
	sqlite := func(d checkpoint.Durability) func() threads.Store {
		return func() threads.Store {
			s, err := checkpoint.Open(b.Context(), filepath.Join(b.TempDir(), "threads.db"), checkpoint.Options{Durability: d})
			if err != nil {
				b.Fatal(err)
			}
			return s
		}
	}
	return map[string]func() threads.Store{
		"PostgreSQL":      func() threads.Store { return open(b, schema(b)) },
		"SQLite":          sqlite(checkpoint.ProcessCrash),
		"SQLitePowerLoss": sqlite(checkpoint.PowerLoss),
	}
}

// BenchmarkCommitIntegration is one durable superstep of one task.
func BenchmarkCommitIntegration(b *testing.B) {
	server(b)
	for name, open := range stores(b) {
		b.Run(name, func(b *testing.B) {
			s := open()
			defer func() { _ = s.Close() }()
			l, err := s.Acquire(b.Context(), "t", graph.AcquireOptions{TTL: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			body := []byte(`{"text":"` + strings.Repeat("word ", 80) + `"}`)
			for b.Loop() {
				l.Head, err = s.Commit(b.Context(), l, graph.Batch{Commit: graph.Commit{
					Parent: l.Head, Run: "run", Step: 1, Source: graph.SourceLoop, Status: graph.Running, Deltas: []graph.Delta{{Node: "n", Body: body}},
				}})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTurnsIntegration is one turn of the engine, of three nodes in four commits, by
// writers that each have a thread.
func BenchmarkTurnsIntegration(b *testing.B) {
	server(b)
	node := func(name string) graph.Task[[]string, string] {
		return graph.Task[[]string, string]{Run: func(context.Context, []string) (string, error) { return name + strings.Repeat(" word", 80), nil }}
	}
	plan, err := graph.Compile(graph.Graph[[]string, string]{
		Apply: func(s []string, u string) ([]string, error) { return append(slices.Clip(s), u), nil },
		Nodes: map[string]graph.Task[[]string, string]{"a": node("a"), "b": node("b"), "c": node("c")},
		Order: []string{"a", "b", "c"},
		Edges: []graph.Edge{{From: graph.Start, To: "a"}, {From: "a", To: "b"}, {From: "b", To: "c"}, {From: "c", To: graph.End}},
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, open := range stores(b) {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				s := open()
				defer func() { _ = s.Close() }()
				r := plan.Runner(graph.Options{Store: s, Owner: "bench"})
				const each = 10
				round := 0
				for b.Loop() {
					round++
					var all sync.WaitGroup
					for w := range writers {
						all.Go(func() {
							for range each {
								if _, err := r.Invoke(b.Context(), graph.Request[string]{Thread: fmt.Sprint(round, "-", w), Input: "in"}); err != nil {
									b.Error(err)
								}
							}
						})
					}
					all.Wait()
				}
				b.ReportMetric(float64(b.N*writers*each)/b.Elapsed().Seconds(), "turns/s")
			})
		}
	}
}
