package graph_test

import (
	"context"
	"fmt"
	"testing"

	"example.com/ragflow/graph"
)

// big is a state of 100 KB.
type big struct {
	Filler [100 << 10 / 8]int64
	N      int
}

// chainOf compiles 100 nodes that do nothing, one after the other.
func chainOf[S any](tb testing.TB) *graph.Runner[*S, int] {
	tb.Helper()
	g := graph.Graph[*S, int]{
		Apply: func(s *S, _ int) (*S, error) { return s, nil },
		Nodes: map[string]graph.Task[*S, int]{},
	}
	from := graph.Start
	for i := range 100 {
		name := fmt.Sprintf("n%d", i)
		g.Nodes[name] = graph.Task[*S, int]{Run: func(context.Context, *S) (int, error) { return 0, nil }}
		g.Order = append(g.Order, name)
		g.Edges = append(g.Edges, graph.Edge{From: from, To: name})
		from = name
	}
	g.Edges = append(g.Edges, graph.Edge{From: from, To: graph.End})
	p, err := graph.Compile(g)
	if err != nil {
		tb.Fatal(err)
	}
	return p.Runner(graph.Options{MaxSteps: 100})
}

func BenchmarkChain(b *testing.B) {
	b.Run("small", func(b *testing.B) { benchChain[struct{}](b) })
	b.Run("100KB", func(b *testing.B) { benchChain[big](b) })
}

func benchChain[S any](b *testing.B) {
	b.Helper()
	r := chainOf[S](b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Invoke(b.Context(), graph.Request[int]{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/step")
}

func BenchmarkFanOut(b *testing.B) {
	const n = 1000
	parts := make([]int, n)
	for _, limit := range []int{0, 4} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			fan := graph.FanOut(limit,
				func(int) []int { return parts },
				func(context.Context, int, int) (int, error) { return 1, nil },
				func(_ int, us []int) (int, error) {
					sum := 0
					for _, u := range us {
						sum += u
					}
					return sum, nil
				})
			p, err := graph.Compile(graph.Graph[int, int]{
				Apply: add, Nodes: map[string]graph.Task[int, int]{"fan": {Run: fan}},
				Order: []string{"fan"}, Edges: chain(graph.Start, "fan", graph.End),
			})
			if err != nil {
				b.Fatal(err)
			}
			r := p.Runner(graph.Options{})
			b.ReportAllocs()
			for b.Loop() {
				if got, err := r.Invoke(b.Context(), graph.Request[int]{}); err != nil || got != n {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/task")
		})
	}
}

func BenchmarkFirstEvent(b *testing.B) {
	r := chainOf[struct{}](b)
	for b.Loop() {
		for _, err := range r.Stream(b.Context(), graph.Request[int]{}) {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	}
}
