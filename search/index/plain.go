package index

import "encoding/binary"

// plainBlock is a block of postings that is taken apart into those of a term in the text
// alone of files of one chunk, which are most, and others. plain_amd64.s knows where its
// fields stand.
type plainBlock struct {
	offsets, codes *byte   // of the block
	lengths        *uint16 // of chunks, with one more behind the last
	plain          *uint32 // what impacts.plain has of the block; room for all of it, and plainLanes more
	size           uint64  // of the block
	width          uint32  // of offsets
	first          uint32  // chunk
	from, end      uint32  // what chunks are not below, and below
	held           uint32  // places in layout.shares of files of one chunk
	_              uint32

	chunks [blockEntries + plainLanes]uint32 // of all postings
	others [blockEntries + plainLanes]uint32 // numbers of those that are not plain
}

// plainLanes is how many postings are looked at at once.
const plainLanes = 16

// split takes a block apart and returns how many of its postings are plain; -1: their
// chunks do not ascend, or are out of bounds, as those of damaged ones alone.
func (b *plainBlock) split(c *cursor, l *layout, from, end uint32, plain []uint32) (n int) {
	b.size, b.width, b.first = uint64(c.size), uint32(c.width), c.first //nolint:gosec // not below 0
	b.from, b.end, b.held = from, end, uint32(l.plainTo*plainCounts)    //nolint:gosec // few
	if !widest {
		return b.splitPlain(c, l, plain)
	}
	b.offsets, b.codes, b.lengths, b.plain = &c.offsets[0], &c.codes[0], &l.lengths[0], &plain[:c.size+plainLanes][0]
	n = plainWidest(b)
	b.offsets, b.codes, b.lengths, b.plain = nil, nil, nil, nil
	return n
}

// splitPlain is split without wide registers. It has no branches that would often be
// mispredicted.
func (b *plainBlock) splitPlain(c *cursor, l *layout, out []uint32) (n int) {
	if !b.spread(c) {
		return -1
	}
	plain, lengths, held := (*[blockEntries]uint32)(out[:blockEntries]), l.lengths, b.held
	for i, code := range c.codes {
		chunk := b.chunks[i&(blockEntries-1)]
		// Lengths of chunks that are not all of their file, 0 occurrences and many are far too large.
		tf := uint32(code) - 1
		place := uint32(lengths[chunk]-onlyChunk)*plainCounts + tf + tf/plainCounts<<16
		plain[n&(blockEntries-1)] = chunk | place<<16
		b.others[(i-n)&(blockEntries-1)] = uint32(i) //nolint:gosec // below blockEntries
		if place < held {
			n++
		}
	}
	return n
}

// spread puts the chunks of the block into a list. It reports whether they ascend and lie
// within bounds.
func (b *plainBlock) spread(c *cursor) bool {
	out, offsets, back := b.chunks[:c.size], c.offsets, uint32(0)
	next := b.from - c.first // offset that the next one has at least
	switch c.width {
	case 1:
		for i := range out {
			if i >= len(offsets) {
				break
			}
			o := uint32(offsets[i])
			back |= o - next // of the upper half of numbers where it goes back
			out[i], next = c.first+o, o+1
		}
	case 2:
		for i := range out {
			o := uint32(binary.LittleEndian.Uint16(offsets[2*i:]))
			back |= o - next
			out[i], next = c.first+o, o+1
		}
	default:
		for i := range out {
			o := binary.LittleEndian.Uint32(offsets[4*i:])
			back |= o - next
			out[i], next = c.first+o, o+1
		}
	}
	return back>>31 == 0 && c.first+next <= b.end
}
