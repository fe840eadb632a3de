package index

import "sync"

// impacts are what a term that weighs 1 gives the chunks of a part, and the
// documents of several chunks as a whole: see [Ranking]. They do not depend on the
// query, so they are kept when they were worked out once.
type impacts struct {
	chunks, several  []uint32 // ascending; several are places in layout.several
	ofChunk, ofWhole []float64
}

// layout is what impacts and sums need to know of the chunks of a part, made when
// first needed: 16 bytes a chunk and its id.
type layout struct {
	once    sync.Once
	norms   []norms   // of chunks
	several []several // documents of more than one chunk, ascending
	ids     string    // of the chunks, one behind the other
}

// norms are what occurrences in the text of a chunk are saturated by: K1 times its
// length, brought to the average, and the same of its document where that has no other
// chunk; else -1 and less its place in layout.several.
type norms struct{ chunk, file float64 }

// several is a document of chunks first to end-1, and its norm.
type several struct {
	first, end uint32
	norm       float64
}

// layoutOf returns the layout of part i.
func (s *Searcher) layoutOf(i int) *layout {
	l := &s.terms.layouts[i]
	l.once.Do(func() { l.lay(&s.parts[i], &s.scorer) })
	return l
}

func (l *layout) lay(p *part, score *scorer) {
	l.norms, l.ids = make([]norms, p.chunks), string(p.ids)
	for f := range p.files {
		first, end := p.chunksOf(f)
		file := float64(score.ranking.K1 * score.fileBody.of(p.fileField(f, 1)))
		if end-first > 1 {
			l.several = append(l.several, several{uint32(first), uint32(end), file}) //nolint:gosec // chunks of a segment fit 32 bits
			file = -float64(len(l.several))
		}
		for c := first; c < end; c++ {
			l.norms[c] = norms{float64(score.ranking.K1 * score.body.of(p.chunkField(c, 1))), file}
		}
	}
}

// impactsOf returns the impacts of a term in part i.
func (s *Searcher) impactsOf(i int, t *term) *impacts {
	if made := t.parts[i].impacts.Load(); made != nil {
		return made
	}
	made := s.newImpacts(i, t)
	if t.parts[i].impacts.CompareAndSwap(nil, made) {
		s.terms.charge(len(made.chunks)+len(made.several), nil)
	}
	return made
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var takenPool = sync.Pool{New: func() any { return new(taken) }}

func (s *Searcher) newImpacts(i int, t *term) *impacts {
	p, e, l := &s.parts[i], t.parts[i].entry, s.layoutOf(i)
	list := takenPool.Get().(*taken)
	defer takenPool.Put(list)
	var c cursor
	c.open(e)
	c.take(list, 0, uint32(p.chunks)) //nolint:gosec // chunks of a segment fit 32 bits
	df := min(e.chunkDF, p.chunks)
	out := &impacts{chunks: make([]uint32, 0, df), ofChunk: make([]float64, 0, df)}
	for n := 0; n < len(list.chunks); {
		in := list.at(n)
		switch by := l.norms[in.chunk]; {
		case by.file < 0:
			n = s.addSeveral(out, i, t, list, n, int(-by.file)-1)
			continue
		case in.plain():
			out.add(in.chunk, chunkPlain(t, in.body, by.chunk)+s.scorer.filePlain(t, in.body, by.file))
		default:
			f, body, heading := p.chunkRow(in.chunk)
			total, length := p.fileField(f, 1), p.fileField(f, 2)
			out.add(in.chunk, s.scorer.chunkImpact(t, in, body, heading, in.title, length)+s.scorer.fileImpact(t, in.body, total, in.title, length))
		}
		n++
	}
	return out
}

func (m *impacts) add(chunk uint32, v float64) {
	if v > 0 {
		m.chunks, m.ofChunk = append(m.chunks, chunk), append(m.ofChunk, v)
	}
}

// addSeveral adds the impacts of the document of several chunks that the n-th posting
// is of, and returns which posting is the first behind it.
func (s *Searcher) addSeveral(out *impacts, i int, t *term, list *taken, n, place int) int {
	p, l := &s.parts[i], s.layoutOf(i)
	doc, title, total, whole := &l.several[place], list.at(n).title, uint32(0), 0.0
	if title == 0 {
		for ; n < len(list.chunks) && list.chunks[n] < doc.end; n++ {
			in := list.at(n)
			total += in.body
			if in.plain() {
				out.add(in.chunk, chunkPlain(t, in.body, l.norms[in.chunk].chunk))
				continue
			}
			_, body, heading := p.chunkRow(in.chunk)
			out.add(in.chunk, s.scorer.chunkImpact(t, in, body, heading, 0, 0))
		}
		if total > 0 {
			whole = s.scorer.filePlain(t, total, doc.norm)
		}
	} else { // all of its chunks have part in it
		f := int(p.chunkField(int(doc.first), 0))
		length := p.fileField(f, 2)
		for at := doc.first; at < doc.end; at++ {
			var in posting
			if n < len(list.chunks) && list.chunks[n] == at {
				in = list.at(n)
				n++
			}
			total += in.body
			_, body, heading := p.chunkRow(at)
			out.add(at, s.scorer.chunkImpact(t, in, body, heading, title, length))
		}
		whole = s.scorer.fileImpact(t, total, p.fileField(f, 1), title, length)
	}
	if whole > 0 {
		out.several, out.ofWhole = append(out.several, uint32(place)), append(out.ofWhole, whole) //nolint:gosec // fewer than chunks
	}
	return n
}
