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
