package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// judge is a cross-encoder: logits by how often a word stands in a passage.
type judge struct {
	word  string
	calls int
	shown []string // passages of the last call
	fail  error
}

func (*judge) Model() string { return "judge" }

func (j *judge) Rerank(_ context.Context, _ string, passages []string) (out llm.Scores, err error) {
	j.calls, j.shown = j.calls+1, passages
	for _, p := range passages {
		out.Values = append(out.Values, float64(strings.Count(strings.ToLower(p), j.word))-20)
	}
	return out, j.fail
}

// TestCrossEncoder: a model decides the order, with scores within 0 and 1 of negative logits. If it
// fails, the order of the search stays, and a warning says so.
func TestCrossEncoder(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, garden(t), "/garden")
	j := &judge{word: "dry"}
	e := engineOf(t, s, search.Options{Reranker: j, Retrieval: search.Retrieval{Rerank: search.RerankCrossEncoder}})
	l := list(t, e, "dry herbs in summer", search.Request{K: 5})
	last := 1.0
	for i, h := range l.Hits {
		if h.Rerank == nil || *h.Rerank < 0 || *h.Rerank > last {
			t.Fatalf("hit %d: %+v", i, h)
		}
		last = *h.Rerank
	}
	if got := l.Hits[0].Chunk.ID; got != "drying.md#0" { // its title counts too
		t.Errorf("the first hit is %s", got)
	}
	j.fail = errors.New("no route")
	plain := engineOf(t, s, search.Options{Retrieval: search.Retrieval{Rerank: search.RerankOff}})
	failed := list(t, e, "dry herbs in summer", search.Request{K: 5})
	if want := []string{"Reranking left out, the order of the search stays: no route"}; !slices.Equal(failed.Warnings, want) || failed.Hits[0].Rerank != nil ||
		!slices.Equal(chunks(failed), chunks(list(t, plain, "dry herbs in summer", search.Request{K: 5}))) {
		t.Errorf("it failed: warnings %q, hits %v", failed.Warnings, chunks(failed))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Rerank(ctx, []state.Query{{Text: "dry", Weight: 1}}, []state.Source{{Chunk: state.Chunk{ID: "a"}}}); err == nil {
		t.Error("a cancelled context is a warning")
	}
}

// TestRerankMethods: at most 200 passages are put in order, and 20 stay in the context; the
// language model is shown 20, the embedder's limit of tokens does not matter.
func TestRerankMethods(t *testing.T) {
	t.Parallel()
	db := open(t)
	var entries []search.Entry
	for i := range 230 {
		entries = append(entries, file(fmt.Sprintf("%03d.md", i), "Page", "Herbs dry in the shade. "+strings.Repeat("Some words. ", 1+i%7)+
			strings.Repeat(fmt.Sprintf("Only w%da w%db w%dc. ", i, i, i), 3))) // or it would be a near-duplicate
	}
	put(t, db, "/docs", entries...)
	s := snapshotOf(t, db, "/docs")
	for _, method := range search.RerankMethods() {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			j := &judge{word: "words"}
			e := engineOf(t, s, search.Options{Reranker: j, Dense: search.Dense{Tokens: 5}, Retrieval: search.Retrieval{Rerank: method}})
			l := list(t, e, "herbs", search.Request{K: 220})
			if len(l.Hits) != 220 || len(l.Warnings) > 0 {
				t.Errorf("%d hits, want 220; warnings %q", len(l.Hits), l.Warnings)
			}
			want := 0
			switch method {
			case search.RerankAuto, search.RerankCrossEncoder, search.RerankCombined:
				want = 200
			case search.RerankLLM:
				want = 20
			}
			if len(j.shown) != want || want > 0 && !strings.Contains(j.shown[0], "Some words") {
				t.Errorf("the model was shown %d passages, want %d", len(j.shown), want)
			}
			var candidates []state.Source
			for _, h := range l.Hits {
				if h.Rerank != nil && (*h.Rerank < 0 || *h.Rerank > 1) {
					t.Fatalf("rerank score %v is not within 0 and 1", *h.Rerank)
				}
				candidates = append(candidates, state.Source{Chunk: h.Chunk, Score: h.Score})
			}
			kept := 20
			if method == search.RerankMMR || method == search.RerankCombined {
				kept = 10
			}
			out, err := e.Rerank(t.Context(), []state.Query{{Text: "herbs", Weight: 1}}, candidates)
			if err != nil || len(out.Sources) != kept || want > 0 != (out.By == "judge") {
				t.Errorf("the context has %d passages by %s, %v; want %d", len(out.Sources), out.By, err, kept)
			}
		})
	}
}

// TestDiversity: documents take turns.
func TestDiversity(t *testing.T) {
	t.Parallel()
	db := open(t)
	put(t, db, "/docs", file("a.md", "", "Basil wants water. Basil.", "Basil wants sun. Basil."), file("b.md", "", "Somebody wrote that basil also grows in pots."))
	s := snapshotOf(t, db, "/docs")
	for method, want := range map[string]string{search.RerankOff: "a.md#0 a.md#1 b.md#0", search.RerankDiversity: "a.md#0 b.md#0 a.md#1"} {
		e := engineOf(t, s, search.Options{Retrieval: search.Retrieval{Rerank: method}})
		if got := strings.Join(chunks(list(t, e, "basil", search.Request{K: 3})), " "); got != want {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
	}
}

// byLength orders passages by their length, the shortest first, which get the probability 1.
type byLength struct{}

func (byLength) Rerank(_ context.Context, _ []state.Query, candidates []state.Source) ([]state.Source, error) {
	out := slices.Clone(candidates)
	slices.SortStableFunc(out, func(a, b state.Source) int { return len(a.Text) - len(b.Text) })
	for i := range out {
		out[i].Score = 0
	}
	out[0].Score = 1
	return out, nil
}

// TestProbability: a list of words and meaning is ordered by the probabilities of both, which add
// up to 1; by a fusion that a person chose it is not.
func TestProbability(t *testing.T) {
	t.Parallel()
	db := open(t)
	for i := range 20 {
		put(t, db, "/docs", file(fmt.Sprintf("herb-%c.md", 'a'+i), "", fmt.Sprintf("Herb %c grows on sand number %d%s.", 'a'+i, i, strings.Repeat(" and stone", i%2))))
	}
	put(t, db, "/docs", file("asked.md", "", "Water the basil daily."))
	embed(t, db, "/docs")
	s := snapshotOf(t, db, "/docs")
	o := search.Options{Embedder: &meaning{}, Offline: byLength{}, List: byLength{}}
	for _, query := range []string{"podlewać bazylię sand", "water basil"} {
		l := list(t, engineOf(t, s, o), query, search.Request{K: 40})
		sum := 0.0
		for _, h := range l.Hits {
			sum += *h.Rerank
		}
		if l.Hits[0].Chunk.ID != "asked.md#0" || sum < 0.999999 || sum > 1.000001 {
			t.Errorf("%q: first %s, probabilities add up to %v", query, l.Hits[0].Chunk.ID, sum)
		}
	}
	o.Dense.Alpha = 0.5
	for _, h := range list(t, engineOf(t, s, o), "water basil", search.Request{K: 40}).Hits {
		if h.Rerank != nil {
			t.Errorf("%s is ordered by probability", h.Chunk.ID)
		}
	}
}
