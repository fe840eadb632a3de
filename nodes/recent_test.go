package nodes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

func TestExchangeKeepsWhatWasCited(t *testing.T) {
	st := searching(state.Query{Text: "q"})
	st.Turn.Sources = []state.Source{{Chunk: chunk("c1", "a.md", "Alpha.")}}
	after, _ := notes(t, generate(answererFunc(func(state.Task) (state.Answer, error) {
		return state.Answer{Text: "It is alpha. [Source 1]", Abstained: true, Model: "offline", Terms: []string{"alpha"}}, nil
	})), st)
	want := []state.Exchange{{Question: "q", Chunks: []string{"c1"}, QuoteEnds: []state.QuoteEnd{{Chunk: "c1", End: 6}}}}
	if diff := cmp.Diff(want, after.Recent); diff != "" {
		t.Errorf("recent (-want +got):\n%s", diff)
	}
}

func TestRetrievalOfEarlierCitations(t *testing.T) {
	s := shelf{
		lists:  map[string][]string{"q": {"a", "b", "c"}},
		chunks: map[string]state.Chunk{"a": chunk("a", "a.md", "A"), "c": chunk("c", "c.md", "C"), "d": chunk("d", "d.md", "D")},
	}
	search := func(q state.Query) (ids []string, of map[string]state.Hit) {
		t.Helper()
		after, _ := notes(t, nodes.Retrieval(nodes.Retrieving{Searcher: s, Workers: 1, Fuse: rank.RRF}), searching(q))
		of = map[string]state.Hit{}
		for _, h := range after.Turn.Hits {
			ids, of[h.Chunk] = append(ids, h.Chunk), h
		}
		return ids, of
	}
	ids, of := search(state.Query{Text: "q", Weight: 1, Attempt: 1, Cited: []string{"gone", "c", "d"}})
	if diff := cmp.Diff([]string{"c", "a", "b", "d"}, ids); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
	legs := of["c"].Legs
	if len(legs) != 2 || legs[0].Name != "cited" || legs[0].Rank != 1 || legs[1].Rank != 3 {
		t.Errorf("legs of a passage cited and found = %+v", legs)
	}
}

func TestPostRetrievalContinuesAfterQuotes(t *testing.T) {
	c := chunk("a", "a.md", "One is told.\nTwo is not.\n\nThree is not.")
	s := shelf{chunks: map[string]state.Chunk{"a": c, "b": chunk("b", "b.md", "Another page.")}}
	st := searching(state.Query{Text: "more"}, state.Query{Text: "q", Weight: 1, QuoteEnds: []state.QuoteEnd{{Chunk: "a", End: 12}, {Chunk: "b", End: 13}}})
	st.Turn.Hits = []state.Hit{{Chunk: "a", Score: 0.02}, {Chunk: "b", Score: 0.01}}
	after, _ := notes(t, nodes.PostRetrieval(s, nil, nodes.ContextOptions{}), ranked(st))
	want := c
	want.Text, want.Start, want.StartLine = "Two is not.\n\nThree is not.", 13, 2
	if diff := cmp.Diff([]state.Source{{Chunk: want, Score: 0.02}}, after.Turn.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}
