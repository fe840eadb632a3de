package index

import (
	"errors"
	"math"
	"strings"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func checkRanking(r search.Ranking) error {
	for _, v := range []float64{r.K1, r.B, r.Title, r.Heading, r.Document} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return errors.New("ranking: a value is below 0 or not finite")
		}
	}
	if r.B > 1 {
		return errors.New("ranking: B is above 1")
	}
	return nil
}

// idf returns the weight of a term that df of n texts hold; always above 0.
func idf(n, df int) float64 {
	return math.Log((float64(n-df)+0.5)/(float64(df)+0.5) + 1)
}

// lengths normalise occurrences in a field by its length: they are divided by base +
// slope·length, which is 1 for a field of average length.
type lengths struct {
	base, slope float64
}

func newLengths(b float64, terms, texts int) lengths {
	if terms == 0 {
		return lengths{base: 1}
	}
	return lengths{base: 1 - b, slope: b * float64(texts) / float64(terms)}
}

// of returns the divisor. The conversion prevents compilers from fusing multiplication and
// addition, which rounds differently.
func (l lengths) of(length uint32) float64 { return l.base + float64(l.slope*float64(length)) }

// scorer is a [Ranking] over texts with known average lengths.
type scorer struct {
	ranking              search.Ranking
	body, heading, title lengths // of chunks
	fileBody, fileTitle  lengths // of documents
}

func newScorer(r search.Ranking, t totals) scorer {
	return scorer{
		ranking:   r,
		body:      newLengths(r.B, t.Body, t.Chunks),
		heading:   newLengths(r.B, t.Heading, t.Chunks),
		title:     newLengths(r.B, t.ChunkTitles, t.Chunks),
		fileBody:  newLengths(r.B, t.Body, t.Files),
		fileTitle: newLengths(r.B, t.Titles, t.Files),
	}
}

// longQuery is the number of words from which a query is more than the name of a page: a word of
// the title counts as one of the text then, see docs/search-ablation.md.
const longQuery = 30

// of returns the scorer for a query.
func (s scorer) of(q state.Query) scorer {
	if len(strings.Fields(q.Text)) >= longQuery {
		s.ranking.Title = min(s.ranking.Title, 1)
	}
	return s
}

// norm returns occurrences scaled to a text of average length.
func norm(tf uint32, l lengths, length uint32) float64 {
	if tf == 0 {
		return 0
	}
	return float64(tf) / l.of(length)
}

// chunkTF returns the tf of a chunk: see [search.Ranking].
func (s *scorer) chunkTF(body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	return norm(body, s.body, bodyLength) +
		float64(s.ranking.Heading*norm(heading, s.heading, headingLength)) +
		float64(s.ranking.Title*norm(title, s.title, titleLength))
}

// fileTF returns the tf of a document.
func (s *scorer) fileTF(body, bodyLength, title, titleLength uint32) float64 {
	return norm(body, s.fileBody, bodyLength) + float64(s.ranking.Title*norm(title, s.fileTitle, titleLength))
}

// chunkImpact returns the contribution of a term of weight 1 to a chunk: gain · tf / (tf + K1).
func (s *scorer) chunkImpact(gain float64, body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	return float64(gain * saturated(s.chunkTF(body, bodyLength, heading, headingLength, title, titleLength), s.ranking.K1))
}

// fileImpact returns the contribution of a term of weight 1 to all chunks of a document that
// hold a term of the query.
func (s *scorer) fileImpact(gain float64, body, bodyLength, title, titleLength uint32) float64 {
	return float64(s.ranking.Document * float64(gain*saturated(s.fileTF(body, bodyLength, title, titleLength), s.ranking.K1)))
}

// saturated returns tf / (tf + k1), in [0, 1].
func saturated(tf, k1 float64) float64 {
	if tf == 0 {
		return 0
	}
	if tf > maxTF {
		return 1
	}
	return tf / (tf + k1)
}

// maxTF is a tf above which more occurrences do not change the result.
const maxTF = 1e30
