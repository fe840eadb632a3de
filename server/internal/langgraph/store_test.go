package langgraph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/langgraph"
)

// TestNoStore: a graph whose threads are not saved cannot be served, and the error names it.
func TestNoStore(t *testing.T) {
	t.Parallel()
	plan := graph.MustCompile(graph.Graph[order, order]{
		Name: "lost", Apply: func(s, _ order) (order, error) { return s, nil }, Edges: graph.Chain(graph.Start, "a", graph.End),
		Nodes: map[string]graph.Task[order, order]{"a": {Run: func(_ context.Context, s order) (order, error) { return s, nil }}},
	})
	_, err := langgraph.Routes(map[string]untyped.Runner{"lost": untyped.Of(plan.Runner(graph.Options{}))}, nil, "test")
	if !errors.Is(err, graph.ErrNoList) || !strings.Contains(err.Error(), `"lost"`) {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	f.do(204, "PUT", "/store/items", `{"namespace":["a","b"],"key":"k","value":{"x":1}}`)
	if got := f.do(200, "GET", "/store/items?namespace=a.b&key=k", ""); at(got, "value", "x") != 1.0 {
		t.Errorf("%v", got)
	}
	if got := f.do(200, "POST", "/store/items/search", `{"namespace_prefix":["a"]}`); at(got, "items", 0, "namespace", 1) != "b" {
		t.Errorf("%v", got)
	}
	if got := f.do(200, "POST", "/store/namespaces", `{"max_depth":1}`); at(got, "namespaces", 0, 0) != "a" {
		t.Errorf("%v", got)
	}
	f.do(204, "DELETE", "/store/items", `{"namespace":["a","b"],"key":"k"}`)
	if got := f.do(200, "GET", "/store/items?namespace=a&namespace=b&key=k", ""); got != nil {
		t.Errorf("%v", got)
	}
}
