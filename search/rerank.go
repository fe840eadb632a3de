package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Methods of reranking, for Retrieval.Rerank.
const (
	RerankAuto         = "auto"          // by Options.Reranker if there is one, else offline
	RerankOffline      = "offline"       // by Options.Offline, which compares words
	RerankCrossEncoder = "cross_encoder" // by Options.Reranker
	RerankMMR          = "mmr"           // by maximal marginal relevance of the scores of the search
	RerankCombined     = "combined"      // auto, then maximal marginal relevance
	RerankDiversity    = "diversity"     // documents take turns
	RerankOff          = "off"           // keeps the order of the search
	RerankLLM          = "llm"           // by Options.Reranker, which asks a language model

	byProbability = "probability" // default of a list of words and meaning
)

// Limits of reranking.
const (
	rerankBefore = 200 // candidates that are ordered
	rerankAfter  = 20  // that stay in the context of an answer
	rerankTokens = 400 // of a passage that a reranker reads; many read 512 of their own tokens
	listedFirst  = 20  // hits of a list that are ordered by default
	mmrLambda    = 0.5 // share of relevance; the rest is novelty
	mmrAfter     = 10  // candidates that stay after diversification
)

// RerankMethods returns the methods of reranking.
func RerankMethods() []string {
	return []string{RerankAuto, RerankOffline, RerankCrossEncoder, RerankMMR, RerankCombined, RerankDiversity, RerankLLM, RerankOff}
}

func (o Options) checkRerank() error {
	method := o.Retrieval.Rerank
	switch {
	case method == RerankLLM && o.Reranker == nil:
		return fmt.Errorf("reranking by %s needs a language model: choose one (SMART_LLM_MODEL)", RerankLLM)
	case method != "" && !slices.Contains(RerankMethods(), method):
		return fmt.Errorf("reranking %q is not one of %s", method, strings.Join(RerankMethods(), ", "))
	case method == RerankCrossEncoder && o.Reranker == nil:
		return fmt.Errorf("reranking by %s needs a model: configure a reranker (RERANK_MODEL, RERANK_BASE_URL)", RerankCrossEncoder)
	}
	return nil
}

// listOrder returns the method that orders a list of hits by a leg, and the number of hits that
// it orders.
func (e *Engine) listOrder(leg string) (method string, compared int) {
	method = e.o.Retrieval.Rerank
	switch {
	case method == RerankOff:
		return RerankOff, 0
	case method == RerankLLM:
		return method, listedFirst
	case method != "" && (method != RerankAuto || e.o.ListDepth == 0):
		return method, rerankBefore
	case leg == LegHybrid && e.o.ListDepth > 0:
		return RerankOffline, e.o.ListDepth
	case leg == LegGraph || leg == LegHybrid && e.onServer():
		return RerankOff, 0
	case e.o.Embedder == nil || leg == LegLexical || e.o.Retrieval.Weights.Dense == 0 && leg == LegHybrid:
		return RerankOffline, listedFirst
	case e.o.Retrieval.auto && leg == LegHybrid:
		return byProbability, 2 * listedFirst
	}
	return RerankOff, 0
}

// Ordered is a list of candidates in a new order.
type Ordered struct {
	Sources  []state.Source // each with the score of the order
	Judged   *float64       // highest score that a model gave, from 0 to 1; nil: no model ordered them
	By       string         // a model, "offline", or a method
	Warnings []string       // why a model failed
}

// Rerank orders the candidates for the context of an answer and keeps the best 20. If a model
// fails, the order of the search stays, with a warning.
func (e *Engine) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) (Ordered, error) {
	before, after := rerankBefore, rerankAfter
	if e.o.Retrieval.Rerank == RerankLLM {
		before = rerankAfter // a chat model gets few passages
	}
	out, err := e.reorder(ctx, cmp.Or(e.o.Retrieval.Rerank, RerankAuto), e.o.Offline, queries, candidates[:min(len(candidates), before)])
	if m := e.o.Retrieval.Rerank; m == RerankMMR || m == RerankCombined {
		after = mmrAfter
	}
	out.Sources = out.Sources[:min(len(out.Sources), after)]
	return out, err
}

