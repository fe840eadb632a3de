package ragflow

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/ragflow/search/rank"
	"example.com/ragflow/state"
)

// orderOdds is the order of a list that words and meaning found, where no other is
// set.
const orderOdds = "odds"

// Meaning is turned down, and that is said, where no passage has more than dimMeaning
// of the chances by it, and one by words at least clearWords. Words then decide by
// themselves; nothing but the sentence depends on it.
const (
	dimMeaning = 0.1
	clearWords = 0.5
)

// meant is what the scores of the dense leg are worth.
type meant struct {
	spread float64 // of the scores of all passages, see [rank.Spread]; 0: it cannot be told
	least  float64 // score of the last one found: those it did not find have no more
	found  bool    // it found something
}

// silent reports that meaning found something and it cannot be told what that is
// worth: there are too few passages.
func (m meant) silent() bool { return m.found && m.spread == 0 }

// meaningOf looks at what the dense leg found among all passages.
func meaningOf(hits []state.Hit, all int) meant {
	scores := make([]float64, len(hits))
	for i, h := range hits {
		scores[i] = h.Score
	}
	m := meant{spread: rank.Spread(scores, all), found: len(hits) > 0}
	if m.spread > 0 {
		m.least = scores[len(scores)-1]
	}
	return m
}

// byOdds puts candidates, which are the passages of hits, in order by how likely each
// is the one asked for: by words, as a list of words alone is ordered, and by meaning,
// where a lead of one spread of the scores of all passages makes it e times as likely.
// Words count for as much as stands in the documents of what the question says. Where
// one cannot tell the candidates apart, the other decides. What only links or names
// found has the chances of what neither leg found. The note says that meaning tells
// little; empty where it does not.
func (e *engine) byOdds(ctx context.Context, q state.Query, hits []SearchHit, candidates []state.Source, m meant) (out []state.Source, note string, err error) {
	byWords, nearness := slices.Clone(candidates), make([]float64, len(hits))
	lexical := make(map[string]int, len(hits))
	place := map[string]int{}
	for i, h := range hits {
		place[h.ChunkID] = i
		lexical[h.ChunkID], byWords[i].Score, nearness[i] = math.MaxInt, 0, m.least
		for _, l := range h.Legs {
			switch {
			case l.Linked():
			case l.Name == LegLexical:
				lexical[h.ChunkID], byWords[i].Score = l.Rank, l.Score
			case l.Name == LegDense:
				nearness[i] = l.Score
			}
		}
	}
	slices.SortStableFunc(byWords, func(a, b state.Source) int { return cmp.Compare(lexical[a.ID], lexical[b.ID]) })
	byWords, err = e.skills.list.Rerank(ctx, []state.Query{q}, byWords)
	if err != nil {
		return nil, "", err
	}
	words := make([]float64, len(hits))
	for _, c := range byWords {
		words[place[c.ID]] = c.Score
	}
	chances, weights := [][]float64{words}, []float64{e.searcher.wordsTell(q)}
	if m.spread > 0 && len(hits) > 0 {
		near := rank.Softmax(nearness, m.spread)
		chances, weights = append(chances, near), append(weights, 1)
		if slices.Max(near) < dimMeaning && slices.Max(words) >= clearWords {
			note = "searched mostly by words: by meaning no passage stands out from the others"
		}
	}
	out = slices.Clone(candidates)
	for i, p := range rank.Odds(chances, weights) {
		out[i].Score = p
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, note, nil
}
