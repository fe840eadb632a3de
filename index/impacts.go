package index

import "sync"

// impacts are what a term that weighs 1 gives the chunks of a part, and the
// documents of several chunks as a whole: see [Ranking]. They do not depend on the
// query, so they are kept when they were worked out once.
type impacts struct {
	chunks, files   []uint32 // ascending
	ofChunk, ofFile []float64
}

// layout is what impacts and sums need to know of the chunks of a part, made when
// first needed.
type layout struct {
	once sync.Once
	// norms are of chunks the two numbers that occurrences in the text are
	// saturated by.
	norms []norms
	// several are the chunks, with their files, of files of more than one.
	several []fileChunk
	ids     string // of the chunks, one behind the other
}

type fileChunk struct{ file, chunk uint32 }

// norms are K1 times the length of a chunk, and of its document where that has no
// other chunk (else below 0), brought to the average.
type norms struct{ chunk, file float64 }

// layoutOf returns the layout of part i.
func (s *Searcher) layoutOf(i int) *layout {
	l, p, score := &s.terms.layouts[i], &s.parts[i], &s.scorer
	l.once.Do(func() {
		l.norms, l.ids = make([]norms, p.chunks), string(p.ids)
		for f := range p.files {
			first, end := p.chunksOf(f)
			file := -1.0
			if end-first == 1 {
				file = float64(score.ranking.K1 * score.fileBody.of(p.fileField(f, 1)))
			}
			for c := first; c < end; c++ {
				if end-first > 1 {
					l.several = append(l.several, fileChunk{uint32(f), uint32(c)}) //nolint:gosec // files and chunks of a segment fit 32 bits
				}
				l.norms[c] = norms{float64(score.ranking.K1 * score.body.of(p.chunkField(c, 1))), file}
			}
		}
	})
	return l
}

// impactsOf returns the impacts of a term in part i.
func (s *Searcher) impactsOf(i int, t *term) *impacts {
	if made := t.impacts[i].Load(); made != nil {
		return made
	}
	made := s.newImpacts(i, t)
	if t.impacts[i].CompareAndSwap(nil, made) {
		s.terms.charge(len(made.chunks)+len(made.files), nil)
	}
	return made
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var postingsPool = sync.Pool{New: func() any { return new([]posting) }}

func (s *Searcher) newImpacts(i int, t *term) *impacts {
	p, e, norms, document := &s.parts[i], t.entries[i], s.layoutOf(i).norms, s.scorer.ranking.Document
	scratch := postingsPool.Get().(*[]posting)
	defer postingsPool.Put(scratch)
	var c cursor
	c.open(e)
	list := c.take((*scratch)[:0], 0, uint32(p.chunks)) //nolint:gosec // chunks of a segment fit 32 bits
	*scratch = list
	out := &impacts{chunks: make([]uint32, 0, e.chunkDF), ofChunk: make([]float64, 0, e.chunkDF)}
	for n := 0; n < len(list); {
		at := &list[n]
		by := norms[at.chunk]
		if by.file < 0 || at.heading|at.title != 0 || at.body == 0 {
			n = s.appendImpacts(out, p, t, list, n)
			continue
		}
		tf := float64(at.body)
		out.chunks = append(out.chunks, at.chunk)
		out.ofChunk = append(out.ofChunk, float64(t.chunkGain*(tf/(tf+by.chunk)))+float64(document*float64(t.fileGain*(tf/(tf+by.file)))))
		n++
	}
	return out
}

// appendImpacts adds the impacts of the file that the n-th posting is of, and
// returns which posting is the first behind it.
func (s *Searcher) appendImpacts(out *impacts, p *part, t *term, list []posting, n int) int {
	f, _, _ := p.chunkRow(list[n].chunk)
	first, end := p.chunksOf(f)
	title, length, total := list[n].title, p.fileField(f, 2), uint32(0)
	at := int(list[n].chunk)
	if title > 0 { // all of its chunks have part in it
		at = first
	}
	single := end-first == 1
	for ; at < end; at++ {
		var in posting
		if n < len(list) && int(list[n].chunk) == at {
			in = list[n]
			n++
		}
		total += in.body
		_, body, heading := p.chunkRow(uint32(at)) //nolint:gosec // chunks of a segment fit 32 bits
		v := s.scorer.chunkImpact(t, in, body, heading, title, length)
		if single {
			v += s.scorer.fileImpact(t, total, p.fileField(f, 1), title, length)
		}
		if v > 0 {
			out.chunks, out.ofChunk = append(out.chunks, uint32(at)), append(out.ofChunk, v) //nolint:gosec // as above
		}
	}
	if single {
		return n
	}
	if v := s.scorer.fileImpact(t, total, p.fileField(f, 1), title, length); v > 0 {
		out.files, out.ofFile = append(out.files, uint32(f)), append(out.ofFile, v) //nolint:gosec // as above
	}
	return n
}