func (e *Engine) reorder(ctx context.Context, method string, offline Orderer, queries []state.Query, candidates []state.Source) (out Ordered, err error) {
	out = Ordered{Sources: slices.Clone(candidates), By: method}
	switch method {
	case RerankMMR:
		out.Sources = diversify(out.Sources)
	case RerankDiversity:
		out.Sources = takeTurns(out.Sources)
	case RerankAuto, RerankOffline, RerankCrossEncoder, RerankLLM, RerankCombined:
		if e.o.Reranker != nil && method != RerankOffline {
			out.By = e.o.Reranker.Model()
			out.Sources, out.Warnings, err = e.askReranker(ctx, queries, candidates)
			if err == nil && len(out.Warnings) == 0 && len(queries) > 0 && len(out.Sources) > 0 {
				out.Judged = new(out.Sources[0].Score)
			}
		} else if offline != nil {
			out.By = RerankOffline
			out.Sources, err = offline.Rerank(ctx, queries, candidates)
		}
		if method == RerankCombined {
			out.Sources = diversify(out.Sources)
		}
	}
	return out, err
}

// askReranker orders candidates by the scores of the model. If it fails, the order stays, with
// a warning.
func (e *Engine) askReranker(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, []string, error) {
	if len(queries) == 0 || len(candidates) == 0 {
		return candidates, nil, nil
	}
	best := slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
	passages := make([]string, len(candidates))
	for i, c := range candidates {
		passages[i] = strings.ToValidUTF8(text.Trim(Passage(c.Chunk), rerankTokens), "\uFFFD")
	}
	scored, err := e.o.Reranker.Rerank(ctx, denseText(best), passages)
	scores := scored.Values
	if err == nil && len(scores) != len(candidates) {
		err = fmt.Errorf("%s gave %d scores for %d passages", e.o.Reranker.Model(), len(scores), len(candidates))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, err
	case err != nil:
		return candidates, []string{"Reranking left out, the order of the search stays: " + err.Error()}, nil //nolint:nilerr // it becomes a warning
	}
	at := make([]int, len(candidates))
	for i := range at {
		at[i] = i
	}
	// Unit scores near 0 and 1 may be equal, so the scores of the model decide.
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	unit := rank.Unit(scores)
	out := make([]state.Source, len(at))
	for i, from := range at {
		out[i] = candidates[from]
		out[i].Score = math.Round(unit[from]*1e6) / 1e6
	}
	return out, nil, nil
}

// diversify orders by maximal marginal relevance.
func diversify(sources []state.Source) []state.Source {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range sources {
		low, high = min(low, s.Score, 0), max(high, s.Score)
	}
	relevance, vectors := make([]float64, len(sources)), make([]rank.Vector, len(sources))
	for i, s := range sources {
		if high > low {
			relevance[i] = (s.Score - low) / (high - low)
		}
		var words []string
		for _, t := range text.For("").Analyze(s.Text) {
			words = append(words, t.Term)
		}
		vectors[i] = rank.NewVector(words)
	}
	similar := func(i, j int) float64 { return rank.Cosine(vectors[i], vectors[j]) }
	out := make([]state.Source, 0, len(sources))
	for _, i := range rank.MMR(relevance, similar, mmrLambda, len(sources)) {
		s := sources[i]
		s.Score = relevance[i]
		out = append(out, s)
	}
	return out
}

// takeTurns orders passages so that documents alternate, in the order of their best passages.
func takeTurns(sources []state.Source) []state.Source {
	type document struct{ root, source string }
	count := map[document]int{}
	turn := make(map[string]int, len(sources))
	for _, s := range sources {
		d := document{s.Root, s.Source}
		turn[s.ID] = count[d]
		count[d]++
	}
	out := slices.Clone(sources)
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(turn[a.ID], turn[b.ID]) })
	return out
}
