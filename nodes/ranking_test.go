package nodes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// ranked returns st with its hits in the order of the search.
func ranked(st state.State) state.State {
	for i, h := range st.Turn.Hits {
		st.Turn.Ranking.Hits, st.Turn.Ranking.Scores = append(st.Turn.Ranking.Hits, i), append(st.Turn.Ranking.Scores, h.Score)
	}
	return st
}

// lastFirst is a reranker that reverses the order. It is a model if judged is set.
type lastFirst struct {
	judged *float64
	err    error
	calls  *int
}

func (lastFirst) By() string { return "judge" }

func (r lastFirst) Rerank(_ context.Context, _ []state.Query, candidates []state.Source) (nodes.Reranked, error) {
	*r.calls++
	out := slices.Clone(candidates)
	slices.Reverse(out)
	for i := range out {
		out[i].Score = 0.9123456789 / float64(i+1)
	}
	return nodes.Reranked{Sources: out, Judged: r.judged}, r.err
}

// TestRetrievalRanks: each attempt ranks once, and the ranking is what the context follows.
func TestRetrievalRanks(t *testing.T) {
	same := "volumes keep the data of a container when the container itself is long gone and removed from the host"
	s := shelf{
		lists:  map[string][]string{"q": {"a", "b", "c", "gone", "d"}, "more": {"e"}},
		chunks: map[string]state.Chunk{"a": chunk("a", "a.md", same), "b": chunk("b", "b.md", same), "c": chunk("c", "c.md", "Networks join."), "d": chunk("d", "d.md", "Told. Untold.")},
	}
	calls := 0
	node := nodes.Retrieval(nodes.Retrieving{Searcher: s, Workers: 1, Fuse: rank.RRF, Reranker: lastFirst{calls: &calls}})
	st, n := notes(t, node, searching(state.Query{Text: "q", Weight: 1, Attempt: 1, QuoteEnds: []state.QuoteEnd{{Chunk: "d", End: 5}}}))
	want := state.Ranking{Hits: []int{4, 2, 0}, Scores: []float64{0.912346, 0.456173, 0.304115}}
	if diff := cmp.Diff(want, st.Turn.Ranking); diff != "" {
		t.Errorf("ranking (-want +got):\n%s", diff)
	}
	if detail(n, "candidates") != "3" || detail(n, "by") != "judge" {
		t.Errorf("noted %v", n.Details)
	}
	after, n := notes(t, nodes.PostRetrieval(s, nil, nodes.ContextOptions{}), st)
	if diff := cmp.Diff([]string{"d", "c", "a"}, sourcesOf(after)); diff != "" || after.Turn.Sources[0].Text != "Untold." || detail(n, "ranked") != "3" {
		t.Errorf("first source %+v, noted %v, sources (-want +got):\n%s", after.Turn.Sources[0], n.Details, diff)
	}
	st.Turn.Queries = append(st.Turn.Queries, state.Query{Text: "more", Weight: 1, Attempt: 2})
	if notes(t, node, st); calls != 2 {
		t.Errorf("ranked %d times in two attempts", calls)
	}

	cause := errors.New("no model")
	failing := nodes.Retrieval(nodes.Retrieving{Searcher: s, Workers: 1, Fuse: rank.RRF, Reranker: lastFirst{calls: &calls, err: cause}})
	if _, err := failing(t.Context(), searching(state.Query{Text: "q", Weight: 1, Attempt: 1})); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// reading is a grader that keeps what it was shown.
type reading struct {
	score float64
	shown []state.Source
}

func (r *reading) Grade(_ context.Context, _ []state.Query, best []state.Source) (state.Grade, error) {
	r.shown = best
	return state.Grade{Score: r.score, Refined: &state.Query{Text: "better"}, Why: "so"}, nil
}

// TestGradeFollowsTheReranker: with a model that ranked, its order and its score decide; the
// order of others does not change a grade.
func TestGradeFollowsTheReranker(t *testing.T) {
	sure, unsure, bad := 1.0, 0.4, 0.0
	for _, tt := range []struct {
		name   string
		judged *float64
		grade  float64
		first  string
		want   float64
		next   string
	}{
		{"no model ranked", nil, 0.4, "1", 0.4, nodes.RetrievalID},
		{"the model found the answer", &sure, 0.4, "4", 0.8904, nodes.PostRetrievalID},
		{"the model found nothing", &bad, 0.6, "4", 0.1096, nodes.RetrievalID},
		{"both agree", &unsure, 0.4, "4", 0.4, nodes.RetrievalID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := ranked(found(0, 1))
			slices.Reverse(st.Turn.Ranking.Hits)
			st.Turn.Ranking.Scores, st.Turn.Ranking.Judged = []float64{0.9, 0.3, 0.2, 0.1}, tt.judged
			g := &reading{score: tt.grade}
			after, n := notes(t, nodes.CheckAndRefine(fourChunks(), g, g, 0.5), st)
			if got := after.Turn.Grade.Score; got < tt.want-1e-4 || got > tt.want+1e-4 {
				t.Errorf("grade %.4f, want %.4f", got, tt.want)
			}
			if g.shown[0].ID != tt.first || tt.judged != nil && g.shown[0].Score != 0.9 {
				t.Errorf("the grader was shown %+v first", g.shown[0])
			}
			if got := nodes.AfterCheck(after); got != tt.next || !strings.HasPrefix(detail(n, "graded"), tt.first+".md") {
				t.Errorf("next %q, noted %v", got, n.Details)
			}
		})
	}
}
