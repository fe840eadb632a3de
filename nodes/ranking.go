package nodes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// Texts caches what was computed of the texts of passages, which several nodes and
// turns need: term vectors, and whether a text looks like prompt injection. The zero
// Texts is empty. It is safe for concurrent use.
type Texts struct {
	vectors    lru.Cache[string, rank.Vector]
	injections lru.Cache[string, string]
}

// cachedTexts is the maximum number of texts whose term vector, 3 to 6 KB each, and result of injection are
// cached.
const cachedTexts = 512

func (t *Texts) orNew() *Texts {
	if t == nil {
		return &Texts{}
	}
	return t
}

// distinct returns the indices of the sources that do not repeat an earlier one, in order.
func (t *Texts) distinct(sources []state.Source, duplicate rank.Cut) []int {
	vectors := make([]rank.Vector, len(sources))
	for i, s := range sources {
		vectors[i] = t.vectors.Make(s.Text, cachedTexts, func() rank.Vector { return rank.TextVector(s.Text) })
	}
	var kept []int
	for i, v := range vectors {
		near := func(k int) bool {
			return rank.Repeats(&sources[k].Chunk, &sources[i].Chunk, rank.Cosine(vectors[k], v), duplicate)
		}
		if !slices.ContainsFunc(kept, near) {
			kept = append(kept, i)
		}
	}
	return kept
}

// rank returns the ranking of the best hits of a turn.
func (o Retrieving) rank(ctx context.Context, t state.Turn, chunks map[string]state.Chunk) (*state.Ranking, error) {
	candidates, at := o.candidates(t, chunks)
	ranked := Reranked{Sources: candidates}
	if o.Reranker != nil && len(candidates) > 0 {
		var err error
		if ranked, err = o.Reranker.Rerank(ctx, t.Queries, candidates); err != nil {
			return nil, fmt.Errorf("rerank: %w", err)
		}
		noteBy(ctx, o.Reranker)
	}
	graph.Note(ctx, "candidates", strconv.Itoa(len(candidates)))
	out := &state.Ranking{Judged: ranked.Judged}
	for _, s := range ranked.Sources {
		out.Hits = append(out.Hits, at[s.ID])
		out.Scores = append(out.Scores, math.Round(s.Score*1e6)/1e6)
	}
	return out, nil
}

// candidates returns the passages that are ranked, in the order of the hits, and the
// index of the hit of each. Near-duplicates of better hits are left out.
func (o Retrieving) candidates(t state.Turn, chunks map[string]state.Chunk) (kept []state.Source, at map[string]int) {
	var all []state.Source
	at = map[string]int{}
	for i, h := range t.Hits[:min(len(t.Hits), 2*maxCandidates)] {
		if c, ok := passage(chunks, h, t.Queries); ok {
			all, at[c.ID] = append(all, state.Source{Chunk: c, Score: h.Score}), i
		}
	}
	for _, i := range o.Texts.orNew().distinct(all, rank.AtLeast(rank.NearDuplicate)) {
		kept = append(kept, all[i])
	}
	return kept[:min(len(kept), maxCandidates)], at
}

// passage returns the text of a hit. A chunk that was quoted before is reduced to the
// rest of its text; ok is false if nothing is left or the chunk left the index.
func passage(chunks map[string]state.Chunk, h state.Hit, queries []state.Query) (state.Chunk, bool) {
	c, ok := chunks[h.Chunk]
	if !ok {
		return c, false
	}
	return unquotedRest(c, queries)
}

// rankedSources returns the passages of the ranking of a turn, best first. Chunks that
// left the index are missing.
func rankedSources(ctx context.Context, s Searcher, t state.Turn) ([]state.Source, error) {
	hits := make([]state.Hit, 0, len(t.Ranking.Hits))
	for _, i := range t.Ranking.Hits {
		hits = append(hits, t.Hits[i])
	}
	chunks, err := chunksOf(ctx, s, hits)
	if err != nil {
		return nil, err
	}
	out := make([]state.Source, 0, len(hits))
	for i, h := range hits {
		if c, ok := passage(chunks, h, t.Queries); ok {
			out = append(out, state.Source{Chunk: c, Score: t.Ranking.Scores[i]})
		}
	}
	return out, nil
}

// gradedSources returns the passages that are graded, best first. The scores of a
// reranking model compare a passage with the question, so their order decides; all
// others compare the candidates with each other, and the order of the search stays: the
// grade without a model was learnt on it. Copies of a passage in other files count once.
func gradedSources(ctx context.Context, s Searcher, t state.Turn) ([]state.Source, error) {
	if t.Ranking.Judged != nil {
		best := t
		best.Ranking.Hits = t.Ranking.Hits[:min(len(t.Ranking.Hits), FeedbackChunks)]
		return rankedSources(ctx, s, best)
	}
	best := t.Hits[:min(len(t.Hits), 2*maxCandidates)]
	chunks, err := chunksOf(ctx, s, best)
	if err != nil {
		return nil, err
	}
	out, places := make([]state.Source, 0, FeedbackChunks), map[string]int{} // by text
	for i, h := range best {
		c, ok := chunks[h.Chunk]
		if !ok {
			continue
		}
		if at, again := places[c.Text]; again {
			out[at].Copies++
		} else if i < FeedbackChunks {
			places[c.Text] = len(out)
			out = append(out, state.Source{Chunk: c, Score: h.Score})
		}
	}
	return out, nil
}
