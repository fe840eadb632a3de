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

// Threads are found by the metadata of their runs and edits, in pages; a prune keeps it.
func TestThreads(t *testing.T) {
	p, err := graph.Compile(graph.Graph[list, item]{
		Name: "test", Apply: appendItem, Nodes: tasks{"a": {Run: says("a")}}, Edges: chain(graph.Start, "a", graph.End),
		Restore: func(now, then list) (us []item, err error) {
			for _, i := range then.Items[len(now.Items):] {
				us = append(us, item{i})
			}
			return us, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runner(graph.Options{Store: memstore.New()})
	for i := range 6 {
		q := ask{Thread: "t" + strconv.Itoa(i%5), Metadata: map[string]string{"user": strconv.Itoa(i % 2), "turn": strconv.Itoa(i)}}
		if _, err := r.Invoke(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Update(t.Context(), graph.Edit[list, item]{Thread: "t3", Metadata: map[string]string{"starred": "yes"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prune(t.Context(), graph.Pruning{Thread: "t0", KeepTurns: 1}); err != nil {
		t.Fatal(err)
	}
	find := func(q graph.ThreadQuery) (names string, next int64) {
		found, err := r.Threads(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range found.Threads {
			names += " " + i.Thread + i.Metadata["turn"] + i.Metadata["starred"]
		}
		return names, found.Next
	}
	_, second := find(graph.ThreadQuery{Limit: 2})
	for _, tt := range []struct {
		q    graph.ThreadQuery
		want string
	}{
		{graph.ThreadQuery{}, " t33yes t05 t44 t22 t11"},
		{graph.ThreadQuery{Limit: 2}, " t33yes t05"},
		{graph.ThreadQuery{Limit: 2, After: second}, " t44 t22"},
		{graph.ThreadQuery{Metadata: map[string]string{"user": "1"}}, " t33yes t05 t11"},
		{graph.ThreadQuery{Metadata: map[string]string{"user": "1", "starred": "yes"}}, " t33yes"},
		{graph.ThreadQuery{Status: graph.Failed}, ""},
	} {
		if got, _ := find(tt.q); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.q, got, tt.want)
		}
	}
	if _, err := p.Runner(graph.Options{}).Threads(t.Context(), graph.ThreadQuery{}); !errors.Is(err, graph.ErrNoList) {
		t.Error(err)
	}
}
