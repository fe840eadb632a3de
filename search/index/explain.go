package index

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/state"
)

// HitExplanation says where the score of a chunk comes from:
//
//	Score = Chunk + DocumentShare · Document
//
// where Chunk and Document are the sums of the contributions of Terms. Score is
// that of the hit to the last bit; the sums are so but for rounding, about
// 1e-15 of them. See [Ranking] for the formula.
type HitExplanation struct {
	ChunkID       string            `json:"chunk_id"`
	Score         float64           `json:"score"`
	Chunk         float64           `json:"chunk"`          // what the chunk itself gets
	Document      float64           `json:"document"`       // what its document gets
	DocumentShare float64           `json:"document_share"` // Ranking.Document
	Ranking       Ranking           `json:"ranking"`
	Chunks        int               `json:"chunks"`    // N of the idf of chunks
	Documents     int               `json:"documents"` // N of the idf of documents
	Terms         []TermExplanation `json:"terms"`     // of the query that any chunk holds, what counts most first
	Missing       []string          `json:"missing"`   // terms of the query that no chunk holds
}

// TermExplanation is what one term of the query counts.
type TermExplanation struct {
	Term     string          `json:"term"`
	Weight   float64         `json:"weight"` // in the query
	Chunk    PartExplanation `json:"chunk"`
	Document PartExplanation `json:"document"`
}

// PartExplanation is what a term counts in a chunk, or in its document:
// weight · IDF · TF·(K1+1)/(TF+K1).
type PartExplanation struct {
	DF           int                `json:"df"`
	IDF          float64            `json:"idf"`
	TF           float64            `json:"tf"`           // sum of the fields
	Contribution float64            `json:"contribution"` // to the sum
	Fields       []FieldExplanation `json:"fields"`       // that hold the term
}

// FieldExplanation is what a field has part in a term's TF.
type FieldExplanation struct {
	Field        string  `json:"field"` // text, headings or title
	Occurrences  int     `json:"occurrences"`
	Length       int     `json:"length"`       // of the field, in terms
	Norm         float64 `json:"norm"`         // what occurrences are divided by for the length
	Weight       float64 `json:"weight"`       // of the field
	TF           float64 `json:"tf"`           // Weight · Occurrences / Norm
	Contribution float64 `json:"contribution"` // the term's, shared by TF
}

// Explain says how the score of a chunk for a query comes about. A chunk that
// does not match scores 0. The error is that there is no such chunk.
func (s *Searcher) Explain(ctx context.Context, q state.Query, id string) (*HitExplanation, error) {
	i, c, ok := s.locate(id)
	if !ok {
		return nil, fmt.Errorf("no passage has the id %q", id)
	}
	p := &s.parts[i]
	x := &HitExplanation{
		ChunkID: id, DocumentShare: s.scorer.ranking.Document, Ranking: s.scorer.ranking,
		Chunks: s.all.chunks, Documents: s.all.files, Terms: []TermExplanation{}, Missing: []string{},
	}
	known := map[string]bool{}
	var chunk, whole float64 // added up as a search does
	for _, t := range s.queryTerms(q) {
		known[t.name] = true
		e, ofChunk, ofFile := s.explainTerm(p, c, t, t.parts[i])
		chunk += float64(t.weight * ofChunk)
		whole += float64(t.weight * ofFile)
		x.Chunk += e.Chunk.Contribution
		x.Document += e.Document.Contribution
		x.Terms = append(x.Terms, e)
	}
	for _, t := range s.Analyzer().Analyze(q.Text) {
		if !known[t.Term] {
			known[t.Term] = true
			x.Missing = append(x.Missing, t.Term)
		}
	}
	if x.Chunk > 0 {
		x.Score = chunk + whole
	}
	return x, context.Cause(ctx)
}

// locate finds the chunk that has a public id: see publicID.
func (s *Searcher) locate(id string) (part, chunk int, ok bool) {
	bare, mark, marked := strings.Cut(id, "@")
	for i := range s.parts {
		p := &s.parts[i]
		if marked && rootMark(p.root) != mark {
			continue
		}
		if c, found := p.place(bare); found && p.live(c) {
			return i, c, true
		}
	}
	return 0, 0, false
}

// explainTerm says what a term gives a chunk, and returns the numbers that a search
// adds up.
func (s *Searcher) explainTerm(p *part, chunk int, t queryTerm, postings entry) (x TermExplanation, ofChunk, ofFile float64) {
	file := int(p.chunkField(chunk, 0))
	first, end := p.chunksOf(file)
	var here posting
	var total, title uint32
	var c cursor
	c.open(postings)
	for c.seek(uint32(first)); uint64(c.chunk) < uint64(end); c.next() { //nolint:gosec // chunks of a segment fit 32 bits
		total += c.body
		title += c.title
		if int(c.chunk) == chunk {
			here = c.posting
		}
	}
	r, titleLength := s.scorer.ranking, p.fileField(file, 2)
	body, heading := p.chunkField(chunk, 1), p.chunkField(chunk, 2)
	length := p.fileField(file, 1)
	ofChunk = s.scorer.chunkImpact(t.chunkGain, here.body, body, here.heading, heading, title, titleLength)
	ofFile = s.scorer.fileImpact(t.fileGain, total, length, title, titleLength)
	x = TermExplanation{Term: t.name, Weight: t.weight}
	x.Chunk = explainPart(t.chunkDF, s.all.chunks, s.scorer.chunkTF(here.body, body, here.heading, heading, title, titleLength), t.weight*ofChunk,
		explainField("text", here.body, body, s.scorer.body, 1),
		explainField("headings", here.heading, heading, s.scorer.heading, r.Heading),
		explainField("title", title, titleLength, s.scorer.title, r.Title))
	x.Document = explainPart(t.fileDF, s.all.files, s.scorer.fileTF(total, length, title, titleLength),
		t.weight*t.fileGain*saturated(s.scorer.fileTF(total, length, title, titleLength), r.K1),
		explainField("text", total, length, s.scorer.fileBody, 1),
		explainField("title", title, titleLength, s.scorer.fileTitle, r.Title))
	return x, ofChunk, ofFile
}

func explainPart(df, n int, tf, contribution float64, fields ...FieldExplanation) PartExplanation {
	x := PartExplanation{DF: df, IDF: idf(n, df), TF: tf, Contribution: contribution, Fields: []FieldExplanation{}}
	for _, f := range fields {
		if f.Occurrences > 0 {
			if tf > 0 {
				f.Contribution = contribution * f.TF / tf
			}
			x.Fields = append(x.Fields, f)
		}
	}
	return x
}

func explainField(name string, occurrences, length uint32, l lengths, weight float64) FieldExplanation {
	return FieldExplanation{
		Field: name, Occurrences: int(occurrences), Length: int(length), Norm: l.of(length), Weight: weight,
		TF: weight * norm(occurrences, l, length),
	}
}
