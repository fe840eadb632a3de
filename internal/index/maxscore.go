package index

import (
	"context"
	"slices"

	"github.com/bits-and-blooms/bitset"

	"example.com/ragflow/state"
)

// The search algorithm is MaxScore (Turtle & Flood 1995) with the maxima of blocks (Ding & Suel
// 2011). Terms are ordered by weight, the heaviest first. A part is read in windows of chunks.
// In a window, each term has an upper bound for its contribution to the score of a chunk. The
// last terms are not essential if the sum of their bounds is below the score of the k-th best
// chunk so far: only documents with an essential term are scored. Contributions are always
// added in the same order, so a score has the same bits whatever was skipped.

// windowChunks is about the number of chunks that share the upper bounds of terms.
const windowChunks = 2048

// slack is a factor on upper bounds that covers rounding.
const slack = 1 + 1e-9

// scan is a search of one part.
type scan struct {
	number   int // of the part
	part     *part
	allowed  *bitset.BitSet // files that may be found; nil means all
	score    *scorer
	found    *top
	terms    []queryTerm // in the part
	cursors  []cursor    // of terms
	rest     []float64   // upper bound of each term and those after it, and 0
	sums     []float64   // scores of the chunks of a file, without that of the file
	ofChunks float64     // factors on the stored bounds: see stretch
	ofFiles  float64
}

// best offers all chunks that can be among the best for q.
func (s *Searcher) best(ctx context.Context, q state.Query, found *top) error {
	terms, score := s.queryTerms(q), s.scorer.of(q)
	for i := range s.parts {
		if err := s.newScan(i, terms, &score, found).run(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (s *Searcher) newScan(i int, terms []queryTerm, score *scorer, found *top) *scan {
	p := &s.parts[i]
	sc := &scan{number: i, part: p, allowed: p.shown, score: score, found: found}
	sc.ofChunks, sc.ofFiles = score.stretch(&p.made)
	for _, t := range terms {
		if t.parts[i].chunks > 0 {
			sc.terms = append(sc.terms, t)
			sc.cursors = append(sc.cursors, newCursor(p.segment, t.parts[i]))
		}
	}
	sc.rest = make([]float64, len(sc.terms)+1)
	return sc
}

func (sc *scan) run(ctx context.Context) error {
	for {
		from := nextChunk(sc.cursors)
		if from == noChunk {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		end := sc.windowEnd(from)
		sc.bound(end)
		sc.scoreWindow(end)
		seekAll(sc.cursors, end)
	}
}

// windowEnd returns the end of a window that begins at a chunk: the end of a file.
func (sc *scan) windowEnd(from uint32) uint32 {
	last := min(int(from)+windowChunks, sc.part.Totals.Chunks) - 1
	_, end := sc.part.chunksOf(sc.part.fileOf(last))
	return uint32(end)
}

// bound computes the upper bounds of terms in a window.
func (sc *scan) bound(end uint32) {
	r := &sc.score.ranking
	for t := len(sc.terms) - 1; t >= 0; t-- {
		sc.rest[t] = sc.rest[t+1]
		if b := sc.cursors[t].bound(end); b != (bound{}) {
			term := &sc.terms[t]
			sc.rest[t] += term.weight * (term.chunkGain*saturated(float64(b.Chunk)*sc.ofChunks, r.K1) +
				r.Document*term.fileGain*saturated(float64(b.File)*sc.ofFiles, r.K1))
		}
	}
}

// scoreWindow scores the files of a window that hold an essential term.
func (sc *scan) scoreWindow(end uint32) {
	essential := len(sc.terms)
	for {
		for essential > 0 && sc.rest[essential-1]*slack < sc.found.floor() {
			essential--
		}
		cursors := sc.cursors[:essential]
		chunk := nextChunk(cursors)
		if chunk >= end {
			return
		}
		file := sc.part.fileOf(int(chunk))
		if sc.allowed == nil || sc.allowed.Test(uint(file)) {
			sc.scoreFile(file)
			file++
		} else {
			file = next(sc.allowed, file)
		}
		to := sc.part.Totals.Chunks
		if file < len(sc.part.Files) {
			to, _ = sc.part.chunksOf(file)
		}
		seekAll(cursors, uint32(to))
	}
}

// scoreFile scores the chunks of a file, unless none can be among the best.
func (sc *scan) scoreFile(file int) {
	first, end := sc.part.chunksOf(file)
	sc.sums = slices.Grow(sc.sums[:0], end-first)[:end-first]
	clear(sc.sums)
	highest, whole := 0.0, 0.0
	for t := range sc.terms {
		if (highest+whole+sc.rest[t])*slack < sc.found.floor() { // false if a bound is not a number
			return
		}
		c := &sc.cursors[t]
		if c.seek(uint32(first)); uint64(c.chunk) < uint64(end) {
			whole += sc.add(t, file)
			highest = slices.Max(sc.sums)
		}
	}
	for i, sum := range sc.sums {
		if sum > 0 {
			sc.found.offer(candidate{sc.number, first + i, sum + whole})
		}
	}
}

// add adds the contribution of a term to the chunks of a file, and returns that to the file.
// The cursor of the term is at the first posting of the file, and moves past the last one.
func (sc *scan) add(t, file int) float64 {
	term, c, p := &sc.terms[t], &sc.cursors[t], sc.part
	first, end := p.chunksOf(file)
	title, f := c.title, &p.Files[file]
	occurrences := uint32(0)
	for at := first; at < end; at++ {
		var in posting
		if title == 0 { // only chunks with a posting have the term
			if at = int(c.chunk); at >= end {
				break
			}
		}
		if int(c.chunk) == at {
			in = c.posting
			c.next()
		}
		occurrences += in.body
		gives := sc.score.chunkImpact(term.chunkGain, in.body, p.ChunkBody[at], in.heading, p.ChunkHeading[at], title, f.Title)
		sc.sums[at-first] += float64(term.weight * gives)
	}
	return float64(term.weight * sc.score.fileImpact(term.fileGain, occurrences, f.Body, title, f.Title))
}

// nextChunk returns the lowest chunk of some cursors; noChunk if all are at the end.
func nextChunk(cursors []cursor) uint32 {
	lowest := uint32(noChunk)
	for i := range cursors {
		lowest = min(lowest, cursors[i].chunk)
	}
	return lowest
}

func seekAll(cursors []cursor, chunk uint32) {
	for i := range cursors {
		cursors[i].seek(chunk)
	}
}
