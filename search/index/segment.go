package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// A segment is one run of bytes; uvarints and strings as in reader.go, fixed
// numbers little-endian:
//
//	8 bytes   magic, with the version of the format
//	4 bytes   CRC-32C of all that follows
//	head      id of the database, collection, 1 + the version behind which it
//	          begins, generation, analysis; number of files, chunks and terms; terms
//	          in all texts, in all heading paths, in the titles of all chunks and in
//	          the titles of all files; lengths of the sections, which follow
//	files     each 12 bytes: first chunk, terms of all its texts, of its title.
//	          By source, files without chunks left out
//	chunks    each 16 bytes: file, terms of its text, of its heading path, end
//	          of its id in the next section. By file, then ordinal
//	ids       of the chunks, one behind the other
//	blocks    each 12 bytes: where in the dictionary a block of 16 terms begins,
//	          and (8 bytes) where its postings begin
//	dictionary, ascending; a term: bytes shared with the one before in its
//	          block, rest; chunks that hold it in any field; files that hold it;
//	          number of its postings, and their length
//	postings  of each term: see postings.go
//
// A query reads the blocks, one block of the dictionary a term, and the
// postings of its terms; opening reads the head and the two tables.

const (
	segmentMagic = "rfseg\x00\x00\x03"
	segmentHead  = len(segmentMagic) + 4
	fileWidth    = 12
	chunkWidth   = 16
	blockWidth   = 12
	blockTerms   = 16
)

// stamp says what a segment was made of.
type stamp struct {
	database   string
	collection int64
	since      int64 // the versions of its files are greater
	generation int64 // of the collection at that moment
	analysis   string
}

// totals are the sums that averages are made of. Those of several segments add
// up.
type totals struct {
	files, chunks       int
	body, heading       int // terms in all chunks
	chunkTitles, titles int // terms in titles, once a chunk and once a file
}

func (t *totals) subtract(o totals) {
	t.files -= o.files
	t.chunks -= o.chunks
	t.body -= o.body
	t.heading -= o.heading
	t.chunkTitles -= o.chunkTitles
	t.titles -= o.titles
}

func (t *totals) add(o totals) {
	t.files += o.files
	t.chunks += o.chunks
	t.body += o.body
	t.heading += o.heading
	t.chunkTitles += o.chunkTitles
	t.titles += o.titles
}

// segment is an opened segment. It is immutable.
type segment struct {
	stamp
	totals

	terms                                      int
	fileTab, chunkTab, ids, blocks, dict, post []byte
	made                                       scorer // what the bounds of postings were made with

	data []byte

	once   sync.Once
	places map[string]int // chunks by id, made by place when first needed
}

// errDamaged tells that a segment cannot be trusted. It is made anew then.
var errDamaged = errors.New("segment is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant table

// seal puts magic and checksum in front of the rest of a segment, for which
// data has left room.
func seal(data []byte) {
	copy(data, segmentMagic)
	binary.LittleEndian.PutUint32(data[len(segmentMagic):], crc32.Checksum(data[segmentHead:], castagnoli))
}

// openSegment checks data and finds its way in it. It keeps data.
func openSegment(data []byte) (*segment, error) {
	if len(data) < segmentHead || string(data[:len(segmentMagic)]) != segmentMagic {
		return nil, fmt.Errorf("%w: not a segment of this version", errDamaged)
	}
	if binary.LittleEndian.Uint32(data[len(segmentMagic):]) != crc32.Checksum(data[segmentHead:], castagnoli) {
		return nil, fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	s := &segment{data: data}
	r := reader{b: data[segmentHead:]}
	s.database = string(r.bytes())
	s.collection = int64(r.uint())
	s.since = int64(r.uint()) - 1
	s.generation = int64(r.uint())
	s.analysis = string(r.bytes())
	for _, n := range []*int{&s.files, &s.chunks, &s.terms, &s.body, &s.heading, &s.chunkTitles, &s.titles} {
		*n = int(r.uint())
	}
	var lengths [6]int
	for i := range lengths {
		lengths[i] = r.count()
	}
	for i, section := range []*[]byte{&s.fileTab, &s.chunkTab, &s.ids, &s.blocks, &s.dict, &s.post} {
		if r.err != nil || lengths[i] > len(r.b) {
			return nil, fmt.Errorf("%w: cut short", errDamaged)
		}
		*section = r.b[:lengths[i]:lengths[i]]
		r.b = r.b[lengths[i]:]
	}
	if len(r.b) != 0 || !s.sound() {
		return nil, fmt.Errorf("%w: tables do not fit", errDamaged)
	}
	s.made = newScorer(DefaultRanking(), s.totals)
	return s, nil
}

// sound reports whether the tables can be used without looking at bounds again.
func (s *segment) sound() bool {
	if s.files < 0 || s.files != len(s.fileTab)/fileWidth || len(s.fileTab)%fileWidth != 0 ||
		s.chunks < 0 || s.chunks != len(s.chunkTab)/chunkWidth || len(s.chunkTab)%chunkWidth != 0 ||
		s.terms < 0 || (s.terms+blockTerms-1)/blockTerms != len(s.blocks)/blockWidth || len(s.blocks)%blockWidth != 0 {
		return false
	}
	if s.body < 0 || s.heading < 0 || s.chunkTitles < 0 || s.titles < 0 {
		return false
	}
	last, ids := 0, uint32(0)
	for f := range s.files {
		first, end := s.chunksOf(f)
		if first != last || end <= first || end > s.chunks {
			return false
		}
		for c := first; c < end; c++ {
			id := s.chunkField(c, 3)
			if int(s.chunkField(c, 0)) != f || id < ids || uint64(id) > uint64(len(s.ids)) {
				return false
			}
			ids = id
		}
		last = end
	}
	return last == s.chunks
}

func (s *segment) fileField(file, field int) uint32 {
	return binary.LittleEndian.Uint32(s.fileTab[file*fileWidth+4*field:])
}

func (s *segment) chunkField(chunk, field int) uint32 {
	return binary.LittleEndian.Uint32(s.chunkTab[chunk*chunkWidth+4*field:])
}

// chunksOf returns the chunks of a file: first to end-1.
func (s *segment) chunksOf(file int) (first, end int) {
	first, end = int(s.fileField(file, 0)), s.chunks
	if file+1 < s.files {
		end = int(s.fileField(file+1, 0))
	}
	return first, end
}

// id returns the id of a chunk.
func (s *segment) id(chunk int) string {
	start := uint32(0)
	if chunk > 0 {
		start = s.chunkField(chunk-1, 3)
	}
	return string(s.ids[start:s.chunkField(chunk, 3)])
}

// place returns the chunk that has an id.
func (s *segment) place(id string) (chunk int, ok bool) {
	s.once.Do(func() {
		s.places = make(map[string]int, s.chunks)
		for c := range s.chunks {
			s.places[s.id(c)] = c
		}
	})
	chunk, ok = s.places[id]
	return chunk, ok
}
