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

// Weight returns the weight of the list of a leg, the same for all legs of a list. Weights
// below 0 and NaN count as 0.
type Weight = func(state.Leg) float64

// Fuser scores hits by their legs and returns them best first, as a new slice that shares the
// legs. A hit without legs scores 0.
type Fuser func(hits []state.Hit, w Weight) []state.Hit

var _ = []Fuser{RRF, Fusion{}.Fuse}

// Merge unites lists: each chunk occurs once, with the legs of all its occurrences in order of
// query and name. Of two legs of the same list the better rank stays. Scores are 0, and hits in
// order of chunk ids, for a [Fuser].
func Merge(lists ...[]state.Hit) []state.Hit {
	var out []state.Hit
	at := map[string]int{} // in out, by chunk
	for _, h := range slices.Concat(lists...) {
		i, ok := at[h.Chunk]
		if !ok {
			i = len(out)
			at[h.Chunk] = i
			out = append(out, state.Hit{Chunk: h.Chunk})
		}
		out[i].Legs = append(out[i].Legs, h.Legs...)
	}
	for i := range out {
		slices.SortFunc(out[i].Legs, compareLegs)
		out[i].Legs = slices.CompactFunc(out[i].Legs, func(a, b state.Leg) bool { return list(a) == list(b) })
	}
	slices.SortFunc(out, func(a, b state.Hit) int { return strings.Compare(a.Chunk, b.Chunk) })
	return out
}

func compareLegs(a, b state.Leg) int {
	return cmp.Or(cmp.Compare(a.Query, b.Query), strings.Compare(a.Name, b.Name), linked(a)-linked(b),
		cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Score, a.Score), strings.Compare(via(a), via(b)))
}

// listID identifies a list. Hits that relations led to are a list of their own.
type listID struct {
	query int
	name  string
	links int
}

func list(l state.Leg) listID { return listID{l.Query, l.Name, linked(l)} }

func linked(l state.Leg) int {
	if l.Linked() {
		return 1
	}
	return 0
}

func via(l state.Leg) string {
	if l.Linked() {
		return l.Via
	}
	return ""
}

// RRF is reciprocal rank fusion: the score of a hit is the sum of weight/(K+rank) over its
// legs. Legs of a rank below 1 add nothing.
func RRF(hits []state.Hit, w Weight) []state.Hit {
	return score(hits, func(legs []state.Leg) float64 {
		var sum float64
		for _, l := range legs {
			if l.Rank >= 1 {
				sum += weight(w, l) / float64(K+l.Rank)
			}
		}
		return sum
	})
}

func weight(w Weight, l state.Leg) float64 {
	if v := w(l); v > 0 { // false for NaN
		return v
	}
	return 0
}

// score scores and sorts a copy of hits. Legs are passed to of in one order, so that sums do
// not depend on the order of the lists.
func score(hits []state.Hit, of func([]state.Leg) float64) []state.Hit {
	out := make([]state.Hit, len(hits))
	for i, h := range hits {
		legs := h.Legs
		if !slices.IsSortedFunc(legs, compareLegs) {
			legs = slices.Clone(legs)
			slices.SortFunc(legs, compareLegs)
		}
		out[i] = state.Hit{Chunk: h.Chunk, Score: of(legs), Legs: legs}
	}
	Sort(out)
	return out
}

// Sort sorts hits in place, best first: by score, then by the best rank of their legs, then by
// chunk id.
func Sort(hits []state.Hit) {
	slices.SortFunc(hits, func(a, b state.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(bestRank(a), bestRank(b)), strings.Compare(a.Chunk, b.Chunk))
	})
}

// bestRank returns the best rank of a hit's legs; a hit without legs is last.
func bestRank(h state.Hit) int {
	best := math.MaxInt
	for _, l := range h.Legs {
		best = min(best, l.Rank)
	}
	return best
}
