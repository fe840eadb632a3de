package index

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// candidate is a chunk with its score.
type candidate struct {
	part, chunk int
	score       float64
}

// top keeps the k best candidates.
type top struct {
	k       int
	compare func(a, b candidate) int // of those of one score
	list    []candidate
	floor   float64 // the score that a candidate must reach once k are known
}

func newTop(k int, compare func(a, b candidate) int) *top { return &top{k: k, compare: compare} }

func (t *top) offer(c candidate) {
	if c.score < t.floor {
		return
	}
	t.list = append(t.list, c)
	if len(t.list) >= 2*t.k {
		t.list = t.ranked()
		t.floor = t.list[t.k-1].score
	}
}

// ranked returns the best so far, best first.
func (t *top) ranked() []candidate {
	slices.SortFunc(t.list, func(a, b candidate) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return t.compare(a, b)
	})
	return t.list[:min(t.k, len(t.list))]
}

// sums are the scores of all chunks and files of a part, while terms are added.
type sums struct{ chunks, files []float64 }

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var sumsPool = sync.Pool{New: func() any { return new(sums) }}

func (s *sums) reset(chunks, files int) {
	s.chunks = slices.Grow(s.chunks[:0], chunks)[:chunks]
	s.files = slices.Grow(s.files[:0], files)[:files]
	clear(s.chunks)
	clear(s.files)
}

// score offers the chunks of a part that hold a term.
func (s *Searcher) score(ctx context.Context, i int, terms []queryTerm, found *top) error {
	p := &s.parts[i]
	acc := sumsPool.Get().(*sums)
	defer sumsPool.Put(acc)
	acc.reset(p.chunks, p.files)
	w := walker{seg: p.segment, ranking: s.db.ranking, avg: s.averages(), chunks: acc.chunks, files: acc.files}
	for t := range terms {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		w.term(&terms[t], terms[t].entries[i])
	}
	share := s.db.ranking.Document
	for c, v := range acc.chunks {
		if v > 0 && p.live(c) {
			found.offer(candidate{i, c, v + share*acc.files[p.chunkField(c, 0)]})
		}
	}
	return nil
}

// averages are the average lengths of fields over all parts, in terms.
type averages struct{ body, heading, title, fileBody, fileTitle float64 }

func (s *Searcher) averages() averages {
	chunks, files := float64(s.all.chunks), float64(s.all.files)
	return averages{
		body:      float64(s.all.body) / chunks,
		heading:   float64(s.all.heading) / chunks,
		title:     float64(s.all.chunkTitles) / chunks,
		fileBody:  float64(s.all.body) / files,
		fileTitle: float64(s.all.titles) / files,
	}
}

// walker adds the score of one term after the other.
type walker struct {
	seg           *segment
	ranking       Ranking
	avg           averages
	chunks, files []float64 // scores so far
}

// term goes through the postings of a term file by file.
func (w *walker) term(t *queryTerm, e entry) {
	files, chunks := w.seg.files, w.seg.chunks
	titles := titleCursor{r: reader{b: e.files}, file: -1}
	texts := chunkCursor{r: reader{b: e.chunks}, chunk: -1}
	titles.next(files)
	texts.next(chunks)
	for titles.file < files || texts.chunk < chunks {
		file := titles.file
		if texts.chunk < chunks {
			file = min(file, int(w.seg.chunkField(texts.chunk, 0)))
		}
		var inTitle uint32
		if titles.file == file {
			inTitle = titles.tf
			titles.next(files)
		}
		w.file(t, file, inTitle, &texts)
	}
}

// file adds what one file and its chunks get for a term. at stands on the first
// chunk of the file, or of a later one, that holds the term; it is moved behind
// the file.
func (w *walker) file(t *queryTerm, file int, inTitle uint32, at *chunkCursor) {
	r, seg := w.ranking, w.seg
	titleLength := seg.fileField(file, 2)
	title := r.Title * r.norm(inTitle, titleLength, w.avg.title)
	first, end := seg.chunksOf(file)
	var total uint32
	for c := first; c < end; c++ {
		tf := title
		if at.chunk == c {
			tf += r.norm(at.body, seg.chunkField(c, 1), w.avg.body) +
				r.Heading*r.norm(at.heading, seg.chunkField(c, 2), w.avg.heading)
			total += at.body
			at.next(seg.chunks)
		} else if title == 0 { // nothing before the next posting
			c = min(at.chunk, end) - 1
		}
		if tf > 0 {
			w.chunks[c] += t.chunkW * r.saturate(tf)
		}
	}
	tf := r.norm(total, seg.fileField(file, 1), w.avg.fileBody) + r.Title*r.norm(inTitle, titleLength, w.avg.fileTitle)
	if tf > 0 {
		w.files[file] += t.fileW * r.saturate(tf)
	}
}

// titleCursor walks the files that hold a term in their title.
type titleCursor struct {
	r    reader
	file int
	tf   uint32
}

// next moves on; behind the last, file is end.
func (c *titleCursor) next(end int) {
	if len(c.r.b) == 0 {
		c.file = end
		return
	}
	c.file += int(c.r.u32())
	c.tf = c.r.u32()
	if c.r.err != nil || uint(c.file) >= uint(end) {
		c.file, c.r.b = end, nil
	}
}

// chunkCursor walks the chunks that hold a term in text or headings.
type chunkCursor struct {
	r             reader
	chunk         int
	body, heading uint32
}

// next moves on; behind the last, chunk is end.
func (c *chunkCursor) next(end int) {
	if len(c.r.b) == 0 {
		c.chunk = end
		return
	}
	c.chunk += int(c.r.u32())
	v := c.r.uint()
	c.body, c.heading = uint32(v>>1), 0 //nolint:gosec // written from 32 bits
	if v&1 == 1 {
		c.heading = c.r.u32()
	}
	if c.r.err != nil || uint(c.chunk) >= uint(end) {
		c.chunk, c.r.b = end, nil
	}
}
