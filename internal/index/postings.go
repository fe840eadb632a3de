package index

import (
	"encoding/binary"
	"math"
	"sort"
)

// A term has a posting for each chunk with the term in its text or headings, and, if it is in
// the title of a file, one for the file's first chunk. Postings are ordered by chunk and stored
// in blocks of blockSize, the last one shorter. See appendPosting.
const blockSize = 128

// noChunk is greater than every chunk.
const noChunk = math.MaxUint32

// posting counts the occurrences of a term in a chunk.
type posting struct {
	chunk         uint32
	body, heading uint32 // occurrences in the text and in the heading path
	title         uint32 // occurrences in the title; only in the file's first posting
}

// Kinds of postings, by the numbers that follow the chunk.
const (
	onceInText  = iota // none: the term is once in the text and nowhere else
	inText             // occurrences in the text
	inAllFields        // occurrences in text, heading path and title
)

// appendPosting appends a posting. All numbers are uvarints: the distance from the previous
// chunk and the kind in one, then the occurrences.
func appendPosting(out []byte, before uint32, p posting) []byte {
	kind := uint64(inAllFields)
	if p.heading == 0 && p.title == 0 {
		kind = inText
		if p.body == 1 {
			kind = onceInText
		}
	}
	out = binary.AppendUvarint(out, uint64(p.chunk-before)<<2|kind)
	if kind != onceInText {
		out = binary.AppendUvarint(out, uint64(p.body))
	}
	if kind == inAllFields {
		out = binary.AppendUvarint(out, uint64(p.heading))
		out = binary.AppendUvarint(out, uint64(p.title))
	}
	return out
}

// readPostings appends all postings in data, whose checksum is valid.
func readPostings(out []posting, before uint32, data []byte) []posting {
	number := func() uint64 {
		if data[0] < 0x80 { // most numbers
			n := uint64(data[0])
			data = data[1:]
			return n
		}
		n, size := binary.Uvarint(data)
		data = data[size:]
		return n
	}
	for len(data) > 0 {
		v := number()
		p := posting{chunk: before + uint32(v>>2), body: 1}
		before = p.chunk
		switch v & 3 {
		case inText:
			p.body = uint32(number())
		case inAllFields:
			p.body, p.heading, p.title = uint32(number()), uint32(number()), uint32(number())
		}
		out = append(out, p)
	}
	return out
}

// cursor iterates over the postings of a term, forwards only. After the last one, chunk is
// noChunk.
type cursor struct {
	posting // the current one

	s         *segment
	term      entry
	block     int       // the decoded block
	decoded   []posting // its postings
	at        int       // position in decoded
	blockLast uint32    // last chunk of the block
}

// newCursor returns a cursor at the first posting of a term.
func newCursor(s *segment, term entry) cursor {
	c := cursor{s: s, term: term}
	c.load(term.from)
	return c
}

// load moves to the first posting of a block.
func (c *cursor) load(block int) {
	c.block, c.at = block, 0
	if block >= c.term.to {
		c.posting, c.decoded, c.blockLast = posting{chunk: noChunk}, nil, noChunk
		return
	}
	before := uint32(0)
	if block > c.term.from {
		before = c.s.BlockLast[block-1]
	}
	c.decoded = readPostings(c.decoded[:0], before, item(c.s.Postings, c.s.PostingsEnd, block))
	c.posting, c.blockLast = c.decoded[0], c.s.BlockLast[block]
}

// next moves to the next posting.
func (c *cursor) next() {
	if c.at++; c.at < len(c.decoded) {
		c.posting = c.decoded[c.at]
		return
	}
	c.load(c.block + 1)
}

// seek moves to the first posting whose chunk is at least the given one.
func (c *cursor) seek(chunk uint32) {
	if c.chunk >= chunk {
		return
	}
	if c.blockLast < chunk {
		block := c.block + 1
		for block < c.term.to && c.s.BlockLast[block] < chunk {
			block++
		}
		if c.load(block); c.chunk >= chunk {
			return
		}
	}
	rest := c.decoded[c.at:]
	c.at += sort.Search(len(rest), func(i int) bool { return rest[i].chunk >= chunk })
	c.posting = c.decoded[c.at]
}

// bound returns an upper bound of the postings from the current one to the chunk before end;
// zero if there are none.
func (c *cursor) bound(end uint32) (b bound) {
	if c.chunk >= end {
		return b
	}
	for block := c.block; block < c.term.to; block++ {
		b.Chunk = max(b.Chunk, math.Float32frombits(c.s.MaxChunkTF[block]))
		b.File = max(b.File, math.Float32frombits(c.s.MaxFileTF[block]))
		if c.s.BlockLast[block] >= end-1 {
			break
		}
	}
	return b
}
