package index

import (
	"context"
	"slices"
	"sync"
)

// A part of many chunks is searched as follows, one of few as dense.go says.
//
// The search is exhaustive in what it finds, not in what it reads (MaxScore of
// Turtle & Flood 1995, with the maxima of blocks of Ding & Suel 2011). The chunks of a
// part are gone through window by window. In a window each term has a bound:
// the most it can add to any chunk, through the chunk and through its document.
// Terms stand in one order, the weightiest first; from some place on, all
// together cannot lift a chunk that holds only them over the worst of the k best
// so far. The terms before that place are added up; the others are looked up
// only for documents that can still win, or added up too where those are so many
// that this takes less time. As terms are always added in that one
// order, a score has the same bits whatever was skipped.

// windowChunks is about how many chunks a window has: their sums stay in the
// first-level cache, and bounds are those of few blocks. Where each file has one chunk,
// windows of onesChunks take less time, as nothing is done chunk by chunk in them.
const (
	windowChunks = 2048
	onesChunks   = 16384
)

// firstChunks is how many the first window has: until some chunks are found, all terms of
// all chunks are added up. Each has twice as many as the one before.
const firstChunks = 256

// slack is added to bounds for what rounding takes: a chunk is skipped only
// where it would lose without it, too.
const slack = 1 + 1e-9

// window is the scratch memory of a search.
type window struct {
	seg           *segment
	score         *scorer
	chunkStretch  float64 // see scorer.stretch
	fileStretch   float64
	terms         []queryTerm // with postings in this part; the weightiest first
	cursors       []cursor    // of terms
	rest          []float64   // bound of each term and those behind it, and 0
	f0, f1        int         // files of the window
	c0, c1        int         // chunks of the window
	width, widest int         // about how many chunks the next one has, and later ones at most
	chunks, files []float64   // sums so far; 0 outside of a window
	most          float64     // of files
	touched       []uint32    // chunks whose sums are not 0, counted from c0
	able          bitmap      // of those, the ones that can reach the floor; empty outside of gather and finish
	promising     []uint32    // files of the window: see gather
	partial       []float64   // sums of their chunks
	list          taken       // postings of the term that is being added
	packed        packed      // as above
	rows          *rows       // of the part
	shares        *shareTable // by plainPlace
	lookups       int         // postings that are added in the time that one is looked up
	part          int         // its number
	allowed       bitmap      // files of the part that may be found; nil: all
	only          bitmap      // chunks of those files that may be found; nil: all
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var windows = sync.Pool{New: func() any { return new(window) }}

// best offers the chunks of all parts that hold a term, but for those that cannot be
// among the best.
func (s *Searcher) best(ctx context.Context, terms []queryTerm, found *top) error {
	for {
		for i := range s.parts {
			if err := s.search(ctx, i, terms, found); err != nil {
				return err
			}
		}
		if found.held() {
			return nil
		}
	}
}

// search offers the chunks of part i that hold a term.
func (s *Searcher) search(ctx context.Context, i int, terms []queryTerm, found *top) error {
	if s.dense(i) {
		s.searchDense(i, terms, found)
		return context.Cause(ctx)
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	w.open(s, i, terms)
	before := 0 // chunks of other parts
	for _, p := range s.parts[:i] {
		before += p.chunks
	}
	w.part, w.allowed = i, s.parts[i].found()
	w.only = s.parts[i].only
	for w.next() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		essential := w.bounds(found.floor())
		switch {
		case essential == 0:
		case w.few():
			w.finishAllowed(found)
		default:
			for t := range essential {
				if w.rows.files == nil {
					w.addOnes(t, nil)
				} else {
					w.add(t)
				}
			}
			w.finish(essential, found)
		}
		found.hope(float64(before+w.c1) / float64(s.all.chunks))
		for t := range w.cursors {
			w.cursors[t].seek(uint32(w.c1)) //nolint:gosec // chunks of a segment fit 32 bits
		}
	}
	return nil
}

// open prepares for a part.
func (w *window) open(s *Searcher, i int, terms []queryTerm) {
	w.seg, w.score = s.parts[i].segment, &s.scorer
	w.rows, w.shares = w.seg.shortRows(), s.scorer.shares.all(&s.scorer)
	w.lookups, w.widest = lookups, windowChunks
	if w.rows.files == nil {
		if w.lookups, w.widest = onesLookups, onesChunks; widest {
			w.lookups = wideLookups
		}
	}
	w.chunkStretch, w.fileStretch = s.scorer.stretch(&w.seg.made)
	w.terms, w.cursors = w.terms[:0], w.cursors[:0]
	for _, t := range terms {
		if t.parts[i].entries > 0 {
			w.terms = append(w.terms, t)
		}
	}
	w.cursors = slices.Grow(w.cursors, len(w.terms))[:len(w.terms)]
	for t := range w.terms {
		w.cursors[t].open(w.terms[t].parts[i].entry)
	}
	w.rest = append(slices.Grow(w.rest[:0], len(w.terms)+1)[:len(w.terms)], 0)
	w.c1, w.width = 0, firstChunks
}

// next moves to the next window with a posting of a file that is allowed.
func (w *window) next() bool {
	for {
		first := uint32(noChunk)
		for t := range w.cursors {
			first = min(first, w.cursors[t].chunk)
		}
		if uint64(first) >= uint64(w.seg.chunks) {
			return false
		}
		w.f0 = w.fileOf(first)
		if w.allowed == nil || w.allowed.has(w.f0) {
			break
		}
		f := w.allowed.next(w.f0)
		if f >= w.seg.files {
			return false
		}
		c, _ := w.span(f)
		for t := range w.cursors {
			w.cursors[t].seek(uint32(c)) //nolint:gosec // as above
		}
	}
	w.c0, _ = w.span(w.f0)
	w.f1, w.c1 = w.seg.files, w.seg.chunks
	if end := w.c0 + w.width; end < w.seg.chunks {
		w.f1 = max(w.f0+1, w.fileOf(uint32(end))) //nolint:gosec // as above
		if w.f1 < w.seg.files {
			w.c1, _ = w.span(w.f1)
		}
	}
	w.width = min(2*w.width, w.widest)
	w.chunks = zeros(w.chunks, w.c1-w.c0)
	w.files = zeros(w.files, w.f1-w.f0)
	return true
}

// zeros returns a slice of n zeros, made of one that holds only zeros.
func zeros(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, max(n, windowChunks))
	}
	return s[:n]
}

