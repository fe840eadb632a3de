package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"sort"
	"sync"
)

// A segment is one run of bytes; uvarints and strings as in terms.go, fixed
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

	headsOnce sync.Once
	heads     []uint64 // see blockHeads

	initialsMu sync.Mutex
	byInitial  map[string]*initials // see initials

	rowsOnce sync.Once
	rows     rows // see shortRows

	documentsOnce sync.Once
	docs          documents // see documents
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

// chunkRow returns the file of a chunk, and how many terms its text and its heading
// path have.
func (s *segment) chunkRow(chunk uint32) (file int, body, heading uint32) {
	row := s.chunkTab[int(chunk)*chunkWidth:][:chunkWidth]
	return int(binary.LittleEndian.Uint32(row)), binary.LittleEndian.Uint32(row[4:]), binary.LittleEndian.Uint32(row[8:])
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
func (s *segment) id(chunk int) string { return string(s.rawID(chunk)) }

func (s *segment) rawID(chunk int) []byte {
	start, end := s.idSpan(chunk)
	return s.ids[start:end]
}

// idSpan is where the id of a chunk stands in ids.
func (s *segment) idSpan(chunk int) (start, end uint32) {
	if chunk > 0 {
		start = s.chunkField(chunk-1, 3)
	}
	return start, s.chunkField(chunk, 3)
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

// entry is what the dictionary says of a term.
type entry struct {
	chunkDF, fileDF int
	entries         int // in postings
	postings        []byte
}

// find looks a term up.
func (s *segment) find(term string) (entry, bool) {
	// The first block that begins behind the term; the term is in the one before.
	heads, head := s.blockHeads(), headOf(term)
	b, end := 0, len(heads)
	for b < end {
		if m := int(uint(b+end) >> 1); heads[m] > head || heads[m] == head && string(s.firstTerm(m)) > term {
			end = m
		} else {
			b = m + 1
		}
	}
	if b--; b < 0 {
		return entry{}, false
	}
	r := s.block(b)
	at := binary.LittleEndian.Uint64(s.blocks[b*blockWidth+4:])
	same := 0 // bytes that the last one read has in common with term
	for i := range min(blockTerms, s.terms-b*blockTerms) {
		shared, rest := r.dictHead()
		counts := r
		size := r.counts()
		if r.err != nil || i > 0 && shared < same {
			return entry{}, false // it differs from the term earlier than the one before did, so it is behind
		}
		if shared == same || i == 0 {
			more := common(rest, term[same:])
			same += more
			if more == len(rest) && same == len(term) {
				all := uint64(len(s.post))
				if at > all || size > all-at {
					return entry{}, false
				}
				return entry{int(counts.u32()), int(counts.u32()), int(counts.u32()), s.post[at : at+size]}, true
			}
			if same < len(term) && more < len(rest) && rest[more] > term[same] || same == len(term) {
				return entry{}, false
			}
		}
		at += size
	}
	return entry{}, false
}

// blockHeads returns the heads of the first terms of blocks, so that a search for a term
// reads no more than one block of the dictionary. They are made when first needed, 8 bytes
// for 16 terms.
func (s *segment) blockHeads() []uint64 {
	s.headsOnce.Do(func() {
		s.heads = make([]uint64, len(s.blocks)/blockWidth)
		for b := range s.heads {
			s.heads[b] = headOf(s.firstTerm(b))
		}
	})
	return s.heads
}

// headOf is the first eight bytes of a term as a number, whose order is that of terms
// but for those of one head.
func headOf[T string | []byte](term T) (head uint64) {
	for i := range min(8, len(term)) {
		head |= uint64(term[i]) << (56 - 8*i)
	}
	return head
}

// dictEntry returns how many bytes the term that data begins with shares with the one
// before in its block, its rest, and what is behind all that the dictionary says of it; nil:
// it is damaged.
func dictEntry(data []byte) (shared int, rest, behind []byte) {
	if len(data) < 2 || (data[0]|data[1])&0x80 > 0 || len(data) < int(data[1])+6 || binary.LittleEndian.Uint32(data[data[1]+2:])&0x80808080 > 0 {
		return largeEntry(data)
	}
	return int(data[0]), data[2 : data[1]+2], data[data[1]+6:] // as nearly all are
}

// largeEntry is dictEntry where some number takes more than a byte.
func largeEntry(data []byte) (shared int, rest, behind []byte) {
	r := reader{b: data}
	shared, rest = r.dictHead()
	if r.counts(); r.err != nil {
		return 0, nil, nil
	}
	return shared, rest, r.b
}

// dictHead reads how many bytes a term shares with the one before in its block, and its
// rest.
func (r *reader) dictHead() (shared int, rest []byte) {
	if b := r.b; len(b) >= 2 && (b[0]|b[1])&0x80 == 0 && len(b) >= int(b[1])+2 { // as nearly all are
		end := int(b[1]) + 2
		r.b = b[end:]
		return int(b[0]), b[2:end]
	}
	n := r.uint()
	if n > math.MaxInt32 {
		r.fail()
	}
	return int(n), r.bytes() //nolint:gosec // bounded
}

// dictTerm reads a term into t, which holds the one before in its block, and past what
// the dictionary says of it.
func (r *reader) dictTerm(t []byte) []byte {
	shared, rest, behind := dictEntry(r.b)
	if behind == nil || shared > len(t) {
		r.fail()
		return t[:0]
	}
	r.b = behind
	return append(t[:shared], rest...)
}

// counts reads past what the dictionary says of a term, to the length of its
// postings, which it returns.
func (r *reader) counts() (size uint64) {
	if len(r.b) < 8 {
		return r.largeCounts()
	}
	const tops = 0x8080808080808080
	all := binary.LittleEndian.Uint64(r.b)
	if all&(tops>>32) == 0 { // a byte each, as most often
		r.b = r.b[4:]
		return all >> 24 & 0x7f
	}
	ends := ^all & tops // the highest bits of their last bytes
	ends &= ends - 1
	ends &= ends - 1
	from := bits.TrailingZeros64(ends) + 1
	to := bits.TrailingZeros64(ends&(ends-1)) + 1
	if to > 64 || to-from > 3*8 {
		return r.largeCounts()
	}
	r.b = r.b[to/8:]
	size = all << (64 - to) >> (64 - to + from)
	return size&0x7f | size>>1&(0x7f<<7) | size>>2&(0x7f<<14)
}

// largeCounts is counts for numbers of any size.
func (r *reader) largeCounts() (size uint64) {
	r.u32()
	r.u32()
	r.u32()
	return r.uint()
}

// firstTerm is the first term of a block, which shares nothing with one before.
func (s *segment) firstTerm(b int) []byte {
	r := s.block(b)
	r.uint()
	return r.bytes()
}

// common is how many bytes a and b begin with alike.
func common(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// block returns the dictionary from the start of a block on.
func (s *segment) block(b int) reader {
	at := binary.LittleEndian.Uint32(s.blocks[b*blockWidth:])
	return reader{b: s.dict[min(int(at), len(s.dict)):]}
}

// blockBefore returns the last block whose first term is less than some bytes, 0 where
// none is.
func (s *segment) blockBefore(prefix []byte) int {
	return max(0, sort.Search(len(s.blocks)/blockWidth, func(b int) bool { return bytes.Compare(s.firstTerm(b), prefix) >= 0 })-1)
}

// eachTerm calls f for each term that begins with prefix, which is not empty, in
// ascending order. f must not keep the term.
func (s *segment) eachTerm(prefix []byte, f func(term []byte)) {
	blocks := len(s.blocks) / blockWidth
	var t []byte
	for b := s.blockBefore(prefix); b < blocks; b++ {
		end := len(s.dict)
		if b+1 < blocks {
			end = min(end, int(binary.LittleEndian.Uint32(s.blocks[(b+1)*blockWidth:])))
		}
		r := s.block(b)
		r.b = r.b[:max(0, end-(len(s.dict)-len(r.b)))]
		t = t[:0]
		for range min(blockTerms, s.terms-b*blockTerms) {
			if t = r.dictTerm(t); r.err != nil {
				return
			}
			switch {
			case bytes.HasPrefix(t, prefix):
				f(t)
			case bytes.Compare(t, prefix) > 0:
				return
			}
		}
	}
}
