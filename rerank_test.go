package ragflow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// judge is a cross-encoder for tests: logits by how often a word stands in a
// passage.
type judge struct {
	word  string
	shown []int // passages of each call
	fail  error
}

func (*judge) Model() string { return "judge" }

func (j *judge) Rerank(_ context.Context, _ string, texts []string) (llm.Scores, error) {
	j.shown = append(j.shown, len(texts))
	if j.fail != nil {
		return llm.Scores{}, j.fail
	}
	out := llm.Scores{Calls: 1}
	for _, t := range texts {
		out.Values = append(out.Values, float64(strings.Count(strings.ToLower(t), j.word))-20)
	}
	return out, nil
}

// A cross-encoder decides the order; its scores lie within
// 0 and 1 although its logits are negative.
func TestCrossEncoder(t *testing.T) {
	docs := library(t)
	j := &judge{word: "dry"}
	a := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Reranker: j}, Retrieval: search.Retrieval{Rerank: search.RerankCrossEncoder}})
	const query = "how do I keep herbs in summer"
	r := searchLeg(t, a, query, 5, "")
	last := 1.0
	for i, h := range r.Hits {
		if h.RerankScore == nil || *h.RerankScore < 0 || *h.RerankScore > last || h.Rank != i+1 {
			t.Fatalf("hit %d: %+v", i, h)
		}
		last = *h.RerankScore
	}
	if first := strings.ToLower(r.Hits[0].Text); !strings.Contains(first, "dry") {
		t.Errorf("the first hit is %q", first)
	}
	reply := ask(t, a, "", query)
	if len(reply.Warnings) != 0 || !strings.Contains(reply.FlowTraceMD, "judge") {
		t.Errorf("warnings %q, or the trace does not name the reranker", reply.Warnings)
	}
	j.fail = &llm.Error{Provider: "test", Kind: llm.ErrUnavailable, Detail: "no route"}
	const want = "Reranking left out, the order of the search stays: Provider test is not available: no route"
	failed := searchLeg(t, a, query, 5, "")
	plain := searchLeg(t, open(t, ragflow.Config{Docs: []string{docs}, Retrieval: search.Retrieval{Rerank: search.RerankOff}}), query, 5, "")
	if !slices.Equal(failed.Warnings, []string{want}) || !slices.Equal(chunkIDs(failed), chunkIDs(plain)) || failed.Hits[0].RerankScore != nil {
		t.Errorf("it failed: warnings %q, hits %v, want those of the search %v", failed.Warnings, chunkIDs(failed), chunkIDs(plain))
	}
	if reply = ask(t, a, "", query); !slices.Contains(reply.Warnings, want) || len(reply.Citations) == 0 {
		t.Errorf("it failed while answering: warnings %q, %d citations", reply.Warnings, len(reply.Citations))
	}
}
