package index

import (
	"math"
	"slices"
	"sync"
)

// A part of few chunks is searched without windows and bounds: what each term
// gives each text is kept when it was worked out once (see impacts), and a query
// adds it up for the whole part. The sums are those of score.go, in its order, to
// the last bit.

// denseChunks is how many chunks a part has at most that is searched so: going
// through their sums takes about 1 ns each.
const denseChunks = 1 << 14

// dense reports whether part i is searched so.
func (s *Searcher) dense(i int) bool { return s.terms != nil && s.parts[i].chunks <= denseChunks }

// sums is the scratch memory of searchDense.
type sums struct {
	all    []float64 // zeros outside of it: see layout.wholes
	chunks []float64 // of all; a multiple of stripWidth
	maxima []float64 // of strips
	reach  []uint32  // strips
	hits   []uint32  // chunks
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var sumsPool = sync.Pool{New: func() any { return new(sums) }}

// searchDense offers the chunks of part i that hold a term, but for those that
// cannot be among the best.
func (s *Searcher) searchDense(i int, terms []queryTerm, found *top) {
	p := &s.parts[i]
	m := sumsPool.Get().(*sums)
	defer sumsPool.Put(m)
	l := s.layoutOf(i)
	m.all = zeros(m.all, l.wholes+len(l.several))
	m.chunks = m.all[:l.wholes]
	spread := false
	for _, t := range terms {
		if t.parts[i].entries == 0 {
			continue
		}
		gives := s.impactsOf(i, t.term)
		m.scatterPlain(l, t, gives, s.scorer.ranking.Document)
		m.scatter(t, gives)
		spread = spread || gives.several
	}
	if spread {
		m.spread(l.members)
	}
	if p.narrowed() || p.alive != nil {
		m.hide(p)
	}
	m.gather(found)
	if len(s.parts) == 1 { // little is left to choose among
		found.list = slices.Grow(found.list, len(m.hits))
		for _, c := range m.hits {
			found.list = append(found.list, candidate{i, int(c), m.chunks[c]})
		}
	} else {
		for _, c := range m.hits {
			found.offer(candidate{i, int(c), m.chunks[c]})
		}
	}
	clear(m.all)
}

// scatterPlain adds what a term gives where it is in the text alone.
func (m *sums) scatterPlain(l *layout, t queryTerm, gives *impacts, document float64) {
	sums, shares := m.all, l.shares
	forChunk, forFile, weight := t.chunkGain, t.fileGain, t.weight
	if weight == 1 && document == 1 { // as most often
		for _, p := range gives.plain {
			by := &shares[p>>16]
			sums[p&math.MaxUint16] += float64(forChunk*by.chunk) + float64(forFile*by.file)
		}
		return
	}
	for _, p := range gives.plain {
		by := &shares[p>>16]
		sums[p&math.MaxUint16] += float64(weight * (float64(forChunk*by.chunk) + float64(document*float64(forFile*by.file))))
	}
}

// scatter adds what else it gives.
func (m *sums) scatter(t queryTerm, gives *impacts) {
	sums, of, weight := m.all, gives.of[:len(gives.sums)], t.weight
	for n, i := range gives.sums {
		sums[i] += float64(weight * of[n])
	}
}

// spread adds what documents get as a whole to those of their chunks that hold
// a term: a sum that is 0 stays so, without a branch.
func (m *sums) spread(members []member) {
	sums := m.all
	for _, in := range members {
		sum, whole := sums[in.chunk], math.Float64bits(sums[in.whole])
		holds := uint64(-int64(math.Float64bits(sum)) >> 63) //nolint:gosec // all bits of a sum above 0, none of 0
		sums[in.chunk] = sum + math.Float64frombits(whole&holds)
	}
}

// hide takes away what may not be found.
func (m *sums) hide(p *part) {
	for c, v := range m.chunks {
		if v != 0 && !p.shows(c) {
			m.chunks[c] = 0
		}
	}
}

const (
	// stripLength is how many chunks a strip has, whose greatest score a floor is found
	// by. Strips stand side by side: each has every fourth chunk of stripWidth.
	stripLength = 8
	strips      = 4
	stripWidth  = strips * stripLength
	// classes is how many classes of scores floorOf tells apart.
	classes = 1 << 10
)

// greatestPlain puts the greatest of each strip of scores, none of which is below 0, into
// out, and returns the greatest of all.
func greatestPlain(scores, out []float64) float64 {
	all := uint64(0)
	for n := range out {
		strip, most := stripOf(scores, n), uint64(0)
		for i := 0; i < len(strip); i += strips {
			most = max(most, math.Float64bits(strip[i]))
		}
		out[n], all = math.Float64frombits(most), max(all, most)
	}
	return math.Float64frombits(all)
}

// stripOf is the n-th strip, every fourth.
func stripOf(scores []float64, n int) *[stripWidth - strips + 1]float64 {
	return (*[stripWidth - strips + 1]float64)(scores[stripStart(n):])
}

func stripStart(n int) int { return n/strips*stripWidth + n%strips }

// gather lists the chunks that may be among the best: those of scores above 0 and
// not below a floor that at least k of them reach. Sums are not below 0, so their
// bits are ordered as they are. It has few branches that would be mispredicted.
func (m *sums) gather(found *top) {
	all := len(m.chunks) / stripLength
	m.maxima = slices.Grow(m.maxima[:0], all)[:all]
	greatest := greatestOf(m.chunks, m.maxima)
	scores := m.maxima // of as many chunks
	if len(scores) < 2*found.k {
		scores = m.chunks
	}
	floor := floorOf(scores, found.k, greatest)
	if reached := found.floor(); reached > 0 {
		floor = max(floor, math.Float64bits(reached))
	}
	m.reach = slices.Grow(m.reach[:0], all)[:all]
	n := 0
	for strip, most := range m.maxima {
		m.reach[n] = uint32(strip) //nolint:gosec // chunks of a segment fit 32 bits
		if math.Float64bits(most) >= floor {
			n++
		}
	}
	m.hits = slices.Grow(m.hits[:0], (n+1)*stripLength)
	hits, at := m.hits[:(n+1)*stripLength], 0
	for _, strip := range m.reach[:n] {
		first, k := stripStart(int(strip)), 0
		scores, out := stripOf(m.chunks, int(strip)), (*[stripLength]uint32)(hits[at:])
		for i := range stripLength {
			out[k&(stripLength-1)] = uint32(first + i*strips) //nolint:gosec // as above
			if math.Float64bits(scores[i*strips]) >= floor {
				k++
			}
		}
		at += k
	}
	m.hits = hits[:at]
}

// floorOf returns a score above 0 that at least k of some are not below, as bits;
// the least there is where not so many are above 0.
func floorOf(scores []float64, k int, greatest float64) uint64 {
	const least = 1
	scale := (classes - 1) / greatest
	if !(scale > 0 && scale <= math.MaxFloat64) {
		return least
	}
	var counts [classes]uint32
	for _, v := range scores {
		counts[int(v*scale)&(classes-1)]++
	}
	class := classes - 1
	for n := int(counts[class]); n < k && class > 0; n += int(counts[class]) {
		class--
	}
	return max(least, math.Float64bits(float64(class)/scale*(1-1e-12)))
}
