package index

import "sync"

// shares are plainShares of texts of all lengths below plainLengths, made when first
// needed.
type shares struct {
	once sync.Once
	list []plainShares
}

// all returns the shares for a scorer, always the same one.
func (s *shares) all(score *scorer) []plainShares {
	s.once.Do(func() {
		k1 := score.ranking.K1
		s.list = make([]plainShares, 0, plainLengths*plainCounts)
		for n := range uint32(plainLengths) {
			chunk, file := float64(k1*score.body.of(n)), float64(k1*score.fileBody.of(n))
			for tf := 1.0; tf <= plainCounts; tf++ {
				s.list = append(s.list, plainShares{tf / (tf + chunk), tf / (tf + file)})
			}
		}
	})
	return s.list
}

// plainPlace is the place in shares of a posting with this code in a chunk with this
// length among rows; behind all where it is not in the text only, or the chunk not all of
// its file, or either is too large.
func plainPlace(code byte, length uint16) int {
	tf := uint32(code) - 1
	if tf >= plainCounts {
		return plainLengths * plainCounts
	}
	return int(uint32(length-onlyChunk)*plainCounts + tf)
}
