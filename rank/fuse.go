package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// K is the constant of reciprocal rank fusion: a hit at rank r of a list adds
// weight/(K+r).
const K = 60

// Weight says how much the list counts that a leg belongs to. It must give the
// same answer for all legs of one list. Weights below 0, and those that are no
// number, count as 0.
type Weight func(state.Leg) float64

// Even gives every list the weight 1.
func Even(state.Leg) float64 { return 1 }

// Fuser scores hits by their legs and returns them best first, as a new slice
// that shares the legs. A hit without legs scores 0. See the package comment
// for how ties are broken.
type Fuser func(hits []state.Hit, w Weight) []state.Hit

var _ = []Fuser{RRF, Weighted, Max, Average}

// Merge unites lists: each chunk appears once, with the legs of all its
// appearances in order of query and name. Where two appearances hold a leg of
// the same list, the better rank stays. Scores are left 0 and hits in the order
// of chunk ids: what follows is a [Fuser].
func Merge(lists ...[]state.Hit) []state.Hit {
	var out []state.Hit
	at := map[string]int{}
	for _, hits := range lists {
		for _, h := range hits {
			i, ok := at[h.Chunk]
			if !ok {
				i = len(out)
				at[h.Chunk] = i
				out = append(out, state.Hit{Chunk: h.Chunk})
			}
			out[i].Legs = append(out[i].Legs, h.Legs...)
		}
	}
	for i := range out {
		out[i].Legs = united(out[i].Legs)
	}
	slices.SortFunc(out, func(a, b state.Hit) int { return strings.Compare(a.Chunk, b.Chunk) })
	return out
}

// united sorts the legs of one chunk and keeps the best of each list. It owns
// legs.
func united(legs []state.Leg) []state.Leg {
	slices.SortFunc(legs, compareLegs)
	return slices.CompactFunc(legs, func(a, b state.Leg) bool { return list(a) == list(b) })
}

func compareLegs(a, b state.Leg) int {
	return cmp.Or(
		cmp.Compare(a.Query, b.Query),
		strings.Compare(a.Name, b.Name),
		cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(b.Score, a.Score),
	)
}

// listID names a list.
type listID struct {
	query int
	name  string
}

func list(l state.Leg) listID { return listID{l.Query, l.Name} }

// RRF is reciprocal rank fusion: the score of a hit is the sum of
// weight/(K+rank) over its legs. Legs of a rank below 1 add nothing.
func RRF(hits []state.Hit, w Weight) []state.Hit {
	return fuse(hits, func(legs []state.Leg) float64 {
		var sum float64
		for _, l := range legs {
			if l.Rank >= 1 {
				sum += weight(w, l) / float64(K+l.Rank)
			}
		}
		return sum
	})
}

// Weighted sums the scores of the legs, each brought to 0–1 within its list
// (the best hit of a list has 1, the last 0; where all are equal, all have 1),
// times the weights of their lists. A list that does not hold a hit adds
// nothing.
func Weighted(hits []state.Hit, w Weight) []state.Hit {
	norm := newMinMax(hits)
	return fuse(hits, func(legs []state.Leg) float64 {
		var sum float64
		for _, l := range legs {
			sum += weight(w, l) * norm.of(l)
		}
		return sum
	})
}

// Max takes the best of the legs' scores, each brought to 0–1 within its list
// and weighed.
func Max(hits []state.Hit, w Weight) []state.Hit {
	norm := newMinMax(hits)
	return fuse(hits, func(legs []state.Leg) float64 {
		var best float64
		for _, l := range legs {
			best = max(best, weight(w, l)*norm.of(l))
		}
		return best
	})
}

// Average takes the weighted mean of the legs' scores, each brought to 0–1
// within its list, over the lists that hold the hit.
func Average(hits []state.Hit, w Weight) []state.Hit {
	norm := newMinMax(hits)
	return fuse(hits, func(legs []state.Leg) float64 {
		var sum, total float64
		for _, l := range legs {
			sum += weight(w, l) * norm.of(l)
			total += weight(w, l)
		}
		if total == 0 {
			return 0
		}
		return sum / total
	})
}

func weight(w Weight, l state.Leg) float64 {
	if v := w(l); v > 0 { // false for NaN
		return v
	}
	return 0
}

// fuse scores and sorts a copy of hits. Legs reach score in one order, so that
// sums do not depend on the order in which lists came in.
func fuse(hits []state.Hit, score func([]state.Leg) float64) []state.Hit {
	out := make([]state.Hit, len(hits))
	for i, h := range hits {
		legs := h.Legs
		if !slices.IsSortedFunc(legs, compareLegs) {
			legs = slices.Clone(legs)
			slices.SortFunc(legs, compareLegs)
		}
		out[i] = state.Hit{Chunk: h.Chunk, Score: score(legs), Legs: legs}
	}
	Sort(out)
	return out
}

// Sort puts hits in order, best first: by score, then by the best rank of their
// legs, then by chunk id. It sorts in place.
func Sort(hits []state.Hit) {
	slices.SortFunc(hits, func(a, b state.Hit) int {
		return cmp.Or(
			cmp.Compare(b.Score, a.Score),
			cmp.Compare(bestRank(a), bestRank(b)),
			strings.Compare(a.Chunk, b.Chunk),
		)
	})
}

// bestRank is the best rank of a hit's legs; a hit without legs comes last.
func bestRank(h state.Hit) int {
	best := math.MaxInt
	for _, l := range h.Legs {
		best = min(best, l.Rank)
	}
	return best
}

// minMax brings the scores of each list to 0–1.
type minMax map[listID]struct{ low, high float64 }

func newMinMax(hits []state.Hit) minMax {
	m := minMax{}
	for _, h := range hits {
		for _, l := range h.Legs {
			r, ok := m[list(l)]
			if !ok {
				r.low, r.high = l.Score, l.Score
			}
			r.low, r.high = min(r.low, l.Score), max(r.high, l.Score)
			m[list(l)] = r
		}
	}
	return m
}

func (m minMax) of(l state.Leg) float64 {
	r := m[list(l)]
	if !(r.high > r.low) {
		return 1
	}
	return (l.Score - r.low) / (r.high - r.low)
}
