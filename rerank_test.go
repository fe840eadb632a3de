package ragflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
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

// Methods by name, at most 200 passages before and
// 20 after.
func TestRerankMethods(t *testing.T) {
	texts := map[string]string{}
	for i := range 230 {
		texts[strings.Repeat("x", 1+i/26)+string(rune('a'+i%26))+".md"] = "# Page\n\nHerbs dry in the shade. " + strings.Repeat("Words about page "+string(rune('a'+i%26))+". ", 1+i%7) +
			strings.Repeat(fmt.Sprintf("Only w%da w%db w%dc. ", i, i, i), 3) // or it would be a near-duplicate
	}
	docs := pages(t, texts)
	for _, method := range search.RerankMethods() {
		t.Run(method, func(t *testing.T) {
			j := &judge{word: "words"}
			s := llmtest.NewServer(llmtest.Say("[" + strings.Repeat("5, ", 19) + "5]"))
			defer s.Close()
			a := modelled(t, s, func(c *ragflow.Config) {
				c.Docs, c.Models.Reranker, c.Retrieval = docs, j, search.Retrieval{Rerank: method}
			})
			r := searchLeg(t, a, "herbs", 220, "")
			if len(r.Hits) != 220 { // a list has as many as it was asked for
				t.Errorf("%d hits, want 220", len(r.Hits))
			}
			for _, h := range r.Hits {
				if h.RerankScore != nil && (*h.RerankScore < 0 || *h.RerankScore > 1) {
					t.Fatalf("rerank score %v is not within 0 and 1", *h.RerankScore)
				}
			}
			if calls := len(s.Calls()); len(r.Warnings) > 0 || (method == search.RerankLLM) != (calls == 1) {
				t.Errorf("warnings %q; the language model was asked %d times", r.Warnings, calls)
			}
			asks := method == search.RerankAuto || method == search.RerankCrossEncoder || method == search.RerankCombined
			if asks != (len(j.shown) == 1) || asks && j.shown[0] != 200 {
				t.Errorf("the model was shown %v passages", j.shown)
			}
		})
	}
}

// Documents take turns, and what is nearly the same comes late.
func TestDiversity(t *testing.T) {
	docs := pages(t, map[string]string{
		"a.md": "# Basil\n\n## One\n\nBasil wants water. Basil.\n\n## Two\n\nBasil wants sun. Basil.\n",
		"b.md": "# Notes\n\nSomebody wrote that basil also grows in pots.\n",
	})
	sources := func(method string) []string {
		a := open(t, ragflow.Config{Docs: docs, Retrieval: search.Retrieval{Rerank: method}})
		var out []string
		for _, h := range searchLeg(t, a, "basil", 3, "").Hits {
			out = append(out, h.Source)
		}
		return out
	}
	if got := sources(search.RerankOff); len(got) < 2 {
		t.Fatalf("found %v", got)
	}
	if got := sources(search.RerankDiversity); got[0] == got[1] {
		t.Errorf("two documents give %v first", got)
	}
}

func TestRerankIsChecked(t *testing.T) {
	for _, tt := range []struct{ name, method, want string }{
		{"no chat model", search.RerankLLM, "needs a language model"},
		{"unknown", "magic", `reranking "magic" is not one of auto, offline, cross_encoder, mmr, combined, diversity, llm, off`},
		{"no model", search.RerankCrossEncoder, "needs a model: configure a reranker"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ragflow.Open(t.Context(), ragflow.Config{Retrieval: search.Retrieval{Rerank: tt.method}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	// Who waits for an answer may leave while the model is asked.
	ctx, cancel := context.WithCancel(t.Context())
	j := &judge{word: "x", fail: context.Canceled}
	a := open(t, ragflow.Config{Docs: []string{library(t)}, Models: ragflow.Models{Reranker: j}, Retrieval: search.Retrieval{Rerank: search.RerankAuto}})
	indexed(t, a)
	cancel()
	if _, err := a.Search(ctx, "basil", ragflow.SearchOptions{Request: search.Request{K: 3}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
