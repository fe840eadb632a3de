package graph_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// Runs are found by their metadata and status, in pages, also after a restart and a failure.
func TestRuns(t *testing.T) {
	p := build(t, "a b", map[string]node{"a": says("a"), "b": func(_ context.Context, s list) (item, error) {
		if s.Items[len(s.Items)-2] == "3" {
			return item{}, errFlaky
		}
		return item{"b"}, nil
	}}, "^ a, a b, b $")
	store := memstore.New()
	runner := func() *runner { return p.Runner(graph.Options{Store: store}) }
	for i := range 6 {
		q := ask{Thread: "t", Run: strconv.Itoa(i), Input: item{strconv.Itoa(i)}, Metadata: map[string]string{"parity": strconv.Itoa(i % 2), "of": "test"}}
		if i == 5 {
			q.Metadata = nil
		}
		if _, err := runner().Invoke(t.Context(), q); err != nil && i != 3 {
			t.Fatal(err)
		}
	}
	list := func(q graph.RunQuery) string {
		q.Thread = "t"
		runs, err := runner().Runs(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range runs {
			out = append(out, r.Run+" "+string(r.Status))
		}
		return strings.Join(out, ", ")
	}
	first, err := runner().Runs(t.Context(), graph.RunQuery{Thread: "t", Limit: 2})
	if err != nil || len(first) != 2 {
		t.Fatal(first, err)
	}
	if r := first[1]; r.Metadata["parity"] != "0" || r.Step != 2 || r.Last <= r.Input || r.Ended.Before(r.Began) {
		t.Errorf("run %+v", r)
	}
	for _, tt := range []struct {
		q    graph.RunQuery
		want string
	}{
		{graph.RunQuery{}, "5 completed, 4 completed, 3 superseded, 2 completed, 1 completed, 0 completed"},
		{graph.RunQuery{Before: first[1].Input, Limit: 2}, "3 superseded, 2 completed"},
		{graph.RunQuery{Metadata: map[string]string{"parity": "1"}}, "3 superseded, 1 completed"},
		{graph.RunQuery{Metadata: map[string]string{"parity": "1"}, Status: graph.Completed}, "1 completed"},
		{graph.RunQuery{Metadata: map[string]string{"of": "test"}, Limit: 1}, "4 completed"},
		{graph.RunQuery{Metadata: map[string]string{"other": ""}}, ""},
	} {
		if got := list(tt.q); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.q, got, tt.want)
		}
	}
	if _, err := runner().Runs(t.Context(), graph.RunQuery{Thread: "none"}); !errors.Is(err, graph.ErrNotFound) {
		t.Error(err)
	}
}
