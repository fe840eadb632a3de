package index

import (
	"errors"
	"math"
)

// Ranking are the numbers of the score. For each term of the query a chunk gets
//
//	weight · idf · tf·(K1+1) / (tf+K1)
//	idf = ln((N−df+0.5)/(df+0.5) + 1)
//	tf  = Σ over fields: field weight · occurrences / (1 − B + B·length/average length)
//
// with the fields text (weight 1), heading path and title. N and df count
// chunks; df those that hold the term in any field. To the sum over terms is
// added Document times the same for the document as a whole, with its text and
// title as fields and documents counted instead of chunks.
//
// With Title, Heading and Document 0 this is plain BM25.
type Ranking struct {
	K1       float64 `json:"k1"`       // how soon repeating a term stops to count; ≥ 0
	B        float64 `json:"b"`        // how much longer texts are marked down; 0–1
	Title    float64 `json:"title"`    // weight of the title; ≥ 0
	Heading  float64 `json:"heading"`  // weight of the heading path; ≥ 0
	Document float64 `json:"document"` // share of the document's own score; ≥ 0
}

// DefaultRanking returns the numbers in use. They were chosen for both questions
// over documentation (docker-eval) and abstracts (SciFact). K1 and B are the
// customary ones; the figures are flat around all of them but for Document,
// without which three of thirty questions lose the first place.
func DefaultRanking() Ranking {
	return Ranking{K1: 1.2, B: 0.75, Title: 2, Heading: 0.5, Document: 1}
}

func (r Ranking) check() error {
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

// idf is the weight of a term that df of n texts hold; always above 0.
func idf(n, df int) float64 {
	return math.Log((float64(n-df)+0.5)/(float64(df)+0.5) + 1)
}

// lengths say how much occurrences in a field count by its length: they are
// divided by base + slope·length, which is 1 for a field of average length.
type lengths struct {
	base, slope float64
}

func newLengths(b float64, terms, texts int) lengths {
	if terms == 0 {
		return lengths{base: 1}
	}
	return lengths{base: 1 - b, slope: b * float64(texts) / float64(terms)}
}

// of is the divisor. The conversion keeps compilers from fusing multiplication
// and addition, which rounds differently.
func (l lengths) of(length uint32) float64 { return l.base + float64(l.slope*float64(length)) }

// scorer is a [Ranking] over texts with known average lengths.
type scorer struct {
	ranking              Ranking
	body, heading, title lengths // of chunks
	fileBody, fileTitle  lengths // of documents
}

func newScorer(r Ranking, t totals) scorer {
	return scorer{
		ranking:   r,
		body:      newLengths(r.B, t.body, t.chunks),
		heading:   newLengths(r.B, t.heading, t.chunks),
		title:     newLengths(r.B, t.chunkTitles, t.chunks),
		fileBody:  newLengths(r.B, t.body, t.files),
		fileTitle: newLengths(r.B, t.titles, t.files),
	}
}

// norm returns occurrences scaled to a text of average length.
func norm(tf uint32, l lengths, length uint32) float64 {
	if tf == 0 {
		return 0
	}
	return float64(tf) / l.of(length)
}

// chunkTF is the tf of a chunk: see [Ranking].
func (s *scorer) chunkTF(body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	return norm(body, s.body, bodyLength) +
		float64(s.ranking.Heading*norm(heading, s.heading, headingLength)) +
		float64(s.ranking.Title*norm(title, s.title, titleLength))
}

// fileTF is the tf of a document.
func (s *scorer) fileTF(body, bodyLength, title, titleLength uint32) float64 {
	return norm(body, s.fileBody, bodyLength) + float64(s.ranking.Title*norm(title, s.fileTitle, titleLength))
}

// chunkImpact is what a term of weight 1 adds to a chunk: gain · tf / (tf + K1).
func (s *scorer) chunkImpact(gain float64, body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	return float64(gain * saturated(s.chunkTF(body, bodyLength, heading, headingLength, title, titleLength), s.ranking.K1))
}

// fileImpact is what a term of weight 1 adds to all chunks of a document that hold a
// term of the query.
func (s *scorer) fileImpact(gain float64, body, bodyLength, title, titleLength uint32) float64 {
	return float64(s.ranking.Document * float64(gain*saturated(s.fileTF(body, bodyLength, title, titleLength), s.ranking.K1)))
}

// saturated returns tf / (tf + k1), the share of the most that occurrences can count.
func saturated(tf, k1 float64) float64 {
	if tf == 0 {
		return 0
	}
	if tf > maxTF {
		return 1
	}
	return tf / (tf + k1)
}

// maxTF is a tf from which on more occurrences count the same to the last bit.
const maxTF = 1e30
