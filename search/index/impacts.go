package index

import (
	"math"
	"slices"
	"sync"
)

// impacts are what a term that weighs 1 gives the chunks of a part, and the
// documents of several chunks as a whole: see [Ranking]. They do not depend on the
// query, so they are kept when they were worked out once. Each sum is in one of the lists.
type impacts struct {
	// Sums, in the lower half, whose impacts their places in layout.shares tell, in the
	// upper half, as those of most postings do: four bytes in place of ten.
	plain []uint32

	sums    []uint16 // see layout.wholes. A part that is searched so has no more
	of      []float64
	several bool // some are of documents of several chunks
}

// room is how many impacts of ten bytes these take as much memory as.
func (m *impacts) room() int { return len(m.sums) + (2*len(m.plain)+4)/5 }

// layout is what impacts and sums need to know of the chunks of a part, made when
// first needed.
type layout struct {
	once sync.Once
	*rows
	*documents

	// A chunk's sum is at its number, that of the n-th document of several chunks at wholes + n.
	wholes  int
	members []member

	// Shares of each length below plainTo, of 1 to plainCounts occurrences: of chunks
	// that are all of their document; behind them, of other chunks; and of documents of several.
	shares  []plainShares
	plainTo int
}

// member is a chunk of a document of several, and where the sum of that is.
type member struct{ chunk, whole uint16 }

// plainShares are tf / (tf + K1 · length brought to the average), of a text and of a
// document as a whole: what a term that is in the text only counts of what it counts at
// most. Nearly all postings are so.
type plainShares struct{ chunk, file float64 }

// What shares are held of: 64 bytes a length, so that those of one length share a
// line of the cache.
const (
	plainLengths = 1 << 10
	plainCounts  = 4
)

// layoutOf returns the layout of part i.
func (s *Searcher) layoutOf(i int) *layout {
	l := &s.terms.layouts[i]
	l.once.Do(func() { l.lay(s.parts[i].segment, &s.scorer) })
	return l
}

func (l *layout) lay(g *segment, score *scorer) {
	l.rows, l.documents = g.shortRows(), g.documents()
	l.wholes = (g.chunks + stripWidth - 1) / stripWidth * stripWidth
	for n, doc := range l.several {
		for c := doc.first; c < doc.end; c++ {
			l.members = append(l.members, member{uint16(c), uint16(l.wholes + n)}) //nolint:gosec // of a small part
		}
	}
	longest := uint16(0)
	for _, length := range l.lengths {
		longest = max(longest, length&^onlyChunk)
	}
	if l.plainTo = min(int(longest)+1, plainLengths); !(score.ranking.K1 < mostSaturation) {
		l.plainTo = 0
	}
	size := l.plainTo * plainCounts
	l.shares = make([]plainShares, size, 3*size)
	for n := range uint32(l.plainTo) { //nolint:gosec // few
		chunk, file := float64(score.ranking.K1*score.body.of(n)), float64(score.ranking.K1*score.fileBody.of(n))
		for tf := 1; tf <= plainCounts; tf++ {
			l.shares[int(n)*plainCounts+tf-1] = plainShares{float64(tf) / (float64(tf) + chunk), float64(tf) / (float64(tf) + file)}
		}
	}
	if len(l.several) == 0 {
		return
	}
	for _, by := range l.shares[:size] {
		l.shares = append(l.shares, plainShares{chunk: by.chunk})
	}
	for _, by := range l.shares[:size] {
		l.shares = append(l.shares, plainShares{file: by.file})
	}
}

// mostSaturation is a K1 with which no gain is infinite: what is infinite gives even a
// share of 0 something.
const mostSaturation = 1e100

// placeOf returns where the shares of so many occurrences in a text of so many terms are;
// not below the length of all: they are not held. No length and no occurrences are no text.
func (l *layout) placeOf(tf, length uint32) uint32 {
	if length == 0 || tf-1 >= plainCounts || length >= uint32(l.plainTo) { //nolint:gosec // few
		return math.MaxUint32
	}
	return length*plainCounts + tf - 1
}

// impactsOf returns the impacts of a term in part i.
func (s *Searcher) impactsOf(i int, t *term) *impacts {
	if made := t.parts[i].impacts.Load(); made != nil {
		return made
	}
	m := makers.Get().(*impactsMaker)
	defer makers.Put(m)
	m.make(s, i, t)
	made := s.terms.keep(&m.impacts)
	if !t.parts[i].impacts.CompareAndSwap(nil, made) {
		return t.parts[i].impacts.Load() // another was faster
	}
	return made
}

