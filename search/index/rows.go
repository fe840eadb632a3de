package index

import "math/bits"

// rows are the tables of a segment's chunks and files once more, so short that the
// cache of a core holds what a search looks up of them chunk by chunk: 2 bytes and a
// fifth a chunk, and 4 a file where files have several.
type rows struct {
	lengths []uint16 // of chunks: terms of the text, and onlyChunk; 0: look into the table. There is room for one more, see plainBlock
	firsts  bitmap   // chunks that files begin with
	before  []uint32 // how many files begin before each 64 chunks
	files   []uint32 // terms of all texts of a file; nil where each has one chunk
}

// onlyChunk is added to the length of a chunk that is all of its file.
const onlyChunk = 1 << 15

// shortRows returns the rows, which are made when first needed.
func (s *segment) shortRows() *rows {
	s.rowsOnce.Do(func() {
		r := &s.rows
		r.lengths, r.firsts, r.before = make([]uint16, s.chunks, s.chunks+1), newBitmap(s.chunks), make([]uint32, (s.chunks+63)/64)
		if s.files < s.chunks {
			r.files = make([]uint32, s.files)
		}
		for f := range s.files {
			first, end := s.chunksOf(f)
			r.firsts.set(first)
			for c := first; c < end; c++ {
				if body := s.chunkField(c, 1); body < onlyChunk {
					r.lengths[c] = uint16(body)
				}
			}
			if r.files != nil {
				r.files[f] = s.fileField(f, 1)
			}
			if end-first == 1 && r.lengths[first] > 0 && s.fileField(f, 1) == uint32(r.lengths[first]) {
				r.lengths[first] |= onlyChunk
			}
		}
		n := uint32(0)
		for i, word := range r.firsts {
			r.before[i] = n
			n += uint32(bits.OnesCount64(word)) //nolint:gosec // at most 64
		}
	})
	return &s.rows
}

// first reports whether a file begins with a chunk.
func (r *rows) first(chunk uint32) bool { return r.firsts.has(int(chunk)) }

// fileOf returns the file of a chunk.
func (r *rows) fileOf(chunk uint32) int {
	upTo := r.firsts[chunk>>6] << (63 - chunk&63)
	return int(r.before[chunk>>6]) + bits.OnesCount64(upTo) - 1
}

// end returns the first chunk behind the file of one.
func (r *rows) end(chunk uint32) uint32 {
	return uint32(min(r.firsts.next(int(chunk)+1), len(r.lengths))) //nolint:gosec // chunks of a segment fit 32 bits
}

// span returns the chunks of a file: see segment.chunksOf.
func (w *window) span(f int) (first, end int) {
	if w.rows.files == nil {
		return f, f + 1
	}
	return w.seg.chunksOf(f)
}

// fileOf returns the file of a chunk.
func (w *window) fileOf(chunk uint32) int {
	if w.rows.files == nil {
		return int(chunk)
	}
	return w.rows.fileOf(chunk)
}
