package index

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// queryTerm is a term of a query with its statistics in the searcher.
type queryTerm struct {
	name                string
	weight              float64 // in the query
	chunkDF, fileDF     int     // numbers of chunks and documents with the term
	chunkGain, fileGain float64 // maximum contribution: idf · (K1 + 1), among chunks and among documents
	parts               []entry // by part
}

// gain returns the maximum contribution of the term to the score of a chunk.
func (t *queryTerm) gain(r *search.Ranking) float64 {
	return t.weight * (t.chunkGain + float64(r.Document*t.fileGain))
}

// newTerm looks up a term in all parts.
func (s *Searcher) newTerm(name string, weight float64) queryTerm {
	t := queryTerm{name: name, weight: weight, parts: make([]entry, len(s.parts))}
	for i := range s.parts {
		e := s.parts[i].find(name)
		t.parts[i] = e
		t.chunkDF += e.chunks
		t.fileDF += e.files
	}
	if t.chunkDF > 0 {
		t.chunkGain = idf(s.all.Chunks, t.chunkDF) * (s.scorer.ranking.K1 + 1)
		t.fileGain = idf(s.all.Files, t.fileDF) * (s.scorer.ranking.K1 + 1)
	}
	return t
}

// queryTerms analyzes a query. It returns the terms that some chunk holds in the order in which
// scores are added up, the greatest gain first.
func (s *Searcher) queryTerms(q state.Query) []queryTerm {
	asked, weights := s.Weigh(q)
	terms := make(map[string]queryTerm, len(weights))
	for name, weight := range weights {
		terms[name] = s.newTerm(name, weight)
	}
	docFreq := func(name string) int {
		if t, ok := terms[name]; ok {
			return t.chunkDF
		}
		return s.DocFreq(name)
	}
	for _, r := range s.respelled(q.Text, asked, docFreq) {
		for _, t := range r.Terms {
			if weight := similarWeight(t); terms[t.Term].weight < weight {
				terms[t.Term] = s.newTerm(t.Term, weight)
			}
		}
	}
	out := slices.DeleteFunc(slices.Collect(maps.Values(terms)), func(t queryTerm) bool { return t.chunkDF <= 0 })
	slices.SortFunc(out, func(a, b queryTerm) int {
		r := &s.scorer.ranking
		return cmp.Or(cmp.Compare(b.gain(r), a.gain(r)), strings.Compare(a.name, b.name))
	})
	return out
}
