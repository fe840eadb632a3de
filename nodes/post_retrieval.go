package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// PostRetrieval returns the node that builds the context. It reranks the best
// candidates and drops near-duplicates, chunks beyond [MaxPerDocument] and chunks
// that look like prompt injection. It cuts the rest to the limits of o, in rank
// order. It calls no model unless the reranker is one.
func PostRetrieval(s Searcher, r Reranker, o ContextOptions) Node {
	o, invalid := o.WithDefaults()
	vectors, injections := vectorCache{&lru.Cache[string, rank.Vector]{}}, &lru.Cache[string, string]{}
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if invalid != nil {
			return state.Update{}, invalid
		}
		if len(st.Turn.Hits) == 0 {
			graph.Skip(ctx, SkippedNoDocs)
			return state.Update{}, nil
		}
		candidates, err := candidatesOf(ctx, s, st.Turn, vectors)
		if err != nil {
			return state.Update{}, err
		}
		ranked, err := r.Rerank(ctx, st.Turn.Queries, candidates)
		if err != nil {
			return state.Update{}, fmt.Errorf("rerank: %w", err)
		}
		noteBy(ctx, r)
		graph.Note(ctx, "candidates", strconv.Itoa(len(candidates)))
		sources := o.sentences(o.choose(ctx, ranked, vectors, injections), st.Turn.Query, st.Turn.Language)
		sources, tokens := o.fit(ctx, sources, st.Turn.Language)
		graph.Note(ctx, "sources", strconv.Itoa(len(sources)))
		graph.Note(ctx, "tokens", strconv.Itoa(tokens))
		for i, c := range sources {
			graph.Note(ctx, "source "+strconv.Itoa(i+1), fmt.Sprintf("%s (%.4f)", place(c.Chunk), c.Score))
		}
		return state.Update{Sources: &sources}, nil
	}
}

// candidatesOf reads the chunks of the best hits. It drops near-duplicates of
// better hits. A chunk that was quoted before is reduced to the rest of its text.
func candidatesOf(ctx context.Context, s Searcher, t state.Turn, vectors vectorCache) ([]state.Source, error) {
	best := t.Hits[:min(len(t.Hits), 2*Candidates)]
	byID, err := chunksOf(ctx, s, best)
	if err != nil {
		return nil, err
	}
	all := make([]state.Source, 0, len(best))
	for _, h := range best {
		c, ok := byID[h.Chunk]
		if ok {
			c, ok = unquotedRest(c, t.Queries)
		}
		if ok {
			all = append(all, state.Source{Chunk: c, Score: h.Score})
		}
	}
	kept := make([]state.Source, 0, len(all))
	for _, i := range vectors.distinct(all, rank.AtLeast(rank.NearDuplicate)) {
		kept = append(kept, all[i])
	}
	return kept[:min(len(kept), Candidates)], nil
}

// cachedTexts is the minimum number of texts of which a term vector, 3 to 6 KB each, and the
// result of injection are cached.
const cachedTexts = 512

// vectorCache caches the term vectors of texts. Candidates are compared before and
// after reranking, and follow-ups find the same texts again.
type vectorCache struct {
	byText *lru.Cache[string, rank.Vector]
}

// distinct returns the indices of the sources that are not duplicates of an
// earlier one, in order.
func (c vectorCache) distinct(sources []state.Source, duplicate rank.Cut) []int {
	vectors := make([]rank.Vector, len(sources))
	for i, s := range sources {
		vectors[i] = c.byText.Make(s.Text, cachedTexts, func() rank.Vector { return rank.TextVector(s.Text) })
	}
	return rank.Distinct(vectors, duplicate)
}

// words returns the words of s in lower case, in any language.
func words(s string) []string {
	tokens := text.For("").Analyze(s)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Term
	}
	return out
}

// document identifies the document of a chunk.
type document struct{ root, source string }

func documentOf(s state.Source) document { return document{s.Root, s.Source} }

// choose returns the best sources. It drops near-duplicates and prompt injections.
// One document gets more than MaxPerDocument places only if no other document needs
// them.
func (o ContextOptions) choose(ctx context.Context, ranked []state.Source, vectors vectorCache, injections *lru.Cache[string, string]) []state.Source {
	kept := vectors.distinct(ranked, rank.Above(contextSimilarity))
	perDocument := map[document]int{}
	var surplus []int
	chosen := make([]int, 0, o.MaxSources)
	filter := injectionFilter{known: injections, trusting: o.TrustDocuments}
	add := func(i int) {
		if len(chosen) < o.MaxSources && !filter.drop(ctx, ranked[i]) {
			chosen = append(chosen, i)
		}
	}
	for _, i := range kept {
		d := documentOf(ranked[i])
		if perDocument[d]++; perDocument[d] > MaxPerDocument {
			surplus = append(surplus, i)
		} else {
			add(i)
		}
	}
	limited := len(surplus) - (o.MaxSources - len(chosen)) // one document may fill the context if there are few
	for _, i := range surplus {
		add(i)
	}
	slices.Sort(chosen)
	sources := make([]state.Source, len(chosen))
	for at, i := range chosen {
		sources[at] = ranked[i]
	}
	graph.Note(ctx, "near-duplicates", strconv.Itoa(len(ranked)-len(kept)))
	graph.Note(ctx, "over document limit", strconv.Itoa(max(0, limited)))
	return sources
}
