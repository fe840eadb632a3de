package index

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Explain says how the score of a chunk for a query comes about. A chunk that
// does not match scores 0. The error is that there is no such chunk.
func (s *Searcher) Explain(ctx context.Context, q state.Query, id string) (*search.HitExplanation, error) {
	i, c, ok := s.locate(id)
	if !ok {
		return nil, fmt.Errorf("no passage has the id %q", id)
	}
	p := &s.parts[i]
	x := &search.HitExplanation{
		ChunkID: id, DocumentShare: s.scorer.ranking.Document, Ranking: s.scorer.ranking,
		Chunks: s.all.Chunks, Documents: s.all.Files, Terms: []search.TermExplanation{}, Missing: []string{},
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
		if c, found := p.place(bare); found && p.live(p.fileOf(c)) {
			return i, c, true
		}
	}
	return 0, 0, false
}

// explainTerm says what a term gives a chunk, and returns the numbers that a search
// adds up.
func (s *Searcher) explainTerm(p *part, chunk int, t queryTerm, postings entry) (x search.TermExplanation, ofChunk, ofFile float64) {
	file := p.fileOf(chunk)
	first, end := p.chunksOf(file)
	var here posting
	var total, title uint32
	c := newCursor(p.segment, postings)
	for c.seek(uint32(first)); uint64(c.chunk) < uint64(end); c.next() {
		total += c.body
		title += c.title
		if int(c.chunk) == chunk {
			here = c.posting
		}
	}
	r, f := s.scorer.ranking, &p.Files[file]
	body, heading := p.chunkBody[chunk], p.chunkHeading[chunk]
	ofChunk = s.scorer.chunkImpact(t.chunkGain, here.body, body, here.heading, heading, title, f.Title)
	ofFile = s.scorer.fileImpact(t.fileGain, total, f.Body, title, f.Title)
	tf := s.scorer.fileTF(total, f.Body, title, f.Title)
	x = search.TermExplanation{Term: t.name, Weight: t.weight}
	x.Chunk = explainPart(t.chunkDF, s.all.Chunks, s.scorer.chunkTF(here.body, body, here.heading, heading, title, f.Title), t.weight*ofChunk,
		explainField("text", here.body, body, s.scorer.body, 1),
		explainField("headings", here.heading, heading, s.scorer.heading, r.Heading),
		explainField("title", title, f.Title, s.scorer.title, r.Title))
	x.Document = explainPart(t.fileDF, s.all.Files, tf, t.weight*t.fileGain*saturated(tf, r.K1),
		explainField("text", total, f.Body, s.scorer.fileBody, 1),
		explainField("title", title, f.Title, s.scorer.fileTitle, r.Title))
	return x, ofChunk, ofFile
}

func explainPart(df, n int, tf, contribution float64, fields ...search.FieldExplanation) search.PartExplanation {
	x := search.PartExplanation{DF: df, IDF: idf(n, df), TF: tf, Contribution: contribution, Fields: []search.FieldExplanation{}}
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

func explainField(name string, occurrences, length uint32, l lengths, weight float64) search.FieldExplanation {
	return search.FieldExplanation{
		Field: name, Occurrences: int(occurrences), Length: int(length), Norm: l.of(length), Weight: weight,
		TF: weight * norm(occurrences, l, length),
	}
}
