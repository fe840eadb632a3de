package index

import "math"

// bound is what the tf of [Ranking] does not exceed within some postings: that of a chunk
// and that of a document. Bounds are computed with [DefaultRanking] and the averages of
// the segment. A search with other numbers, or over segments whose averages differ,
// multiplies them: see stretch.
type bound struct{ Chunk, File float32 }

// roundUp converts to 32 bits and adds a little for what rounding may take away.
func roundUp(v float64) float32 { return float32(v * (1 + 1e-6)) }

// stretch returns how many times greater the tf of s can be than that of the scorer that
// bounds were computed with: of chunks and of documents.
func (s *scorer) stretch(made *scorer) (chunk, file float64) {
	chunk = max(
		greatestRatio(made.body, s.body, 1),
		greatestRatio(made.heading, s.heading, s.ranking.Heading/made.ranking.Heading),
		greatestRatio(made.title, s.title, s.ranking.Title/made.ranking.Title),
	)
	file = max(
		greatestRatio(made.fileBody, s.fileBody, 1),
		greatestRatio(made.fileTitle, s.fileTitle, s.ranking.Title/made.ranking.Title),
	)
	return chunk, file
}

// greatestRatio returns the greatest ratio of was.of(length) to is.of(length), for lengths
// from 1 on, times weight. A ratio of two straight lines is greatest at one of the ends.
func greatestRatio(was, is lengths, weight float64) float64 {
	if weight == 0 {
		return 0
	}
	r := was.of(1) / is.of(1)
	switch {
	case is.slope > 0:
		r = max(r, was.slope/is.slope)
	case was.slope > 0:
		r = math.Inf(1) // long texts were marked down, and are not any more
	}
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r * weight
}
