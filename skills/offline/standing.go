package offline

import (
	"math"

	"example.com/ragflow/state"
)

// Constants of BM25, the customary ones.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// Few passages tell nothing by their absence: then the features that compare
// have about their mean over the questions learnt from.
const (
	farAhead   = 8    // standard deviations
	evenSpread = 0.05 // of its own score, added to the deviation: scores may be all alike
	usualAhead = 0.39
	usualPairs = 0.25

	usualStatement = 0.44
)

// wholeSentence is how much of the question a sentence must hold for it not to count
// against it that others say the same: copies of a page, a message that many tell of.
const wholeSentence = 0.9

// The larger an index, the more of its passages speak of the same, and the less a lead
// tells: it is drawn to what is usual, and is that where an index is larger than those
// learnt on by wholeCrowd powers of ten.
const (
	wholeCrowd     = 1.5
	crowdStatement = 0.29 // mean of byStatement in MTRAG clapnq, of 12,166 passages
)

// inCrowd is what a feature that compares is in an index of the size it is.
func (e *evidence) inCrowd(value, usual float64) float64 {
	return value + (usual-value)*min(1, e.crowd/wholeCrowd)
}

// lead is by how many standard deviations the BM25 of passage at is above the
// mean of the others, as a share of farAhead.
func (l lexicon) lead(terms []weighed, best []state.Chunk, at int) float64 {
	bags := make([]*bag, len(best))
	mean := 0.0
	for i, c := range best {
		bags[i] = l.bag(c.Text)
		mean += float64(len(bags[i].tokens)) / float64(len(best))
	}
	own := 0.0
	var others []float64
	for i, b := range bags {
		norm := saturation * (1 - lengthPart + lengthPart*float64(len(b.tokens))/max(mean, 1))
		score := 0.0
		for _, t := range terms {
			if n := b.counts[t.term]; n > 0 {
				score += t.weight * n * (saturation + 1) / (n + norm)
			}
		}
		if i == at {
			own = score
		} else {
			others = append(others, score)
		}
	}
	switch {
	case own == 0:
		return 0
	case len(others) < gradedPassages:
		return usualAhead
	}
	return above(own, others)
}

// above is the standard score of own among others as a share of farAhead, from
// 0 to 1.
func above(own float64, others []float64) float64 {
	var mean, variance float64
	for _, o := range others {
		mean += o / float64(len(others))
	}
	for _, o := range others {
		variance += (o - mean) * (o - mean) / float64(len(others))
	}
	return min(1, max(0, (own-mean)/(math.Sqrt(variance)+evenSpread*own)/farAhead))
}

// bestStatements are the scores of the best statement of each passage, by the
// weights with which the answerer chooses its sentences, and the greatest share of the
// question's neighbouring words that one of them has as neighbours. Other words for
// those of the question count in them.
func (l lexicon) bestStatements(q state.Query, best []state.Chunk, others otherwise) (scores []float64, pairs float64) {
	sources := make([]state.Source, len(best))
	for i, c := range best {
		sources[i] = state.Source{Chunk: c}
	}
	question, _ := asked(q.Text)
	s := newScoring(l, question, q, sources)
	s.otherwise = others
	s.wording.weigh(s.cut)
	w := coefficientsFor(s.kind)
	scores = make([]float64, len(best))
	for i := range s.cut {
		e := s.bestOfPassage(i, w)
		scores[i] = w.of(&e)
		pairs = max(pairs, e[wordPairs])
	}
	return scores, pairs
}

// standing is by how much the best of the statements, one of each passage, is above the
// mean of the others, at most 1: how far an answer would stand out. Few passages tell
// nothing.
func standing(statements []float64) float64 {
	if len(statements) <= gradedPassages {
		return usualStatement
	}
	sum, top := 0.0, math.Inf(-1)
	for _, score := range statements {
		sum += score
		top = max(top, score)
	}
	return min(1, top-(sum-top)/float64(len(statements)-1))
}

// bestOfPassage are the features of the best statement of source i, without what it
// would have from the search; none of a source without any.
func (s *selection) bestOfPassage(i int, w *coefficients) signals {
	p := &s.cut[i]
	var best signals
	if len(p.units) == 0 {
		return best
	}
	v, b := s.view(p), s.build(p)
	top := math.Inf(-1)
	for j := range p.units {
		e := v.signals(j, 0, false)
		b.signals(&e, j)
		if score := w.of(&e); score > top {
			top, best = score, e
		}
	}
	return best
}
