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
	chunks  []float64 // zeros outside of it; a multiple of maximaOf
	several []float64 // what documents of several chunks get; zeros outside of it
	maxima  []float64 // of each maximaOf chunks
	hits    []uint32  // chunks
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var sumsPool = sync.Pool{New: func() any { return new(sums) }}

// searchDense offers the chunks of part i that hold a term, but for those that
// cannot be among the best.
func (s *Searcher) searchDense(i int, terms []queryTerm, found *top) {
	p := &s.parts[i]
	m := sumsPool.Get().(*sums)
	defer sumsPool.Put(m)
	m.chunks = zeros(m.chunks, (p.chunks+maximaOf-1)/maximaOf*maximaOf)
	l := s.layoutOf(i)
	m.several = zeros(m.several, len(l.several))
	spread := false
	for _, t := range terms {
		if t.parts[i].entries == 0 {
			continue
		}
		gives := s.impactsOf(i, t.term)
		m.scatterPlain(l, t, gives, s.scorer.ranking.Document)
		scatter(m.chunks, gives.chunks, gives.ofChunk, t.weight)
		scatter(m.several, gives.several, gives.ofWhole, t.weight)
		spread = spread || len(gives.several) > 0
	}
	if spread {
		m.spread(l.several)
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
	clear(m.chunks)
	clear(m.several)
}

// scatterPlain adds what a term gives chunks that have it in their text alone.
func (m *sums) scatterPlain(l *layout, t queryTerm, gives *impacts, document float64) {
	sums, plain, places := m.chunks, l.plain, gives.places[:len(gives.plain)]
	forChunk, forFile, weight := t.chunkGain, t.fileGain, t.weight
	if weight == 1 && document == 1 { // as most often
		for n, chunk := range gives.plain {
			by := &plain[places[n]]
			sums[chunk] += float64(forChunk*by.chunk) + float64(forFile*by.file)
		}
		return
	}
	for n, chunk := range gives.plain {
		by := &plain[places[n]]
		sums[chunk] += float64(weight * (float64(forChunk*by.chunk) + float64(document*float64(forFile*by.file))))
	}
}

// scatter adds what a term gives.
func scatter(sums []float64, at []uint16, impacts []float64, weight float64) {
	impacts = impacts[:len(at)]
	for n, i := range at {
		sums[i] += float64(weight * impacts[n])
	}
}

// spread adds what documents get as a whole to those of their chunks that hold
// a term: a sum that is 0 stays so, without a branch.
func (m *sums) spread(several []several) {
	for i, doc := range several {
		whole := math.Float64bits(m.several[i])
		chunks := m.chunks[doc.first:doc.end]
		for c, sum := range chunks {
			holds := uint64(-int64(math.Float64bits(sum)) >> 63) //nolint:gosec // all bits of a sum above 0, none of 0
			chunks[c] = sum + math.Float64frombits(whole&holds)
		}
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
	// maximaOf is how many chunks each of the maxima that a floor is found by is of.
	maximaOf = 8
	// classes is how many classes of scores floorOf tells apart.
	classes = 1 << 10
)

// gather lists the chunks that may be among the best: those of scores above 0 and
// not below a floor that at least k of them reach. Sums are not below 0, so their
// bits are ordered as they are. It has few branches that would be mispredicted.
func (m *sums) gather(found *top) {
	blocks := len(m.chunks) / maximaOf
	m.maxima = slices.Grow(m.maxima[:0], blocks)[:blocks]
	greatest, chunks := uint64(0), m.chunks
	for b := range m.maxima {
		v := (*[maximaOf]float64)(chunks)
		most := max(
			max(max(math.Float64bits(v[0]), math.Float64bits(v[1])), max(math.Float64bits(v[2]), math.Float64bits(v[3]))),
			max(max(math.Float64bits(v[4]), math.Float64bits(v[5])), max(math.Float64bits(v[6]), math.Float64bits(v[7]))),
		)
		m.maxima[b], chunks = math.Float64frombits(most), chunks[maximaOf:]
		greatest = max(greatest, most)
	}
	scores := m.maxima // of as many chunks
	if len(scores) < 2*found.k {
		scores = m.chunks
	}
	floor := floorOf(scores, found.k, math.Float64frombits(greatest))
	if reached := found.floor(); reached > 0 {
		floor = max(floor, math.Float64bits(reached))
	}
	m.hits = slices.Grow(m.hits[:0], len(m.chunks)+maximaOf)
	hits, n := m.hits[:len(m.chunks)+maximaOf], 0
	for b, most := range m.maxima {
		if math.Float64bits(most) < floor {
			continue
		}
		block, out := (*[maximaOf]float64)(m.chunks[b*maximaOf:]), (*[maximaOf]uint32)(hits[n:])
		k := 0
		for c, v := range block {
			out[k&(maximaOf-1)] = uint32(b*maximaOf + c) //nolint:gosec // chunks of a segment fit 32 bits
			if math.Float64bits(v) >= floor {
				k++
			}
		}
		n += k
	}
	m.hits = hits[:n]
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
