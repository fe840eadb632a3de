package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// Methods of fusion.
const (
	ReciprocalRank = "reciprocal-rank-fusion" // [RRF]: ranks alone
	ByWeight       = "weighted"               // the weighted mean of scores, scaled to 0–1 within each list
	ByMax          = "max"                    // the best weighted score
	ByAverage      = "average"                // the weighted mean over the lists that hold the hit
)

// Methods returns the methods of fusion, the default first.
func Methods() []string { return []string{ReciprocalRank, ByWeight, ByMax, ByAverage} }

// Defaults of a [Fusion].
const (
	DefaultMultiSource = 1.1 // Fusion.MultiSource
	DefaultThreshold   = 0.5 // Fusion.Threshold
)

// Fusion configures the fusion of lists. The zero value is reciprocal rank fusion.
//
// All other methods use scores. They scale those of each list to 0–1, from its lowest to its
// highest; if all are equal, as in a list of one hit, all are 1.
type Fusion struct {
	Method string // one of [Methods]; empty: ReciprocalRank
	// MultiSource is a factor of ByWeight: a hit that n legs of different names found scores
	// MultiSource^(n−1) times as much, at most 1. 0 means DefaultMultiSource; 1 has no effect.
	MultiSource float64
	// Threshold is the lowest mean of ByWeight over the lists that hold the hit, so a hit of
	// one list of little weight can pass. 0 means DefaultThreshold; a negative value keeps all
	// hits.
	Threshold float64
}

// Check returns the first fault of f.
func (f Fusion) Check() error {
	switch {
	case f.Method != "" && !slices.Contains(Methods(), f.Method):
		return fmt.Errorf("fusion %q is not one of %s", f.Method, strings.Join(Methods(), ", "))
	case f.MultiSource != 0 && !(f.MultiSource >= 1 && f.MultiSource <= 10):
		return fmt.Errorf("the preference for several sources is %v, but must be from 1 to 10", f.MultiSource)
	case !(f.Threshold <= 1):
		return fmt.Errorf("the threshold of the fusion is %v, but must be at most 1", f.Threshold)
	}
	return nil
}

// Fuse is a [Fuser]. An unknown method is the default: see [Fusion.Check].
func (f Fusion) Fuse(hits []state.Hit, w Weight) []state.Hit {
	switch f.Method {
	case ByWeight:
		return f.weighted(hits, w)
	case ByMax:
		norm := newMinMax(hits)
		return score(hits, func(legs []state.Leg) (best float64) {
			for _, l := range legs {
				best = max(best, weight(w, l)*norm.of(l))
			}
			return best
		})
	case ByAverage:
		norm := newMinMax(hits)
		return score(hits, func(legs []state.Leg) float64 {
			sum, total := norm.sum(legs, w)
			return ratio(sum, total)
		})
	}
	return RRF(hits, w)
}

// weighted sums up the scores of a hit times the weights of their lists, whose sum is 1: a list
// without the hit adds nothing.
func (f Fusion) weighted(hits []state.Hit, w Weight) []state.Hit {
	norm := newMinMax(hits)
	all := norm.weights(w)
	factor, threshold := f.MultiSource, f.Threshold
	if factor == 0 {
		factor = DefaultMultiSource
	}
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	kept := slices.Clone(hits)
	if threshold > 0 {
		kept = slices.DeleteFunc(kept, func(h state.Hit) bool {
			sum, total := norm.sum(h.Legs, w)
			return ratio(sum, total) < threshold-tolerance
		})
	}
	return score(kept, func(legs []state.Leg) float64 {
		sum, _ := norm.sum(legs, w)
		return min(1, ratio(sum, all)*math.Pow(factor, float64(sources(legs, w)-1)))
	})
}

// sources returns the number of legs of different names with a weight that found a hit; at
// least 1.
func sources(legs []state.Leg, w Weight) int {
	n := 0
	for i, l := range legs {
		counted := func(o state.Leg) bool { return o.Name == l.Name && weight(w, o) > 0 }
		if weight(w, l) > 0 && !slices.ContainsFunc(legs[:i], counted) {
			n++
		}
	}
	return max(1, n)
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// minMax scales the scores of each list to 0–1. There are few lists.
type minMax []span

// span is the range of the scores of a list.
type span struct {
	list      listID
	first     state.Leg // of the list
	low, high float64
}

func newMinMax(hits []state.Hit) minMax {
	var m minMax
	for _, h := range hits {
		for _, l := range h.Legs {
			if s := m.find(l); s != nil {
				s.low, s.high = min(s.low, l.Score), max(s.high, l.Score)
			} else {
				m = append(m, span{list(l), l, l.Score, l.Score})
			}
		}
	}
	return m
}

// find returns the range of a leg's list; nil if it is unknown.
func (m minMax) find(l state.Leg) *span {
	id := list(l)
	for i := range m {
		if m[i].list == id {
			return &m[i]
		}
	}
	return nil
}

func (m minMax) of(l state.Leg) float64 {
	s := m.find(l)
	if s == nil || !(s.high > s.low) {
		return 1
	}
	return (l.Score - s.low) / (s.high - s.low)
}

// sum returns the weighted sum of the scores of one hit, and the sum of the weights.
func (m minMax) sum(legs []state.Leg, w Weight) (sum, total float64) {
	for _, l := range legs {
		sum += weight(w, l) * m.of(l)
		total += weight(w, l)
	}
	return sum, total
}

// weights returns the sum of the weights of all lists, added in one order.
func (m minMax) weights(w Weight) float64 {
	legs := make([]state.Leg, len(m))
	for i, s := range m {
		legs[i] = s.first
	}
	slices.SortFunc(legs, compareLegs)
	var all float64
	for _, l := range legs {
		all += weight(w, l)
	}
	return all
}
