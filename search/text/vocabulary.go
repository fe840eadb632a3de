package text

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/ragflow/internal/memo"
)

// Vocabulary gives terms numbers, from 0 in the order they are first met, for
// whoever adds up how often terms come: an array finds a number where a table has to
// look for a string. A word that was met before costs one look into a table from text to
// number, and no stemming. It is safe for concurrent use; which of two terms that are met
// at the same time comes first is left open.
//
// It forgets nothing: who reads on without an end begins another one from time to time.
type Vocabulary struct {
	analyzer Analyzer

	numbers  memo.Shared                                          // by term
	words    atomic.Pointer[Lexicon]                              // of texts that are read now
	surfaces [1 + len(latinLanguages)]atomic.Pointer[memo.Shared] // by way of analyzing: 1 + the number of the term of a word that is in no lexicon, 0 for a stop word

	mu    sync.Mutex
	terms []string        // by number
	block strings.Builder // that the newest terms are part of
	idle  []*numberer
}

// NewVocabulary returns an empty vocabulary of the terms that an analyzer makes.
func NewVocabulary(a Analyzer) *Vocabulary { return &Vocabulary{analyzer: a} }

// Append appends the numbers of the terms that the analyzer's Append gives for s, or
// its AppendIn where it is a [Polyglot] and lang is one of its languages; the same terms
// as often as there, in any order.
func (v *Vocabulary) Append(dst []uint32, s, lang string) []uint32 {
	n := v.take()
	defer v.give(n)
	var r Reading
	r, n.runs = v.Read(n.runs[:0], s)
	dst = n.append(dst, &r, lang)
	if cap(n.runs) > maxRuns {
		n.runs = nil
	}
	return dst
}

// maxRuns is how many runs of letters memory is kept for.
const maxRuns = 1 << 14

// Number returns the number of a term, which it gives where the term has none.
func (v *Vocabulary) Number(term string) uint32 {
	if number, known := v.numbers.Get(term); known {
		return number
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	next := uint32(len(v.terms)) //nolint:gosec // numbers holds no more
	number := v.numbers.Add(term, next)
	if number == next {
		if len(v.terms) == cap(v.terms) { // twice as many: append takes smaller steps
			v.terms = append(make([]string, 0, max(64, 2*cap(v.terms))), v.terms...)
		}
		v.terms = append(v.terms, v.keep(term))
	}
	return number
}

// Terms returns all terms that have a number, by number. Nobody writes to them; terms
// that are met later do not show.
func (v *Vocabulary) Terms() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.terms)
}

// Rest lets go of what only makes Append fast, when no more is to be read for long.
func (v *Vocabulary) Rest() {
	v.words.Store(nil)
	for i := range v.surfaces {
		v.surfaces[i].Store(nil)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.idle = nil
}

// maxSurfaces bounds each table of surface forms, in words.
const maxSurfaces = 1 << 17

// surfacesOf returns the table of a way of analyzing, which all who analyze share: so
// each word is stemmed once.
func (v *Vocabulary) surfacesOf(way int) *memo.Shared {
	table := v.surfaces[way].Load()
	if table == nil || table.Len() > maxSurfaces {
		fresh := &memo.Shared{}
		v.surfaces[way].CompareAndSwap(table, fresh) // or somebody else begins one anew, and this one serves one text
		return fresh
	}
	return table
}

// vocabularyBlock is how many bytes of terms lie together.
const vocabularyBlock = 1 << 16

// keep copies a term to where others lie.
func (v *Vocabulary) keep(term string) string {
	if v.block.Cap()-v.block.Len() < len(term) {
		v.block = strings.Builder{}
		v.block.Grow(max(vocabularyBlock, len(term)))
	}
	at := v.block.Len()
	v.block.WriteString(term)
	return v.block.String()[at:]
}

func (v *Vocabulary) take() *numberer {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := len(v.idle)
	if k == 0 {
		return &numberer{vocabulary: v}
	}
	n := v.idle[k-1]
	v.idle[k-1], v.idle = nil, v.idle[:k-1]
	return n
}

func (v *Vocabulary) give(n *numberer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.idle) < runtime.GOMAXPROCS(0) {
		v.idle = append(v.idle, n)
	}
}

// numberer is memory that one goroutine at a time analyzes with.
type numberer struct {
	vocabulary *Vocabulary
	tokens     []Token
	runs       []Run
	run        run
}

func (n *numberer) append(dst []uint32, r *Reading, lang string) []uint32 {
	s := r.Text
	switch a := n.vocabulary.analyzer.(type) {
	case *analyzer:
		return n.plain(dst, a, 0, r)
	case multilingual:
		if !r.ascii && isVietnamese(s) {
			break
		}
		if i := latinLanguage(lang); i >= 0 {
			return n.plain(dst, languageAnalyzers()[lang], 1+i, r)
		}
		dst = n.plain(dst, englishAnalyzer, 0, r)
		n.tokens = appendToneless(n.tokens[:0], 0, s)
		return n.number(dst)
	}
	if p, ok := n.vocabulary.analyzer.(Polyglot); ok {
		n.tokens = p.AppendIn(n.tokens[:0], s, lang)
	} else {
		n.tokens = n.vocabulary.analyzer.Append(n.tokens[:0], s)
	}
	return n.number(dst)
}

// latinLanguage returns the place of a language among latinLanguages, -1 where it is
// none of them.
func latinLanguage(lang string) int {
	for i, l := range latinLanguages {
		if l == lang {
			return i
		}
	}
	return -1
}

// plain is append in a way of analyzing, which is that of an analyzer.
func (n *numberer) plain(dst []uint32, a *analyzer, way int, read *Reading) []uint32 {
	r := &n.run
	*r = run{a: a, s: read.Text, buf: r.buf, raw: r.raw, vocabulary: n.vocabulary, surfaces: n.vocabulary.surfacesOf(way), numbers: dst}
	r.read = lettered{runs: read.Runs, words: &read.lexicon.words, terms: read.lexicon.termsOf(way)}
	if read.ascii {
		r.fields(0, len(r.s))
	} else {
		r.c = a.caches.take()
		r.all()
		a.caches.give(r.c)
	}
	dst = r.numbers
	r.s, r.c, r.numbers, r.read = "", nil, nil, lettered{}
	return dst
}

// number appends the numbers of tokens, and lets go of these.
func (n *numberer) number(dst []uint32) []uint32 {
	for _, t := range n.tokens {
		dst = append(dst, n.vocabulary.Number(t.Term))
	}
	clear(n.tokens)
	return dst
}

// ofSurface returns one more than the number of the term of a word, 0 for a stop word.
func (r *run) ofSurface(surface string) uint32 {
	number, known := r.surfaces.Get(surface)
	if !known {
		number = r.ofNew(surface)
	}
	return number
}

// ofNew is ofSurface for a word that was not met before.
func (r *run) ofNew(surface string) uint32 {
	number := r.numberOf(surface)
	if len(surface) <= maxTerm {
		r.surfaces.Add(surface, number)
	}
	return number
}

// numberOf is ofNew, but keeps nothing.
func (r *run) numberOf(surface string) uint32 {
	if term := clip(r.a.term(surface)); term != "" {
		return 1 + r.vocabulary.Number(term)
	}
	return 0
}
