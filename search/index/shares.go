package index

import "sync"

// shares are plainShares of texts of all lengths below plainLengths, made when first
// needed.
type shares struct {
	once sync.Once
	list shareTable
}

// shareTable has a place for each length and each number of occurrences: see plainPlace.
type shareTable [plainLengths * plainCounts]plainShares

// all returns the shares for a scorer, always the same one.
func (s *shares) all(score *scorer) *shareTable {
	s.once.Do(func() {
		k1 := score.ranking.K1
		for n := range uint32(plainLengths) {
			chunk, file := float64(k1*score.body.of(n)), float64(k1*score.fileBody.of(n))
			for i := range plainCounts {
				tf := float64(i + 1)
				s.list[int(n)*plainCounts+i] = plainShares{tf / (tf + chunk), tf / (tf + file)}
			}
		}
	})
	return &s.list
}

// plainPlace is the place of the shares of a posting with this code, in a chunk with this
// length among rows. It is behind all where the term is not in the text only, the chunk is
// not all of its file, or it has too many terms; such lengths and codes are far too large.
func plainPlace(code uint32, length uint16) uint32 {
	if tf := code - 1; tf < plainCounts {
		return uint32(length-onlyChunk)*plainCounts + tf
	}
	return plainLengths * plainCounts
}
