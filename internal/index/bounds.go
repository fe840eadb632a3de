package index

import "math"

// bound is an upper bound of the tf of [search.Ranking] within some postings: that of a chunk
// and that of a document. Bounds are computed with [search.DefaultRanking] and the averages of
// the segment. A search with another ranking, or over segments with other averages, scales
// them: see stretch.
type bound struct{ Chunk, File float32 }

// roundUp converts to 32 bits and adds a margin for rounding.
func roundUp(v float64) float32 { return float32(v * (1 + 1e-6)) }

// stretch returns the factors by which the tf of s can exceed that of the scorer that bounds
// were computed with: of chunks and of documents.
func (s *scorer) stretch(made *scorer) (chunk, file float64) {
	chunk = max(
		maxRatio(made.body, s.body, 1),
		maxRatio(made.heading, s.heading, s.ranking.Heading/made.ranking.Heading),
		maxRatio(made.title, s.title, s.ranking.Title/made.ranking.Title),
	)
	file = max(
		maxRatio(made.fileBody, s.fileBody, 1),
		maxRatio(made.fileTitle, s.fileTitle, s.ranking.Title/made.ranking.Title),
	)
	return chunk, file
}

// maxRatio returns weight times the greatest ratio of was.of(length) to is.of(length), for
// lengths from 1 on. A ratio of two straight lines is greatest at one of the ends.
func maxRatio(was, is lengths, weight float64) float64 {
	if weight == 0 {
		return 0
	}
	r := was.of(1) / is.of(1)
	switch {
	case is.slope > 0:
		r = max(r, was.slope/is.slope)
	case was.slope > 0:
		r = math.Inf(1) // long texts lost score before, and do not now
	}
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r * weight
}
