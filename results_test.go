package ragflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestCachedSearch: a search is answered from the cache if the same was searched for in the same way, unless it wants
// to be fresh. Answers and results are kept independently of each other.
func TestCachedSearch(t *testing.T) {
	config := cached(ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	config.Cache.On = false
	a := open(t, config)
	find := func(query string, o ragflow.SearchOptions) *ragflow.SearchReply {
		t.Helper()
		r, err := a.Search(t.Context(), query, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := find("water basil", ragflow.SearchOptions{})
	again := find(" water  basil", ragflow.SearchOptions{})
	if d := cmp.Diff(first, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ragflow.SearchReply{}, "Cached")); d != "" || again.Cached == nil || len(first.Hits) == 0 || first.Hits[0].FileHash == "" {
		t.Errorf("%v: (-first +again) %s", again.Cached, d)
	}
	for name, o := range map[string]ragflow.SearchOptions{
		"fresh": {Fresh: true}, "plain": {Plain: true}, "fewer": {Request: search.Request{K: 1}}, "scores": {Request: search.Request{MinScore: 0.1}},
	} {
		if r := find("water basil", o); r.Cached != nil {
			t.Errorf("%s: from the cache", name)
		}
	}
	var none state.Filter
	if err := none.Add("title=nothing"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := find("water basil", ragflow.SearchOptions{Request: search.Request{Filter: none}}); r.Cached != nil || len(r.Warnings) == 0 {
			t.Errorf("a search with a warning: %+v", r)
		}
	}
	if r, err := a.Analytics(t.Context(), ragflow.AnalyticsQuery{}); err != nil || r.CachedSearches != 1 || r.Searches != 8 || r.Cached != 0 {
		t.Errorf("logged %+v, %v", r, err)
	}
	const question = "How often should I water a basil plant?"
	ask(t, a, "", question)
	if r := ask(t, a, "", question); r.Cached != nil {
		t.Error("an answer was kept")
	}
	config.Cache.On, config.Cache.Results, config.DataDir = true, false, t.TempDir()
	a = open(t, config)
	for range 2 {
		if r := find("water basil", ragflow.SearchOptions{}); r.Cached != nil {
			t.Error("results were kept")
		}
	}
}
