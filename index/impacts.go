package index

import (
	"slices"
	"sync"
)

// impacts are what a term that weighs 1 gives the chunks of a part, and the
// documents of several chunks as a whole: see [Ranking]. They do not depend on the
// query, so they are kept when they were worked out once. Each chunk is in one of the lists.
type impacts struct {
	// Chunks whose impacts their places in layout.plain tell, as those of most postings do:
	// four bytes in place of ten.
	plain, places []uint16

	chunks, several  []uint16 // several are places in documents.several. A part that is searched so has no more
	ofChunk, ofWhole []float64
}

// room is how many impacts of ten bytes these take as much memory as.
func (m *impacts) room() int { return len(m.chunks) + len(m.several) + (2*len(m.plain)+4)/5 }

// layout is what impacts and sums need to know of the chunks of a part, made when
// first needed.
type layout struct {
	once sync.Once
	*rows
	*documents

	plain []plainShares // of each length below plainLengths, of 1 to plainCounts occurrences
}

// plainShares are tf / (tf + K1 · length brought to the average), of a text and of a
// document as a whole: what a term that is in the text only counts of what it counts at
// most. Nearly all postings are so.
type plainShares struct{ chunk, file float64 }

// What plain holds shares of: 64 bytes a length, so that those of one length share a
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
	longest := uint16(0)
	for _, length := range l.lengths {
		longest = max(longest, length&^onlyChunk)
	}
	lengths := min(int(longest)+1, plainLengths)
	l.plain = make([]plainShares, 0, lengths*plainCounts)
	for n := range uint32(lengths) { //nolint:gosec // few
		chunk, file := float64(score.ranking.K1*score.body.of(n)), float64(score.ranking.K1*score.fileBody.of(n))
		for tf := 1.0; tf <= plainCounts; tf++ {
			l.plain = append(l.plain, plainShares{tf / (tf + chunk), tf / (tf + file)})
		}
	}
}

