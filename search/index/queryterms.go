package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// term is all that a searcher knows of a term, whatever query it is in.
type term struct {
	name                string
	chunkDF, fileDF     int
	chunkGain, fileGain float64 // what it counts at most: idf · (K1 + 1), among chunks and among documents
	parts               []termPart
}

// termPart is a term in a part.
type termPart struct {
	entry

	impacts atomic.Pointer[impacts] // made when first needed: see Searcher.impactsOf
}

// queryTerm is a term of a query.
type queryTerm struct {
	*term

	weight float64 // in the query
}

// gain is what the term counts at most of a chunk and its document together.
func (t queryTerm) gain(r *Ranking) float64 {
	return t.weight * (t.chunkGain + float64(r.Document*t.fileGain))
}

// newTerm looks a term up in all parts.
func (s *Searcher) newTerm(name string) *term {
	var t *term
	if len(s.parts) == 1 { // as most often: one allocation
		lone := &struct {
			term
			part [1]termPart
		}{}
		t, lone.parts = &lone.term, lone.part[:]
	} else {
		t = &term{parts: make([]termPart, len(s.parts))}
	}
	t.name = name
	for i, p := range s.parts {
		if e, ok := p.find(name); ok {
			t.parts[i].entry = e
			t.chunkDF += e.chunkDF
			t.fileDF += e.fileDF
		}
	}
	chunks, files := s.deadDF(name)
	t.chunkDF -= chunks
	t.fileDF -= files
	if t.chunkDF > 0 {
		t.chunkGain = idf(s.all.chunks, t.chunkDF) * (s.scorer.ranking.K1 + 1)
		t.fileGain = idf(s.all.files, t.fileDF) * (s.scorer.ranking.K1 + 1)
	}
	return t
}

const (
	// keptImpacts is how many impacts a searcher keeps, 10 bytes each. When it is
	// full, it starts anew.
	keptImpacts = 1 << 19
	// termImpacts is how many impacts a term without any takes the room of: what
	// is known of it takes about 200 bytes, and 60 a part.
	termImpacts, partImpacts = 16, 5
)

// termCache keeps terms by name. It is safe for concurrent use.
type termCache struct {
	mu   sync.Mutex
	kept map[string]*term
	most int // impacts
	left int // of them
	slab slab

	layouts []layout // by part
}

func newTermCache(parts, most int) *termCache {
	return &termCache{kept: map[string]*term{}, most: most, left: most, layouts: make([]layout, parts)}
}

// knownTerm returns what is known of a term.
func (s *Searcher) knownTerm(name string) *term {
	if s.terms == nil {
		return s.newTerm(name)
	}
	t := s.terms.find(name)
	if t == nil {
		t = s.newTerm(strings.Clone(name)) // not a part of the query
		c := s.terms
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.spend(termImpacts + partImpacts*len(s.parts)) {
			c.kept[t.name] = t
		}
	}
	return t
}

// find returns a term that is kept, nil where it is not.
func (c *termCache) find(name string) *term {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[name]
}

// spend takes room for so many impacts. Where there is none left, all that is kept is
// forgotten, and so is what the room was asked for.
func (c *termCache) spend(n int) bool {
	if c.left -= n; c.left >= 0 {
		return true
	}
	clear(c.kept)
	c.left, c.slab = c.most, slab{}
	return false
}

// queryTerms analyzes a query. Terms that nothing holds are left out; the rest is
// in the order in which scores are added up, what counts most first.
func (s *Searcher) queryTerms(q state.Query) []queryTerm { return s.putQueryTerms(nil, q) }

// putQueryTerms is queryTerms in memory that is there.
func (s *Searcher) putQueryTerms(memory []queryTerm, q state.Query) []queryTerm {
	asked := text.QueryTerms(s.db.analyzer, q.Text, s.held)
	l := lookup{s: s, list: slices.Grow(memory[:0], len(asked)+8)}
	for _, t := range asked {
		l.add(t.Term, t.Weight)
	}
	l.addNouns(q.Text, asked)
	for _, r := range s.respelled(q.Text, asked, l.docFreq) {
		for _, t := range r.Terms {
			l.add(t.Term, t.weight())
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

// lookup finds the terms of a query, each once.
type lookup struct {
	s      *Searcher
	list   []queryTerm
	places map[string]int // in a list of more than fewTerms
}

// fewTerms are found by looking at each.
const fewTerms = 32

// place returns where a term is in the list, -1: nowhere.
func (l *lookup) place(name string) int {
	if l.places == nil {
		for i, t := range l.list {
			if n := len(t.name); n == len(name) && n > 0 && t.name[n-1] == name[n-1] && t.name == name { // most differ in the first two
				return i
			}
		}
		return -1
	}
	if i, ok := l.places[name]; ok {
		return i
	}
	return -1
}

// add searches for a term; of several weights the greatest counts.
func (l *lookup) add(name string, weight float64) {
	if i := l.place(name); i >= 0 {
		l.list[i].weight = max(l.list[i].weight, weight)
		return
	}
	l.list = append(l.list, queryTerm{l.s.knownTerm(name), weight})
	switch n := len(l.list); {
	case n == fewTerms:
		l.places = map[string]int{}
		for i, t := range l.list {
			l.places[t.name] = i
		}
	case n > fewTerms:
		l.places[name] = n - 1
	}
}

// docFreq is Searcher.DocFreq, without looking twice.
func (l *lookup) docFreq(name string) int {
	if i := l.place(name); i >= 0 {
		return l.list[i].chunkDF
	}
	return l.s.DocFreq(name)
}

// ranked returns the terms that some chunk holds, what counts most first.
func (l *lookup) ranked() []queryTerm {
	r := &l.s.scorer.ranking
	out := slices.DeleteFunc(l.list, func(t queryTerm) bool { return t.chunkDF <= 0 })
	slices.SortFunc(out, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(b.gain(r), a.gain(r)), strings.Compare(a.name, b.name))
	})
	return out
}
