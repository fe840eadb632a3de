package index

import (
	"encoding/binary"
	"slices"
)

// taken are postings of a term that were read, ascending.
type taken struct {
	chunks []uint32
	codes  []byte
	more   told
}

// at returns the i-th posting. It is asked for in ascending order.
func (l *taken) at(i int) posting {
	if l.codes[i] < entryMore {
		return posting{chunk: l.chunks[i], body: uint32(l.codes[i])}
	}
	return l.more.of(l.chunks[i])
}

// told are postings whose codes tell that there is more, ascending.
type told struct {
	list []posting
	next int // see of
}

// none returns none, with the memory of these.
func (m *told) none() told { return told{list: m.list[:0]} }

// of returns the posting of a chunk. It is asked for in ascending order.
func (m *told) of(chunk uint32) posting {
	for m.next < len(m.list) && m.list[m.next].chunk < chunk {
		m.next++
	}
	if m.next < len(m.list) && m.list[m.next].chunk == chunk {
		return m.list[m.next]
	}
	return posting{chunk: chunk} // damaged
}

// take reads the postings whose chunks lie in [from, end), from where the cursor stands
// on, and moves behind them. Chunks before from, and those before the
// one they stand behind, are there in damaged postings alone, and are passed over.
func (c *cursor) take(l *taken, from, end uint32) {
	l.chunks, l.codes, l.more = l.chunks[:0], l.codes[:0], l.more.none()
	for c.chunk < end {
		n := c.size
		if c.last >= end {
			n = c.search(end)
		}
		start := len(l.chunks)
		if !c.decode(l, n, from, end) {
			l.check(start, from, end)
		}
		if len(l.chunks) > 0 {
			from = l.chunks[len(l.chunks)-1] + 1
		}
		if c.i == c.size {
			c.load(c.block + 1)
		}
		c.read()
	}
}

// decode reads the entries of the block from c.i on, up to the n-th, where it leaves
// c.i. It reports whether their chunks are known to ascend and to lie in [from, end).
func (c *cursor) decode(l *taken, n int, from, end uint32) bool {
	i, start := c.i, len(l.chunks)
	l.codes = append(l.codes, c.codes[i:n]...)
	l.chunks = slices.Grow(l.chunks, n-i)[:start+n-i]
	out, offsets, sound := l.chunks[start:], c.offsets[i*c.width:n*c.width], false
	switch c.width {
	case 1:
		for i, o := range offsets {
			out[i] = c.first + uint32(o)
		}
	case 2:
		sound = addPairs(out, offsets, c.first)
	default:
		for i := range out {
			out[i] = c.first + binary.LittleEndian.Uint32(offsets[4*i:])
		}
	}
	if !c.plain {
		c.decodeMore(&l.more, n)
	}
	c.i = n
	return sound && n > i && out[0] >= from && out[n-i-1] < end && c.first < end
}

// addPairs adds offsets of two bytes to a first number, and reports whether they ascend.
func addPairs(out []uint32, offsets []byte, first uint32) bool {
	before, back := int32(-1), int32(0)
	for len(out) >= 4 && len(offsets) >= 8 {
		four := binary.LittleEndian.Uint64(offsets)
		o0, o1, o2, o3 := int32(four&0xffff), int32(four>>16&0xffff), int32(four>>32&0xffff), int32(four>>48)
		back |= (o0 - before - 1) | (o1 - o0 - 1) | (o2 - o1 - 1) | (o3 - o2 - 1)
		out[0], out[1], out[2], out[3] = first+uint32(o0), first+uint32(o1), first+uint32(o2), first+uint32(o3)
		before = o3
		out, offsets = out[4:], offsets[8:]
	}
	for len(out) > 0 && len(offsets) >= 2 {
		o := int32(binary.LittleEndian.Uint16(offsets))
		back |= o - before - 1
		out[0], before = first+uint32(o), o
		out, offsets = out[1:], offsets[2:]
	}
	return back >= 0
}

// decodeMore reads those of the entries from c.i on, up to the n-th, that tell more.
func (c *cursor) decodeMore(m *told, n int) {
	from, caughtUp := c.i, false
	for i, code := range c.codes[from:n] {
		if code < entryMore {
			continue
		}
		if c.i = from + i; c.seen <= c.i { // not yet read, as that is where the cursor stands
			if caughtUp {
				c.seen = c.i // those between tell no more
			}
			c.chunk = c.at(c.i)
			c.readMore()
			caughtUp = true
		}
		if c.size == 0 { // damaged
			return
		}
		m.list = append(m.list, c.posting)
	}
}

// leave takes out the postings of chunks that are not in a set, which counts from first.
func (l *taken) leave(set bitmap, first uint32) {
	kept, codes := 0, l.codes[:len(l.chunks)]
	for i, c := range l.chunks { // without a branch, which would often be mispredicted
		l.chunks[kept], codes[kept] = c, codes[i]
		at := c - first
		kept += int(set[at>>6] >> (at & 63) & 1) //nolint:gosec // a bit
	}
	l.chunks, l.codes = l.chunks[:kept], codes[:kept]
}

// check takes out, from a place on, what is not in [from, end) or does not ascend,
// as in damaged postings.
func (l *taken) check(start int, from, end uint32) {
	list := l.chunks[start:]
	if len(list) == 0 {
		return
	}
	least, back := from, uint32(0)
	for _, c := range list {
		back |= c - least // of the upper half of numbers where it goes back
		least = c + 1
	}
	if back>>31 == 0 && list[len(list)-1] < end {
		return
	}
	kept := start
	for i, c := range list {
		if c >= from && c < end {
			l.chunks[kept], l.codes[kept] = c, l.codes[start+i]
			kept++
			from = c + 1
		}
	}
	l.chunks, l.codes = l.chunks[:kept], l.codes[:kept]
}
