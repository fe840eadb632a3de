package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// nearness describes the scores of the dense leg.
type nearness struct {
	spread float64 // of the scores of all passages, see [rank.Spread]; 0 if unknown
	lowest float64 // score of the last hit, an upper bound for passages that were not found
	found  bool    // the leg found something
}

// unknown reports that the leg found something, but too few passages to judge its scores.
func (n nearness) unknown() bool { return n.found && n.spread == 0 }

// nearnessOf describes the hits of the dense leg among all passages.
func nearnessOf(hits []state.Hit, all int) nearness {
	scores := make([]float64, len(hits))
	for i, h := range hits {
		scores[i] = h.Score
	}
	n := nearness{spread: rank.Spread(scores, all), found: len(hits) > 0}
	if n.spread > 0 {
		n.lowest = scores[len(scores)-1]
	}
	return n
}

// orderByProbability orders candidates, which are the chunks of hits, by the probability that
// each is the passage asked for. The probabilities of a list by words are combined with those
// by vectors: a lead of one spread makes a passage e times as likely. Words count by the
// share of the question's words that the documents hold. A hit that only relations or names
// found has the probability of one that neither leg found.
func (e *Engine) orderByProbability(ctx context.Context, q state.Query, hits []ListedHit, candidates []state.Source, n nearness) (Ordered, error) {
	byWords, near := slices.Clone(candidates), make([]float64, len(hits))
	lexicalRank, place := map[string]int{}, map[string]int{}
	for i, h := range hits {
		id := h.Chunk.ID
		place[id], lexicalRank[id], byWords[i].Score, near[i] = i, math.MaxInt, 0, n.lowest
		for _, l := range h.Legs {
			switch {
			case l.Linked():
			case l.Name == LegLexical:
				lexicalRank[id], byWords[i].Score = l.Rank, l.Score
			case l.Name == LegDense:
				near[i] = l.Score
			}
		}
	}
	slices.SortStableFunc(byWords, func(a, b state.Source) int { return cmp.Compare(lexicalRank[a.ID], lexicalRank[b.ID]) })
	if e.o.List != nil {
		var err error
		if byWords, err = e.o.List.Rerank(ctx, []state.Query{q}, byWords); err != nil {
			return Ordered{}, err
		}
	}
	words := make([]float64, len(hits))
	for _, c := range byWords {
		words[place[c.ID]] = c.Score
	}
	out := Ordered{Sources: slices.Clone(candidates), By: byProbability}
	probabilities, weights := [][]float64{words}, []float64{e.lexicalShare(q.Text)}
	if n.spread > 0 {
		probabilities, weights = append(probabilities, rank.Softmax(near, n.spread)), append(weights, 1)
	}
	for i, p := range rank.Odds(probabilities, weights) {
		out.Sources[i].Score = p
	}
	slices.SortStableFunc(out.Sources, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}
