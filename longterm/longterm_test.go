package longterm_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/longterm"
	"example.com/ragflow/longterm/longtermtest"
)

func TestStore(t *testing.T) {
	for _, path := range []string{":memory:", "file"} {
		t.Run(path, func(t *testing.T) {
			longtermtest.Test(t, func(t *testing.T, o longterm.Options) *longterm.Store {
				t.Helper()
				place := path
				if place == "file" {
					place = filepath.Join(t.TempDir(), "facts.db")
				}
				s, err := longterm.Open(t.Context(), place, o)
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

// TestFactsOutliveTheProcess closes a store and opens its file again.
func TestFactsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts.db")
	for i := range 2 {
		s, err := longterm.Open(t.Context(), path, longterm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := s.Get(t.Context(), longterm.Namespace{"a"}, "k"); (err == nil) != (i == 1) {
			t.Errorf("open %d: %v, %v", i+1, f, err)
		}
		if err := s.Put(t.Context(), longterm.Namespace{"a"}, "k", i); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSearchAmongVeryMany: there is no number of facts above which a search fails.
func TestSearchAmongVeryMany(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 100,001 facts")
	}
	s, err := longterm.Open(t.Context(), ":memory:", longterm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	place := longterm.Namespace{"a"}
	for i := range 100_001 {
		if err := s.Put(t.Context(), place, strconv.Itoa(i), i); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []longterm.Query{{Text: "99999"}, {Where: map[string]any{"x": 1}}, {Limit: 1}} {
		found, err := s.Search(t.Context(), nil, q)
		if err != nil || len(found) != map[bool]int{true: 1, false: 0}[q.Where == nil] {
			t.Errorf("%+v: %d facts, %v", q, len(found), err)
		}
	}
}

// A node remembers what a person said, and finds it in another thread.
func ExampleStore() {
	type said struct {
		Text string `json:"text"`
	}
	memory, err := longterm.Open(context.Background(), ":memory:", longterm.Options{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	place := longterm.Namespace{"users", "ann"}
	node := func(ctx context.Context, s said) (said, error) {
		known, err := memory.Search(ctx, place, longterm.Query{Text: s.Text})
		if err != nil {
			return said{}, err
		}
		for _, f := range known {
			return said{"I know: " + string(f.Value)}, nil
		}
		return said{"I shall remember that."}, memory.Put(ctx, place, "diet", s.Text)
	}
	plan, err := graph.Compile(graph.Graph[said, said]{
		Name: "memory", Apply: func(_, u said) (said, error) { return u, nil },
		Nodes: map[string]graph.Task[said, said]{"talk": {Run: node}},
		Edges: []graph.Edge{{From: graph.Start, To: "talk"}, {From: "talk", To: graph.End}},
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, text := range []string{"I eat no meat", "may I offer meat?"} {
		answer, err := plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[said]{Input: said{text}})
		fmt.Println(answer.Text, err)
	}
	// Output:
	// I shall remember that. <nil>
	// I know: "I eat no meat" <nil>
}
