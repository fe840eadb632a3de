package index

import (
	"encoding/binary"
	"math"
	"sort"
)

// The postings of a term are its entries, one a chunk that holds it in text or
// headings, by chunk; a file with the term in its title has an entry at its
// first chunk whatever that holds. They stand in blocks of blockEntries, the last
// one shorter:
//
//	blocks   where there are several, 16 bytes each: first chunk, last chunk, end
//	         of the block in what follows, two bounds
//	a block  where it is the only one: first chunk, last chunk minus first
//	         (uvarints), two bounds;
//	         the chunks minus the first, each in 1, 2 or 4 bytes as the last one needs;
//	         a byte an entry: occurrences in the text, if they are all and below
//	         128; else 128 + 64 (title follows) + 32 (heading path follows) +
//	         occurrences in the text, of which 31 means that they follow;
//	         what follows: occurrences in text, heading path and title (uvarints)
//
// So a chunk is found in a block by binary search, without reading what stands
// before it. Bounds are bfloat16, rounded up: the greatest normalised occurrences
// of a chunk and of a file in the block. See bounds.go.

const (
	blockEntries = 128
	blockHead    = 16
)

// How an entry's byte tells of more.
const (
	entryMore    = 1 << 7
	entryTitle   = 1 << 6
	entryHeading = 1 << 5
	entryLong    = entryHeading - 1 // occurrences in the text follow, too
)

// posting is one entry.
type posting struct {
	chunk                uint32
	body, heading, title uint32 // occurrences; title only at the file's first entry
}

// appendPostings writes the postings of a term. bounds holds those of each
// entry.
func appendPostings(out []byte, list []posting, bounds []bound) []byte {
	if len(list) <= blockEntries {
		if len(list) == 0 {
			return out
		}
		first, last := list[0].chunk, list[len(list)-1].chunk
		out = binary.AppendUvarint(out, uint64(first))
		out = binary.AppendUvarint(out, uint64(last-first))
		out = maxBound(bounds).append(out)
		return appendBlock(out, list)
	}
	blocks := (len(list) + blockEntries - 1) / blockEntries
	head := len(out)
	out = append(out, make([]byte, blocks*blockHead)...)
	start := len(out)
	for b := range blocks {
		part := list[b*blockEntries : min((b+1)*blockEntries, len(list))]
		out = appendBlock(out, part)
		h := out[head+b*blockHead : head+b*blockHead : head+(b+1)*blockHead]
		h = appendU32(h, part[0].chunk, part[len(part)-1].chunk, uint32(len(out)-start)) //nolint:gosec // finish checks the sum
		maxBound(bounds[b*blockEntries : b*blockEntries+len(part)]).append(h)
	}
	return out
}

// appendBlock writes the entries of one block.
func appendBlock(out []byte, list []posting) []byte {
	first := list[0].chunk
	switch width := offsetWidth(list[len(list)-1].chunk - first); width {
	case 1:
		for _, p := range list {
			out = append(out, byte(p.chunk-first))
		}
	case 2:
		for _, p := range list {
			out = binary.LittleEndian.AppendUint16(out, uint16(p.chunk-first)) //nolint:gosec // it fits, or the width were greater
		}
	default:
		for _, p := range list {
			out = binary.LittleEndian.AppendUint32(out, p.chunk-first)
		}
	}
	for _, p := range list {
		out = append(out, p.code())
	}
	for _, p := range list {
		code := p.code()
		if code&entryMore == 0 {
			continue
		}
		if code&entryLong == entryLong {
			out = binary.AppendUvarint(out, uint64(p.body))
		}
		if p.heading > 0 {
			out = binary.AppendUvarint(out, uint64(p.heading))
		}
		if p.title > 0 {
			out = binary.AppendUvarint(out, uint64(p.title))
		}
	}
	return out
}

// code is the byte of an entry.
func (p posting) code() byte {
	if p.heading == 0 && p.title == 0 && p.body < entryMore {
		return byte(p.body)
	}
	code := byte(entryMore) | byte(min(p.body, entryLong))
	if p.heading > 0 {
		code |= entryHeading
	}
	if p.title > 0 {
		code |= entryTitle
	}
	return code
}

// offsetWidth is how many bytes numbers up to n take.
func offsetWidth(n uint32) int {
	switch {
	case n <= math.MaxUint8:
		return 1
	case n <= math.MaxUint16:
		return 2
	}
	return 4
}

// cursor walks the postings of a term, forwards only. Behind the last, chunk is
// noChunk. What is damaged ends the postings early.
type cursor struct {
	heads, data []byte // of the blocks; without heads there is one block, and data is all
	n           int    // entries in all
	single      bound  // of the only block

	block, blocks int
	i, size       int // entry in the block
	width         int
	first, last   uint32
	offsets       []byte
	codes         []byte
	rest          reader // what follows the codes, from entry seen on
	seen          int

	posting // where it stands
}

// noChunk is behind every chunk.
const noChunk = math.MaxUint32

// open puts the cursor on the first posting.
func (c *cursor) open(e entry) {
	c.prepare(e)
	c.chunk = noChunk
	if c.blocks > 0 {
		c.load(0)
		c.read()
	}
}