// impactsMaker is the scratch memory that impacts are made in.
type impactsMaker struct {
	impacts

	block plainBlock
	other []posting // of all blocks
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var makers = sync.Pool{New: func() any {
	const most, others = 1 << 13, 1 << 11 // of nearly all terms
	return &impactsMaker{
		impacts: impacts{plain: make([]uint32, 0, most), sums: make([]uint16, 0, others), of: make([]float64, 0, others)},
		other:   make([]posting, 0, others),
	}
}}

// make works out the impacts of a term in part i. What is damaged ends its postings.
func (m *impactsMaker) make(s *Searcher, i int, t *term) {
	p, l := &s.parts[i], s.layoutOf(i)
	var c cursor
	c.prepare(t.parts[i].entry)
	from := uint32(0)
	m.plain = slices.Grow(m.plain[:0], min(c.n, p.chunks)+blockEntries+plainLanes)
	m.sums, m.of, m.other, m.several = m.sums[:0], m.of[:0], m.other[:0], false
	for b := range c.blocks {
		if c.load(b); c.size == 0 {
			break
		}
		start := len(m.plain)
		n := m.block.split(&c, l, from, uint32(p.chunks), m.plain[start:cap(m.plain)]) //nolint:gosec // chunks of a segment fit 32 bits
		if n < 0 {
			break
		}
		m.plain, from = m.plain[:start+n], m.block.chunks[c.size-1]+1
		m.readOthers(&c, c.size-n)
	}
	for n := 0; n < len(m.other); {
		in := &m.other[n]
		if place := l.place(in.chunk); place >= 0 {
			n = m.addSeveral(s, p.segment, l, t, n, place)
		} else {
			m.addOnly(s, p.segment, l, t, in)
			n++
		}
	}
}

// readOthers reads those of the block that are not plain.
func (m *impactsMaker) readOthers(c *cursor, n int) {
	at, left := len(m.other), m.block.others[:n]
	m.other = slices.Grow(m.other, n)[:at+n]
	for n, i := range left {
		in, code := &m.other[at+n], c.codes[i]
		in.chunk, in.body, in.heading, in.title = m.block.chunks[i&(blockEntries-1)], uint32(code), 0, 0
		if code >= entryMore {
			c.rest.more(in, code)
		}
	}
}

// add adds what a sum gets, which is nothing where it is 0.
func (m *impacts) add(sum int, v float64) {
	if v > 0 {
		m.sums, m.of = append(m.sums, uint16(sum)), append(m.of, v) //nolint:gosec // of a small part
	}
}

// addPlain adds what a sum gets by a place in layout.shares.
func (m *impacts) addPlain(sum int, place uint32) {
	m.plain = append(m.plain, uint32(sum)|place<<16) //nolint:gosec // of a small part
}

// addOnly adds what one of the other postings gives a chunk that is all of its file.
func (m *impactsMaker) addOnly(s *Searcher, g *segment, l *layout, t *term, in *posting) {
	score := &s.scorer
	length, title := l.lengths[in.chunk], uint32(0)
	if in.title > 0 {
		title = l.title(g, l.fileOf(in.chunk))
	}
	if length > onlyChunk && in.heading == 0 && in.title > 0 { // as most are
		m.add(int(in.chunk), score.titledImpact(t, in, uint32(length&^onlyChunk), title))
		return
	}
	_, body, heading := g.chunkRow(in.chunk)
	total := g.fileField(l.fileOf(in.chunk), 1)
	m.add(int(in.chunk), score.chunkImpact(t, in, body, heading, in.title, title)+score.fileImpact(t, in.body, total, in.title, title))
}

// addSeveral adds what the other postings from the n-th on give a document of several
// chunks, all of whose postings are others, and returns the first behind those of it.
func (m *impactsMaker) addSeveral(s *Searcher, g *segment, l *layout, t *term, n, place int) int {
	doc, total := &l.several[place], uint32(0)
	m.several = true
	if m.other[n].title > 0 {
		return m.addTitled(s, g, l, t, n, place)
	}
	size := uint32(l.plainTo * plainCounts) //nolint:gosec // few
	for ; n < len(m.other) && m.other[n].chunk < doc.end; n++ {
		in := &m.other[n]
		total += in.body
		if at := l.placeOf(in.body, uint32(l.lengths[in.chunk])); at < size && in.heading == 0 {
			m.addPlain(int(in.chunk), size+at)
			continue
		}
		_, body, heading := g.chunkRow(in.chunk)
		m.add(int(in.chunk), s.scorer.chunkImpact(t, in, body, heading, 0, 0))
	}
	if at := l.placeOf(total, doc.body); at < size {
		m.addPlain(l.wholes+place, 2*size+at)
	} else {
		m.add(l.wholes+place, s.scorer.fileImpact(t, total, doc.body, 0, 0))
	}
	return n
}

// addTitled is addSeveral for a document with the term in its title, which all of its
// chunks have part in.
func (m *impactsMaker) addTitled(s *Searcher, g *segment, l *layout, t *term, n, place int) int {
	doc, total := &l.several[place], uint32(0)
	title, length := m.other[n].title, l.title(g, int(doc.file))
	for at := doc.first; at < doc.end; at++ {
		in := &posting{}
		if n < len(m.other) && m.other[n].chunk == at {
			in = &m.other[n]
			n++
		}
		total += in.body
		_, body, heading := g.chunkRow(at)
		m.add(int(at), s.scorer.chunkImpact(t, in, body, heading, title, length))
	}
	m.add(l.wholes+place, s.scorer.fileImpact(t, total, doc.body, title, length))
	return n
}

// keptSlab is how many impacts memory is taken for at a time.
const keptSlab = 1 << 12

// slab is memory for kept impacts.
type slab struct {
	plain []uint32
	sums  []uint16
	of    []float64
}

// keep copies impacts, takes room for them and returns them.
func (c *termCache) keep(m *impacts) *impacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spend(m.room())
	return &impacts{
		plain: shelved(&c.slab.plain, m.plain), sums: shelved(&c.slab.sums, m.sums), of: shelved(&c.slab.of, m.of), several: m.several,
	}
}

// shelved copies a list, a short one to the end of a slab.
func shelved[T any](slab *[]T, list []T) []T {
	n := len(list)
	if n > keptSlab/8 {
		return slices.Clone(list)
	}
	if cap(*slab)-len(*slab) < n {
		*slab = make([]T, 0, keptSlab)
	}
	at := len(*slab)
	*slab = append(*slab, list...)
	return (*slab)[at : at+n : at+n]
}
