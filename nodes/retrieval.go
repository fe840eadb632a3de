package nodes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// notedHits is the number of hits in the notes.
const notedHits = 5

// Retrieving configures [Retrieval]. Searcher and Fuse are required.
type Retrieving struct {
	Searcher Searcher
	Workers  int // concurrent searches, at least 1
	TopK     int // hits per query; 0 means [TopK]
	// Fuse merges the lists of hits into one. weight is that of the list of a leg.
	Fuse     func(hits []state.Hit, weight func(state.Leg) float64) []state.Hit
	Reranker Reranker // nil: the order of the search stays
	Texts    *Texts   // nil: nothing is cached
}

// Retrieval returns the node that searches and ranks. It runs one worker per query of
// the current attempt. A chunk in several lists becomes one hit with all its legs. The
// second attempt adds its lists to those of the first. Passages that earlier answers
// cited form an extra list of their query ("cited"). Only turns with the route search
// are searched.
//
// Each attempt ranks the best hits once. Grade, context and answer read that ranking:
// it is made here, before the grade, because the answer may begin while the grade is
// still made.
func Retrieval(o Retrieving) Node {
	s, top := o.Searcher, cmp.Or(o.TopK, TopK)
	search := graph.FanOut(o.Workers, pending,
		func(ctx context.Context, st state.State, i int) (state.Update, error) {
			q := st.Turn.Queries[i]
			hits, err := s.Search(ctx, q, top)
			if err != nil {
				return state.Update{}, fmt.Errorf("search query %d: %w", i+1, err)
			}
			earlier, err := citedEarlier(ctx, s, q)
			if err != nil {
				return state.Update{}, err
			}
			hits = ofQuery(i, rank.Merge(hits, earlier))
			return state.Update{Hits: &hits}, nil
		},
		func(st state.State, found []state.Update) (state.Update, error) {
			lists := make([][]state.Hit, 0, len(found)+1)
			lists = append(lists, st.Turn.Hits)
			for _, u := range found {
				lists = append(lists, *u.Hits)
			}
			hits := fuse(o.Fuse, st.Turn.Queries, lists)
			attempts := st.Turn.Attempts + 1
			return state.Update{Hits: &hits, Attempts: &attempts}, nil
		})
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if st.Turn.Route != state.RouteSearch {
			graph.Skip(ctx, fmt.Sprintf("Skipped (route %s needs no search)", st.Turn.Route))
			return state.Update{}, nil
		}
		update, err := search(ctx, st)
		if err != nil {
			return update, err
		}
		noteRetrieval(ctx, st, update)
		chunks, err := chunksOf(ctx, s, *update.Hits)
		if err != nil {
			return update, err
		}
		noteHits(ctx, *update.Hits, chunks)
		st.Turn.Hits = *update.Hits
		update.Ranking, err = o.rank(ctx, st.Turn, chunks)
		return update, err
	}
}

// pending returns the indices of the queries that the next attempt searches.
func pending(st state.State) []int {
	var due []int
	for i, q := range st.Turn.Queries {
		if q.Attempt == st.Turn.Attempts+1 {
			due = append(due, i)
		}
	}
	return due
}

// legCited is the name of the leg with the passages that earlier answers cited.
const legCited = "cited"

// citedEarlier returns the chunks of q.Cited that are still in the index.
func citedEarlier(ctx context.Context, s Searcher, q state.Query) ([]state.Hit, error) {
	if len(q.Cited) == 0 {
		return nil, nil
	}
	chunks, err := s.Chunks(ctx, q.Cited)
	if err != nil {
		return nil, fmt.Errorf("read earlier citations: %w", err)
	}
	hits := make([]state.Hit, len(chunks))
	for i, c := range chunks {
		hits[i] = state.Hit{Chunk: c.ID, Legs: []state.Leg{{Name: legCited, Rank: i + 1, Share: citedShare}}}
	}
	return hits, nil
}

// ofQuery copies hits and sets the query of their legs. Scores are rounded to four
// decimals: only ranks matter, and every digit is stored with the thread.
func ofQuery(i int, hits []state.Hit) []state.Hit {
	out := slices.Clone(hits)
	for h := range out {
		out[h].Legs = slices.Clone(out[h].Legs)
		for l := range out[h].Legs {
			out[h].Legs[l].Query = i
			out[h].Legs[l].Score = math.Round(out[h].Legs[l].Score*1e4) / 1e4
		}
	}
	return out
}

// fuse merges lists into one and keeps the best maxHits. The weight of a list is
// query weight · leg's share. Both are on the hit, so a score can be recomputed
// from it, and a fused list can be fused with more lists.
func fuse(fuser func([]state.Hit, func(state.Leg) float64) []state.Hit, queries []state.Query, lists [][]state.Hit) []state.Hit {
	hits := fuser(rank.Merge(lists...), func(l state.Leg) float64 { return l.Of(queries[l.Query].Weight) })
	hits = hits[:min(len(hits), maxHits)]
	for i := range hits {
		hits[i].Score = math.Round(hits[i].Score*1e6) / 1e6
	}
	return hits
}

func noteRetrieval(ctx context.Context, st state.State, u state.Update) {
	graph.Note(ctx, "attempt", strconv.Itoa(*u.Attempts))
	due := pending(st)
	found := make([]int, len(st.Turn.Queries))
	for _, h := range *u.Hits {
		seen := -1
		for _, l := range h.Legs {
			if l.Query != seen {
				found[l.Query]++
				seen = l.Query
			}
		}
	}
	for _, i := range due {
		graph.Note(ctx, "query "+strconv.Itoa(i+1), fmt.Sprintf("%s, hits: %d", oneLine(st.Turn.Queries[i].Text), found[i]))
	}
	graph.Note(ctx, "hits after fusion", strconv.Itoa(len(*u.Hits)))
}

// noteHits notes the positions of the best hits and the lists that found them.
func noteHits(ctx context.Context, hits []state.Hit, chunks map[string]state.Chunk) {
	for i, h := range hits[:min(len(hits), notedHits)] {
		c, ok := chunks[h.Chunk]
		if !ok {
			continue
		}
		legs := make([]string, len(h.Legs))
		for j, l := range h.Legs {
			legs[j] = fmt.Sprintf("%s of query %d #%d", l.Name, l.Query+1, l.Rank)
			if l.Linked() {
				legs[j] += fmt.Sprintf(" via %s %s", oneLine(l.Via), strings.ToLower(l.Relation))
			}
		}
		graph.Note(ctx, "hit "+strconv.Itoa(i+1), fmt.Sprintf("%s (%.4f: %s)", place(c), h.Score, strings.Join(legs, ", ")))
	}
}

// chunksOf reads the chunks of hits and maps them by ID. Chunks that are no longer
// in the index are missing.
func chunksOf(ctx context.Context, s Searcher, hits []state.Hit) (map[string]state.Chunk, error) {
	if len(hits) == 0 {
		return map[string]state.Chunk{}, nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := s.Chunks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	byID := make(map[string]state.Chunk, len(chunks))
	for _, c := range chunks {
		byID[c.ID] = c
	}
	return byID, nil
}