// prepare makes ready to load blocks.
func (c *cursor) prepare(e entry) {
	*c = cursor{n: e.entries, data: e.postings}
	c.blocks = (c.n + blockEntries - 1) / blockEntries
	if c.n > blockEntries {
		heads := c.blocks * blockHead
		if heads > len(c.data) {
			c.blocks = 0
		} else {
			c.heads, c.data = c.data[:heads], c.data[heads:]
		}
	}
}

// load goes to the start of a block. Behind the last, or where the block is
// damaged, it ends the postings.
func (c *cursor) load(b int) {
	c.block, c.i, c.seen, c.size = b, 0, 0, 0
	if b >= c.blocks {
		c.end()
		return
	}
	body := c.data
	if c.heads == nil {
		r := reader{b: body}
		c.first = r.u32()
		span := r.u32()
		c.last = c.first + span
		if r.err != nil || len(r.b) < 4 || c.last < c.first {
			c.end()
			return
		}
		c.single = readBound(r.b)
		body = r.b[4:]
		c.size = c.n
	} else {
		h := c.heads[b*blockHead:]
		c.first, c.last = binary.LittleEndian.Uint32(h), binary.LittleEndian.Uint32(h[4:])
		start, end := uint32(0), binary.LittleEndian.Uint32(h[8:])
		if b > 0 {
			start = binary.LittleEndian.Uint32(c.heads[b*blockHead-8:])
		}
		if c.last < c.first || start > end || uint64(end) > uint64(len(body)) {
			c.end()
			return
		}
		body = body[start:end]
		c.size = min(blockEntries, c.n-b*blockEntries)
	}
	c.width = offsetWidth(c.last - c.first)
	if len(body) < c.size*(c.width+1) {
		c.end()
		return
	}
	c.offsets, c.codes = body[:c.size*c.width], body[c.size*c.width:c.size*(c.width+1)]
	c.rest = reader{b: body[c.size*(c.width+1):]}
}

func (c *cursor) end() {
	c.block, c.i, c.size = c.blocks, 0, 0
	c.posting = posting{chunk: noChunk}
}

// at is the chunk of an entry of the block.
func (c *cursor) at(i int) uint32 {
	switch c.width {
	case 1:
		return c.first + uint32(c.offsets[i])
	case 2:
		return c.first + uint32(binary.LittleEndian.Uint16(c.offsets[2*i:]))
	}
	return c.first + binary.LittleEndian.Uint32(c.offsets[4*i:])
}

// read fills in the posting at i, which is inside the block.
func (c *cursor) read() {
	if c.size == 0 {
		return
	}
	c.chunk = c.at(c.i)
	code := c.codes[c.i]
	if code&entryMore == 0 {
		c.body, c.heading, c.title = uint32(code), 0, 0
		return
	}
	c.readMore()
}

// readMore reads an entry that tells more, and skips those before it.
func (c *cursor) readMore() {
	for ; c.seen <= c.i; c.seen++ {
		code := c.codes[c.seen]
		if code&entryMore == 0 {
			continue
		}
		c.rest.more(&c.posting, code)
	}
	if c.rest.err != nil {
		c.end()
	}
}

// more reads what follows of an entry that tells more.
func (r *reader) more(p *posting, code byte) {
	p.body, p.heading, p.title = uint32(code&entryLong), 0, 0
	if p.body == entryLong {
		p.body = r.u32()
	}
	if code&entryHeading != 0 {
		p.heading = r.u32()
	}
	if code&entryTitle != 0 {
		p.title = r.u32()
	}
}

// next moves on by one. Damaged postings that do not ascend end there.
func (c *cursor) next() {
	before := c.chunk
	if c.i+1 < c.size {
		c.i++
	} else {
		c.load(c.block + 1)
	}
	if c.read(); c.chunk <= before {
		c.end()
	}
}

// seek moves on to the first posting whose chunk is not before the one asked for.
func (c *cursor) seek(chunk uint32) {
	if c.chunk >= chunk {
		return
	}
	if c.last < chunk {
		b := c.block + 1
		for b < c.blocks && binary.LittleEndian.Uint32(c.heads[b*blockHead+4:]) < chunk {
			b++
		}
		c.load(b)
	}
	c.i += sort.Search(c.size-c.i, func(i int) bool { return c.at(c.i+i) >= chunk })
	if c.i == c.size {
		c.load(c.block + 1)
	}
	if c.read(); c.chunk < chunk { // in damaged postings alone
		c.end()
	}
}

// bound is the greatest of any entry from where the cursor stands up to a
// chunk, which is not part of it; zero where no posting is.
func (c *cursor) bound(end uint32) (b bound) {
	if c.chunk >= end {
		return b
	}
	if c.heads == nil {
		return c.single
	}
	for i := c.block; i < c.blocks; i++ {
		h := c.heads[i*blockHead:]
		if i > c.block && binary.LittleEndian.Uint32(h) >= end {
			break
		}
		b = b.max(readBound(h[12:]))
	}
	return b
}
