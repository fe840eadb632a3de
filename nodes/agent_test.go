package nodes_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// The turn keeps the cited sources first, renumbered, and others up to six; a mark of a
// source that does not exist is dropped.
func TestResearch(t *testing.T) {
	t.Parallel()
	r := nodes.Research{Answer: "Eight. [Source 8] Two. [Source 2] None. [Source 99]", Model: "small", Queries: []string{"again"}}
	for n := range 9 {
		r.Sources = append(r.Sources, state.Source{Chunk: state.Chunk{ID: fmt.Sprint("c", n+1)}})
	}
	s := state.State{Turn: state.Turn{Queries: []state.Query{{Text: "first"}}}}
	u := r.Update(s)
	var ids []string
	for _, source := range *u.Sources {
		ids = append(ids, source.ID)
	}
	if diff := cmp.Diff([]string{"c8", "c2", "c1", "c3", "c4", "c5"}, ids); diff != "" {
		t.Error(diff)
	}
	if want := "Eight. [Source 1] Two. [Source 2] None."; *u.Answer != want || *u.Model != "small" {
		t.Errorf("%q by %s, want %q", *u.Answer, *u.Model, want)
	}
	want := []state.Query{{Text: "first"}, {Text: "again", Weight: 1, Why: nodes.AgentID, Attempt: 1}}
	if diff := cmp.Diff(want, *u.Queries); diff != "" || len(s.Turn.Queries) != 1 {
		t.Error(diff)
	}
}
