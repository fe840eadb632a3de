package checkpoint_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// An edit of a subgraph that waits for an answer is there after the file was closed and opened again.
func TestEditOfSubgraphIsReopened(t *testing.T) {
	concat := func(s, u string) (string, error) { return s + u, nil }
	inner := graph.MustCompile(graph.Graph[string, string]{
		Apply: concat,
		Nodes: map[string]graph.Task[string, string]{"y": {Run: func(ctx context.Context, s string) (string, error) {
			yes, err := graph.Ask[string](ctx, "k", s)
			return "(" + s + ")" + yes, err
		}}},
		Edges: graph.Chain(graph.Start, "y", graph.End),
	})
	outer := graph.MustCompile(graph.Graph[string, string]{
		Apply: concat,
		Nodes: map[string]graph.Task[string, string]{"sub": graph.Sub(
			inner, func(s string) string { return s }, func(_, end string) string { return ":" + end },
		)},
		Edges: graph.Chain(graph.Start, "sub", graph.End),
	})
	path := filepath.Join(t.TempDir(), "threads.db")
	opened := func(do func(s *checkpoint.SQLite, o graph.Options)) {
		s := open(t, path)
		do(s, graph.Options{Store: s})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	opened(func(_ *checkpoint.SQLite, o graph.Options) {
		_, err := outer.Runner(o).Invoke(t.Context(), graph.Request[string]{Thread: "t", Input: "in"})
		if _, asked := errors.AsType[*graph.InterruptError](err); !asked {
			t.Fatal(err)
		}
	})
	opened(func(_ *checkpoint.SQLite, o graph.Options) {
		for _, u := range []string{"-a", "-b"} {
			if _, _, err := inner.Runner(o).Update(t.Context(), graph.Edit[string, string]{Thread: "t", Path: "sub", Updates: []string{u}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	opened(func(s *checkpoint.SQLite, o graph.Options) {
		got, err := outer.Runner(o).Invoke(t.Context(), graph.Request[string]{Thread: "t", Resume: true, Answers: map[string]any{"k": "yes"}})
		if want := "in:in-a-b(in-a-b)yes"; err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		findings, err := s.Verify(t.Context())
		if err != nil || len(findings) > 0 {
			t.Errorf("verify: %v, %v", findings, err)
		}
	})
}
