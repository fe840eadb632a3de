package index

// Beside returns the id of the chunk that stands so many places behind another one of the
// same document, or before it where away is negative. It reports false where there is
// none, and for an id that the searcher does not know.
func (s *Searcher) Beside(id string, away int) (beside string, ok bool) {
	i, chunk, ok := s.locate(id)
	if !ok {
		return "", false
	}
	p := &s.parts[i]
	first, end := p.chunksOf(int(p.chunkField(chunk, 0)))
	at := chunk + away
	if at < first || at >= end || !p.live(at) {
		return "", false
	}
	return s.publicID(candidate{part: i, chunk: at}), true
}
