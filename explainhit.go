package ragflow

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.com/ragflow/nodes"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// ExplainedHit says how a passage comes into the list of a search. Its JSON is the
// schema of `ragflow explain --hit --json`.
type ExplainedHit struct {
	index.HitExplanation // its score by words; 0 where it holds none of the query's

	// Found tells of it in the search as it is configured; nil where that does not
	// find it among the first 50.
	Found *FoundHit `json:"found,omitempty"`
}

// FoundHit is a passage in the list of a search, and what brought it there.
type FoundHit struct {
	Source string                 `json:"source"`
	Rank   int                    `json:"rank"`
	Score  float64                `json:"score"` // of the list; of one leg alone that of the leg
	Legs   []state.Leg            `json:"legs"`  // that found it
	Name   *index.NameExplanation `json:"name,omitempty"`
	Link   *LinkedHit             `json:"link,omitempty"`
}

// LinkedHit is how links led from a better hit to a passage.
type LinkedHit struct {
	From    string           `json:"from"`           // source of that hit
	Rank    int              `json:"rank,omitempty"` // of its document's best passage; 0: the list ends before it
	Score   float64          `json:"score"`
	Damping float64          `json:"damping"` // what is left of a score after each hop
	Steps   []index.LinkStep `json:"steps"`
}

// explainDepth is how many hits are looked through for a passage that is named by its
// id and not in the list that is usual.
const explainDepth = 50

// ExplainHit says how a passage comes into the list of a search: how its score by
// words comes about, which legs found it, by which name, and which links led to it.
// The passage is named by its rank in the search as it is configured, or by its id. The
// error is that there is no such passage, or what Search gives.
func (a *Assistant) ExplainHit(ctx context.Context, query, hit string) (*ExplainedHit, error) {
	if query = text.Clean(query); query == "" {
		return nil, ErrEmptyQuery
	}
	e, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	rank, err := strconv.Atoi(hit)
	byRank := err == nil && rank > 0
	var reply *SearchReply
	at := -1
	for _, k := range []int{max(a.config.Retrieval.TopK, rank), explainDepth} {
		if reply, err = a.SearchWith(ctx, query, SearchOptions{TopK: k}); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		if byRank {
			if rank > len(reply.Hits) {
				return nil, fmt.Errorf("explain: the search finds %d passages, there is none of rank %d", len(reply.Hits), rank)
			}
			hit = reply.Hits[rank-1].ChunkID
		}
		if at = slices.IndexFunc(reply.Hits, func(h SearchHit) bool { return h.ChunkID == hit }); at >= 0 {
			break
		}
	}
	q := index.ParseQuery(text.First(query, nodes.MaxQueryRunes))
	byWords, err := e.searcher.Explain(ctx, q, hit)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	x := &ExplainedHit{HitExplanation: *byWords}
	if at >= 0 {
		if x.Found, err = a.found(ctx, e, q, reply.Hits, at); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
	}
	return x, nil
}

// found tells of one of the hits of a search.
func (a *Assistant) found(ctx context.Context, e *engine, q state.Query, hits []SearchHit, at int) (*FoundHit, error) {
	h := hits[at]
	f := &FoundHit{Source: h.Source, Rank: h.Rank, Score: h.Score, Legs: h.Legs}
	for _, l := range h.Legs {
		if l.Name != LegGraph {
			continue
		}
		if !l.Linked() {
			name, err := e.searcher.ExplainName(ctx, q, h.ChunkID)
			if err != nil {
				return nil, err
			}
			f.Name = name
			continue
		}
		// Of the hit that it began with only the leg tells for sure: the order of the
		// list may have put it behind the end.
		link := &LinkedHit{From: l.From, Score: l.Score / math.Pow(index.DefaultDamping, float64(l.Hops)), Damping: index.DefaultDamping}
		if i := slices.IndexFunc(hits, func(from SearchHit) bool {
			return from.Source == l.From && !slices.ContainsFunc(from.Legs, func(l state.Leg) bool { return l.Linked() })
		}); i >= 0 {
			link.Rank = hits[i].Rank
		}
		steps, err := e.searcher.Way(ctx, link.From, link.Score, h.ChunkID, index.Expansion{Hops: max(1, a.config.Retrieval.Hops)})
		if err != nil {
			return nil, err
		}
		if link.Steps = steps; len(steps) > 0 {
			f.Link = link
		}
	}
	return f, nil
}
