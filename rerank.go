package ragflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/rank"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// Methods of reranking, for Retrieval.Rerank.
const (
	RerankAuto         = "auto"          // by the model Config.Reranker where there is one, else offline
	RerankOffline      = "offline"       // by the words of question and passage, headings and kind of the question
	RerankCrossEncoder = "cross_encoder" // by Config.Reranker
	RerankMMR          = "mmr"           // by maximal marginal relevance over the scores of the search
	RerankCombined     = "combined"      // as auto does, and then by maximal marginal relevance
	RerankDiversity    = "diversity"     // documents take turns
	RerankOff          = "off"           // the order of the search stays
	rerankLLM          = "llm"           // reserved
)

// RerankMethods lists the methods of reranking.
func RerankMethods() []string {
	return []string{RerankAuto, RerankOffline, RerankCrossEncoder, RerankMMR, RerankCombined, RerankDiversity, RerankOff}
}

// Limits of reranking (REQUIREMENTS K04, K06).
const (
	rerankBefore = 200 // candidates that are looked at
	rerankAfter  = 20  // that stay
	rerankListed = 20  // that are compared in a list for which no method is set; the others stay behind
	mmrLambda    = 0.5 // share of relevance; the rest is unlikeness
	mmrPicks     = 10
)

// checkRerank tells whether a method can be used.
func (c Config) checkRerank() error {
	method := c.Retrieval.Rerank
	switch {
	case method == rerankLLM:
		return fmt.Errorf("reranking by %q is reserved for language models and not there yet; use %s with a reranking model", rerankLLM, RerankCrossEncoder)
	case method != "" && !slices.Contains(RerankMethods(), method):
		return fmt.Errorf("reranking %q is not one of %s", method, strings.Join(RerankMethods(), ", "))
	case method == RerankCrossEncoder && c.Reranker == nil:
		return fmt.Errorf("reranking by %s needs a model: configure a reranker (RERANK_MODEL, RERANK_BASE_URL)", RerankCrossEncoder)
	}
	return nil
}

// reranker puts candidates in the order of a method.
type reranker struct {
	method  string
	model   llm.Reranker // nil: none
	tokens  int          // of a passage that the model is shown
	offline nodes.Reranker
}

// listing says how what a search by a leg lists is put in order: the method, and
// how many hits are compared. Where none is set, words put in order what words
// found, and words and meaning together what both did, unless the fusion is chosen;
// what one dense leg found, or names did, is left as it is.
func (c Config) listing(leg string) (method string, compared int) {
	method = c.Retrieval.Rerank
	switch {
	case method == RerankOff:
		return RerankOff, 0
	case method != "":
		return method, rerankBefore
	case leg == LegGraph: // names have an order of their own
		return RerankOff, 0
	case c.Embedder == nil || leg == LegLexical || c.Retrieval.Weights.Dense == 0 && leg == LegHybrid:
		return RerankOffline, rerankListed
	case c.Retrieval.auto && leg == LegHybrid:
		return orderOdds, 2 * rerankListed
	}
	return RerankOff, 0
}

// newReranker returns the skill of the flow.
func (c Config) newReranker(own *offline.Reranker) nodes.Reranker {
	r := reranker{cmp.Or(c.Retrieval.Rerank, RerankAuto), c.Reranker, c.Dense.Tokens, own}
	if r.method == RerankAuto && r.model == nil || r.method == RerankOffline {
		return r.offline
	}
	return r
}

// Rerank implements nodes.Reranker. What a model could not do becomes a warning.
func (r reranker) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out, by, warnings, err := r.rerank(ctx, queries, candidates)
	for _, w := range warnings {
		graph.Warn(ctx, w)
	}
	noteMaker(ctx, by)
	return out, err
}

// rerank returns the best candidates in their new order, each with the score
// that put it there, and who gave it.
func (r reranker) rerank(ctx context.Context, queries []state.Query, candidates []state.Source) (out []state.Source, by string, warnings []string, err error) {
	candidates = candidates[:min(len(candidates), rerankBefore)]
	by, out = r.method, slices.Clone(candidates)
	switch r.method {
	case RerankMMR:
		out = diverse(out)
	case RerankDiversity:
		out = inTurns(out)
	case RerankAuto, RerankOffline, RerankCrossEncoder, RerankCombined:
		if r.model == nil || r.method == RerankOffline {
			by = offline.Name
			out, err = r.offline.Rerank(ctx, queries, candidates)
		} else {
			by = r.model.Model()
			out, warnings, err = r.ask(ctx, queries, candidates)
		}
		if r.method == RerankCombined {
			out = diverse(out)
		}
	}
	return out[:min(len(out), rerankAfter)], by, warnings, err
}

// ask asks the model. Where it fails, the order stays and a warning says so.
func (r reranker) ask(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, []string, error) {
	if len(queries) == 0 || len(candidates) == 0 {
		return candidates, nil, nil
	}
	best := slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
	passages := make([]string, len(candidates))
	for i, c := range candidates {
		passages[i] = strings.ToValidUTF8(text.Trim(index.Passage(c.Chunk), r.tokens), "\uFFFD")
	}
	begun := time.Now()
	scores, err := r.model.Rerank(ctx, denseText(best), passages)
	if err == nil && len(scores.Values) != len(candidates) {
		err = fmt.Errorf("%s gave %d scores for %d passages", r.model.Model(), len(scores.Values), len(candidates))
	}
	call := graph.Call{Name: r.model.Model(), Duration: time.Since(begun).Truncate(time.Microsecond)}
	if err != nil {
		call.Error = err.Error()
		graph.Count(ctx, call)
		if ctx.Err() != nil {
			return nil, nil, err
		}
		return candidates, []string{"Reranking left out, the order of the search stays: " + err.Error()}, nil
	}
	call.Counts = map[string]int64{countInput: scores.Usage.Input, countRetries: int64(scores.Retries)}
	graph.Count(ctx, call)
	out := slices.Clone(candidates)
	for i, u := range rank.Unit(scores.Values) {
		out[i].Score = math.Round(u*1e6) / 1e6
	}
	order := slices.Clone(out)
	at := make([]int, len(out))
	for i := range at {
		at[i] = i
	}
	// By the model's own scores: at the ends of 0–1 many would be equal.
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(scores.Values[b], scores.Values[a]) })
	for i, from := range at {
		order[i] = out[from]
	}
	return order, nil, nil
}

// diverse picks by maximal marginal relevance.
func diverse(sources []state.Source) []state.Source {
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
		vectors[i] = rank.NewVector(words, nil)
	}
	var out []state.Source
	for _, i := range rank.MMR(relevance, func(i, j int) float64 { return rank.Cosine(vectors[i], vectors[j]) }, mmrLambda, mmrPicks) {
		out = append(out, sources[i])
	}
	return out
}

// inTurns lets documents take turns, in the order of their best passages.
func inTurns(sources []state.Source) []state.Source {
	type document struct{ root, source string }
	turn := map[document]int{}
	turns := make([]int, len(sources))
	at := make([]int, len(sources))
	for i, s := range sources {
		d := document{s.Root, s.Source}
		turns[i], at[i] = turn[d], i
		turn[d]++
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(turns[a], turns[b]) })
	out := make([]state.Source, len(sources))
	for i, from := range at {
		out[i] = sources[from]
	}
	return out
}
