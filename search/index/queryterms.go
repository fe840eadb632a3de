package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// queryTerm is a term of a query, as the searcher knows it.
type queryTerm struct {
	name                string
	weight              float64 // in the query
	chunkDF, fileDF     int     // chunks and documents that hold it
	chunkGain, fileGain float64 // the most it can count: idf · (K1 + 1), among chunks and among documents
	parts               []entry // by part
}

// gain is the most that the term can add to the score of a chunk.
func (t *queryTerm) gain(r *search.Ranking) float64 {
	return t.weight * (t.chunkGain + float64(r.Document*t.fileGain))
}

// newTerm looks a term up in all parts.
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

// queryTerms analyzes a query. Terms that no chunk holds are left out. The rest is
// in the order in which scores are added up, the greatest gain first.
func (s *Searcher) queryTerms(q state.Query) []queryTerm {
	asked := countRepeats(text.QueryTerms(s.db.analyzer, q.Text, s.held))
	l := lookup{s: s, places: map[string]int{}}
	for _, t := range asked {
		l.add(t.Term, t.Weight)
	}
	for _, r := range s.respelled(q.Text, asked, l.docFreq) {
		for _, t := range r.Terms {
			l.add(t.Term, similarWeight(t))
		}
	}
	for _, b := range q.Boosts {
		if b.Weight > 0 && !math.IsInf(b.Weight, 1) {
			for _, t := range text.QueryTerms(s.db.analyzer, b.Text, s.held) {
				l.add(t.Term, b.Weight*t.Weight)
			}
		}
	}
	return l.ranked()
}

// textWords is how many words make a query a text. A text repeats the words that it is about,
// so each occurrence counts. A question repeats words by grammar: see docs/search-ablation.md.
const textWords = 64

// countRepeats gives each term of a long query the sum of its weights at different places.
// Other queries stay as they are.
func countRepeats(asked []text.QueryTerm) []text.QueryTerm {
	type occurrence struct {
		term string
		at   text.Span
	}
	weights, places, sums := map[occurrence]float64{}, map[text.Span]bool{}, map[string]float64{}
	for _, t := range asked {
		o := occurrence{t.Term, text.Span{Start: t.Start, End: t.End}}
		places[o.at] = true
		if more := t.Weight - weights[o]; more > 0 { // two languages may give a word one term
			weights[o] = t.Weight
			sums[t.Term] += more
		}
	}
	if len(places) < textWords {
		return asked
	}
	for i := range asked {
		asked[i].Weight = sums[asked[i].Term]
	}
	return asked
}

// lookup collects the terms of a query, each once.
type lookup struct {
	s      *Searcher
	list   []queryTerm
	places map[string]int // in list
}

// add adds a term; of several weights the greatest counts.
func (l *lookup) add(name string, weight float64) {
	if i, ok := l.places[name]; ok {
		l.list[i].weight = max(l.list[i].weight, weight)
		return
	}
	l.places[name] = len(l.list)
	l.list = append(l.list, l.s.newTerm(name, weight))
}

// docFreq is Searcher.DocFreq, quicker for terms that were added.
func (l *lookup) docFreq(name string) int {
	if i, ok := l.places[name]; ok {
		return l.list[i].chunkDF
	}
	return l.s.DocFreq(name)
}

// ranked returns the terms that some chunk holds, the greatest gain first.
func (l *lookup) ranked() []queryTerm {
	r := &l.s.scorer.ranking
	out := slices.DeleteFunc(l.list, func(t queryTerm) bool { return t.chunkDF <= 0 })
	slices.SortFunc(out, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(b.gain(r), a.gain(r)), strings.Compare(a.name, b.name))
	})
	return out
}
