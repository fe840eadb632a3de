package index

import "math"

// documents are what a search that adds up whole parts needs of a segment besides its
// rows, and as short: 2 bytes a file, 2 a chunk where some files have several, and the ids
// of the chunks. Such a part has few chunks: see denseChunks.
type documents struct {
	titles  []uint16  // of files: terms of the title; longTitle: look into the table
	several []several // documents of more than one chunk, ascending
	places  []uint16  // by chunk, 1 + the place of its document in several, 0 where the chunk is all of it; nil: all are
	ids     string    // of the chunks, one behind the other
	idSize  int       // bytes of each id where all have as many, as most segments' have; else 0
}

// longTitle is more terms than titles tells of.
const longTitle = math.MaxUint16

// several is a document of chunks first to end-1, and how many terms all of their texts
// have.
type several struct {
	first, end uint32
	file, body uint32
}

// documents returns those of a segment, which are made when first needed.
func (s *segment) documents() *documents {
	s.documentsOnce.Do(func() {
		d := &s.docs
		d.ids, d.titles = string(s.ids), make([]uint16, s.files)
		if d.idSize = len(s.ids) / max(1, s.chunks); d.idSize*s.chunks != len(s.ids) {
			d.idSize = 0
		}
		for c := range s.chunks {
			if s.chunkField(c, 3) != uint32((c+1)*d.idSize) { //nolint:gosec // no longer than all ids
				d.idSize = 0
				break
			}
		}
		if s.files < s.chunks {
			d.places = make([]uint16, s.chunks)
		}
		for f := range s.files {
			d.titles[f] = uint16(min(s.fileField(f, 2), longTitle))
			if first, end := s.chunksOf(f); end-first > 1 {
				d.several = append(d.several, several{uint32(first), uint32(end), uint32(f), s.fileField(f, 1)}) //nolint:gosec // chunks of a segment fit 32 bits
				for c := first; c < end; c++ {
					d.places[c] = uint16(len(d.several)) //nolint:gosec // fewer than denseChunks
				}
			}
		}
	})
	return &s.docs
}

// id returns the id of a chunk of a segment, without a copy.
func (d *documents) id(s *segment, chunk int) string {
	if n := d.idSize; n > 0 {
		return d.ids[chunk*n : (chunk+1)*n]
	}
	start, end := s.idSpan(chunk)
	return d.ids[start:end]
}

// place returns where the document of a chunk stands in several, -1 where the chunk is all
// of it.
func (d *documents) place(chunk uint32) int {
	if d.places == nil {
		return -1
	}
	return int(d.places[chunk]) - 1
}

// title returns how many terms the title of a file of a segment has.
func (d *documents) title(s *segment, file int) uint32 {
	if n := d.titles[file]; n < longTitle {
		return uint32(n)
	}
	return s.fileField(file, 2)
}
