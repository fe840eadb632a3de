package index

import (
	"math"
	"slices"
	"sync"
)

// A part of few chunks is searched without windows and bounds: what each term
// counts in each text, which does not depend on the query, is kept when it was
// worked out once; a query adds it up for the whole part. The sums are those of
// score.go, in its order, to the last bit.

const (
	// denseChunks is how many chunks a part has at most that is searched so: going
	// through their sums takes about 1 ns each.
	denseChunks = 1 << 14
	// keptShares is how many texts a searcher keeps what terms count in, 12 bytes
	// each. When it is full, it starts anew.
	keptShares = 1 << 19
)

// shares are what a term counts in texts, of the most that it can count: tf/(tf+K1).
type shares struct {
	chunks, files   []uint32 // that it counts in, ascending
	ofChunk, ofFile []float64
}

// shareCache keeps shares by part and term.
type shareCache struct {
	mu   sync.Mutex
	kept map[shareKey]*shares
	left int // texts that there is room for
}

type shareKey struct {
	part int
	term string
}

func (c *shareCache) get(k shareKey) *shares {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[k]
}

func (c *shareCache) put(k shareKey, s *shares) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(s.chunks) + len(s.files)
	if c.left -= n; c.kept == nil || c.left < 0 {
		c.kept, c.left = map[shareKey]*shares{}, keptShares-n
	}
	c.kept[k] = s
}

// sharesOf returns the shares of a term in a part.
func (s *Searcher) sharesOf(i int, t *queryTerm) *shares {
	key := shareKey{i, t.term}
	if kept := s.shares.get(key); kept != nil {
		return kept
	}
	made := newShares(s.parts[i].segment, &s.scorer, t.entries[i])
	s.shares.put(key, made)
	return made
}

func newShares(seg *segment, score *scorer, e entry) *shares {
	var c cursor
	c.open(e)
	list := c.take(make([]posting, 0, e.entries), 0, uint32(seg.chunks)) //nolint:gosec // chunks of a segment fit 32 bits
	out := &shares{
		chunks: make([]uint32, 0, e.chunkDF), ofChunk: make([]float64, 0, e.chunkDF),
		files: make([]uint32, 0, e.fileDF), ofFile: make([]float64, 0, e.fileDF),
	}
	for i := 0; i < len(list); {
		f, _, _ := seg.chunkRow(list[i].chunk)
		first, end := seg.chunksOf(f)
		title, length, total := list[i].title, seg.fileField(f, 2), uint32(0)
		at := int(list[i].chunk)
		if title > 0 { // all of its chunks have part in it
			at = first
		}
		for ; at < end; at++ {
			var p posting
			if i < len(list) && int(list[i].chunk) == at {
				p = list[i]
				i++
			}
			total += p.body
			_, body, heading := seg.chunkRow(uint32(at)) //nolint:gosec // as above
			if v := score.chunk(p.body, body, p.heading, heading, title, length); v > 0 {
				out.chunks, out.ofChunk = append(out.chunks, uint32(at)), append(out.ofChunk, v) //nolint:gosec // as above
			}
		}
		if v := score.file(total, seg.fileField(f, 1), title, length); v > 0 {
			out.files, out.ofFile = append(out.files, uint32(f)), append(out.ofFile, v) //nolint:gosec // as above
		}
	}
	return out
}

// sums is the scratch memory of searchDense.
type sums struct {
	chunks, files []float64 // zeros outside of it
	hits          []uint32  // chunks
	classes       []uint16  // of the scores of hits
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var sumsPool = sync.Pool{New: func() any { return new(sums) }}

// searchDense offers the chunks of part i that hold a term.
func (s *Searcher) searchDense(i int, terms []queryTerm, found *top) {
	p, document := &s.parts[i], s.scorer.ranking.Document
	m := sumsPool.Get().(*sums)
	defer sumsPool.Put(m)
	m.chunks, m.files = zeros(m.chunks, p.chunks), zeros(m.files, p.files)
	most := 0.0 // that a score can be
	for t := range terms {
		term := &terms[t]
		if term.entries[i].entries == 0 {
			continue
		}
		shares := s.sharesOf(i, term)
		for n, c := range shares.chunks {
			m.chunks[c] += term.chunkGain * shares.ofChunk[n]
		}
		for n, f := range shares.files {
			m.files[f] += term.fileGain * shares.ofFile[n]
		}
		most += term.chunkGain + document*term.fileGain
	}
	m.gather()
	m.score(p, document, found, most*slack)
	for n, c := range m.hits {
		if m.classes[n] > 0 {
			found.offer(candidate{i, int(c), m.chunks[c]})
		}
	}
	clear(m.chunks)
	clear(m.files)
}

// gather lists the chunks that hold a term. It has no branch that would be
// mispredicted.
func (m *sums) gather() {
	m.hits = slices.Grow(m.hits[:0], len(m.chunks)+1)[:len(m.chunks)+1]
	n := 0
	for c, v := range m.chunks {
		m.hits[n] = uint32(c) //nolint:gosec // chunks of a segment fit 32 bits
		if v != 0 {
			n++
		}
	}
	m.hits = m.hits[:n]
}

// steps is how many classes of scores score tells apart.
const steps = 1 << 10

// score turns sums into scores, and gives class 0 to those chunks that cannot be
// among the best: they may not be found, or lie in a class behind k others. So the heap
// sees few. The class of a score grows with it.
func (m *sums) score(p *part, document float64, found *top, most float64) {
	var counts [steps]int
	m.classes = slices.Grow(m.classes[:0], len(m.hits))[:len(m.hits)]
	all, scale := !p.narrowed() && p.alive == nil, (steps-2)/most
	if math.IsInf(scale, 0) || math.IsNaN(scale) {
		scale = 0
	}
	for n, c := range m.hits {
		v := m.chunks[c] + document*m.files[p.chunkField(int(c), 0)]
		m.chunks[c] = v
		class := 0
		if all || p.shows(int(c)) {
			class = 1 + min(int(v*scale), steps-2)
		}
		m.classes[n] = uint16(class) //nolint:gosec // below steps
		counts[class]++
	}
	least := steps - 1
	for n := counts[least]; n < found.k && least > 1; n += counts[least] {
		least--
	}
	for n, class := range m.classes {
		if int(class) < least {
			m.classes[n] = 0
		}
	}
}