// shares returns those of so many occurrences in a text of so many terms; nil: they
// are not held. No length and no occurrences are no text.
func (l *layout) shares(tf, length uint32) *plainShares {
	if place := uint(length)*plainCounts + uint(tf-1); tf-1 < plainCounts && length > 0 && place < uint(len(l.plain)) {
		return &l.plain[place]
	}
	return nil
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

	block [blockEntries]uint32 // chunks of a block of postings
	other []posting            // those that plainOnes leaves
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var makers = sync.Pool{New: func() any { return new(impactsMaker) }}

// make works out the impacts of a term in part i. What is damaged ends its postings.
func (m *impactsMaker) make(s *Searcher, i int, t *term) {
	p, l := &s.parts[i], s.layoutOf(i)
	var c cursor
	c.prepare(t.parts[i].entry)
	most, from := min(c.n, p.chunks)+blockEntries, uint32(0)
	m.plain, m.places = slices.Grow(m.plain[:0], most), slices.Grow(m.places[:0], most)
	m.chunks, m.ofChunk = m.chunks[:0], m.ofChunk[:0]
	m.several, m.ofWhole, m.other = m.several[:0], m.ofWhole[:0], m.other[:0]
	for b := range c.blocks {
		if c.load(b); c.size == 0 || !c.spread(&m.block, from, uint32(p.chunks)) { //nolint:gosec // chunks of a segment fit 32 bits
			break
		}
		from = m.block[c.size-1] + 1
		m.plainOnes(&c, l)
	}
	for n := 0; n < len(m.other); {
		n = m.addFile(s, p.segment, l, t, n)
	}
}

// plainOnes adds the postings of the block in the text alone of files of one chunk, which
// are most, and sets the others aside, without a branch that would often be mispredicted.
func (m *impactsMaker) plainOnes(c *cursor, l *layout) {
	var others [blockEntries]uint8
	codes, lengths, size := c.codes, l.lengths, uint32(len(l.plain)) //nolint:gosec // few
	start, n := len(m.plain), 0
	chunks := (*[blockEntries]uint16)(m.plain[start : start+blockEntries])
	places := (*[blockEntries]uint16)(m.places[start : start+blockEntries])
	for i, code := range codes {
		chunk := m.block[i&(blockEntries-1)]
		// Lengths of chunks that are not all of their file, and 0 occurrences, are far too large.
		tf := uint32(code) - 1
		place := uint32(lengths[chunk]-onlyChunk)*plainCounts + tf
		places[n&(blockEntries-1)], chunks[n&(blockEntries-1)] = uint16(place), uint16(chunk) //nolint:gosec // chunks of a small part
		others[(i-n)&(blockEntries-1)] = uint8(i)                                             //nolint:gosec // below blockEntries
		few, held := 0, 0
		if tf < plainCounts {
			few = 1
		}
		if place < size {
			held = 1
		}
		n += few & held
	}
	left := others[:len(codes)-n]
	m.plain, m.places = m.plain[:start+n], m.places[:start+n]
	at := len(m.other)
	m.other = slices.Grow(m.other, len(left))[:at+len(left)]
	for n, i := range left {
		in, code := &m.other[at+n], codes[i]
		in.chunk, in.body, in.heading, in.title = m.block[i&(blockEntries-1)], uint32(code), 0, 0
		if code >= entryMore {
			c.rest.more(in, code)
		}
	}
}

func (m *impacts) add(chunk uint32, v float64) {
	if v > 0 {
		m.chunks, m.ofChunk = append(m.chunks, uint16(chunk)), append(m.ofChunk, v) //nolint:gosec // chunks of a small part
	}
}

// addFile adds the impacts of the file that the n-th of the other postings is of, and
// returns the first behind those of the file.
func (m *impactsMaker) addFile(s *Searcher, g *segment, l *layout, t *term, n int) int {
	in, score := &m.other[n], &s.scorer
	if place := l.place(in.chunk); place >= 0 {
		return m.addSeveral(s, g, l, t, n, place)
	}
	body, heading, length := uint32(l.lengths[in.chunk]&^onlyChunk), uint32(0), uint32(0)
	total := body
	if l.lengths[in.chunk] <= onlyChunk || in.heading > 0 { // as few are
		_, body, heading = g.chunkRow(in.chunk)
		total = g.fileField(l.fileOf(in.chunk), 1)
	}
	if in.title > 0 {
		length = l.title(g, l.fileOf(in.chunk))
	}
	m.add(in.chunk, score.chunkImpact(t, in, body, heading, in.title, length)+score.fileImpact(t, in.body, total, in.title, length))
	return n + 1
}

// addSeveral is addFile for a document of several chunks, all of whose postings are
// others.
func (m *impactsMaker) addSeveral(s *Searcher, g *segment, l *layout, t *term, n, place int) int {
	doc, score := &l.several[place], &s.scorer
	title, total := m.other[n].title, uint32(0)
	if title > 0 { // all of its chunks have part in it
		length := l.title(g, int(doc.file))
		for at := doc.first; at < doc.end; at++ {
			in := &posting{}
			if n < len(m.other) && m.other[n].chunk == at {
				in = &m.other[n]
				n++
			}
			total += in.body
			_, body, heading := g.chunkRow(at)
			m.add(at, score.chunkImpact(t, in, body, heading, title, length))
		}
		m.addWhole(place, score.fileImpact(t, total, doc.body, title, length))
		return n
	}
	for ; n < len(m.other) && m.other[n].chunk < doc.end; n++ {
		in := &m.other[n]
		total += in.body
		if by := l.shares(in.body, uint32(l.lengths[in.chunk])); by != nil && in.heading == 0 {
			m.add(in.chunk, float64(t.chunkGain*by.chunk))
			continue
		}
		_, body, heading := g.chunkRow(in.chunk)
		m.add(in.chunk, score.chunkImpact(t, in, body, heading, 0, 0))
	}
	if by := l.shares(total, doc.body); by != nil {
		m.addWhole(place, float64(score.ranking.Document*float64(t.fileGain*by.file)))
	} else {
		m.addWhole(place, score.fileImpact(t, total, doc.body, 0, 0))
	}
	return n
}

func (m *impacts) addWhole(place int, v float64) {
	if v > 0 {
		m.several, m.ofWhole = append(m.several, uint16(place)), append(m.ofWhole, v) //nolint:gosec // fewer than chunks
	}
}

// keptSlab is how many impacts memory is taken for at a time.
const keptSlab = 1 << 12

// slab is memory for kept impacts.
type slab struct {
	places []uint16
	values []float64
}

// keep copies impacts, takes room for them and returns them.
func (c *termCache) keep(m *impacts) *impacts {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spend(m.room())
	return &impacts{
		plain: shelved(&c.slab.places, m.plain), places: shelved(&c.slab.places, m.places),
		chunks: shelved(&c.slab.places, m.chunks), several: shelved(&c.slab.places, m.several),
		ofChunk: shelved(&c.slab.values, m.ofChunk), ofWhole: shelved(&c.slab.values, m.ofWhole),
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