// bounds fills in what the terms can add in the window, and returns how many of
// them must be added up; behind those, all together stay below floor.
func (w *window) bounds(floor float64) (essential int) {
	r := &w.score.ranking
	for t := len(w.terms) - 1; t >= 0; t-- {
		sum := w.rest[t+1]
		if b := w.cursors[t].bound(uint32(w.c1)); b != (bound{}) { //nolint:gosec // as above
			term := w.terms[t]
			sum += term.weight * (term.chunkGain*saturated(value(b.chunk)*w.chunkStretch, r.K1) +
				r.Document*term.fileGain*saturated(value(b.file)*w.fileStretch, r.K1))
		}
		w.rest[t] = sum
	}
	essential = len(w.terms)
	for essential > 0 && w.rest[essential-1]*slack < floor {
		essential--
	}
	return essential
}

// few reports whether so few files of the window are allowed that looking them
// up is quicker than adding up.
func (w *window) few() bool {
	return w.allowed != nil && 8*w.allowed.count(w.f0, w.f1) < w.f1-w.f0
}

// finishAllowed is finish for all files of the window that may be found, none of
// whose terms was added.
func (w *window) finishAllowed(found *top) {
	defer w.clear()
	w.promising = w.promising[:0]
	for f := w.allowed.next(w.f0); f < w.f1; f = w.allowed.next(f + 1) {
		if w.rows.files == nil {
			w.promising = append(w.promising, uint32(f-w.c0)) //nolint:gosec // chunks of a segment fit 32 bits
		} else {
			w.finishFile(f, 0, found.floor(), found)
		}
	}
	if w.rows.files == nil {
		w.finishOnes(0, found.floor(), found)
	}
}
