package index

import (
	"encoding/binary"
	"slices"
)

// Postings of a window whose files have one chunk each are packed, as one list is worked
// through faster than two: the chunk, counted from the window's first, and above it the
// code. A window has far fewer chunks than fit.
const (
	packedCode  = 24 // bits below the code
	packedChunk = 1<<packedCode - 1
)

// onesSet are chunks of such a window.
type onesSet [onesChunks / 64]uint64

// packed are postings of a term, ascending.
type packed struct {
	list []uint32
	more told
}

// at returns a packed posting of a window that begins with base. Those that tell more are
// asked for in ascending order.
func (l *packed) at(p, base uint32) posting {
	if p>>packedCode < entryMore {
		return posting{chunk: base + p&packedChunk, body: p >> packedCode}
	}
	return l.more.of(base + p&packedChunk)
}

// pack is take for a window that begins with from. Where there is a set, which counts from
// there, only chunks in it are taken.
func (c *cursor) pack(l *packed, from, end uint32, set *onesSet) {
	l.list, l.more = l.list[:0], l.more.none()
	for base := from; c.chunk < end; {
		n := c.size
		if c.last >= end {
			n = c.search(end)
		}
		i := c.i
		if !c.plain {
			c.decodeMore(&l.more, n)
		}
		if !c.packPairs(l, i, n, from, end, base, set) {
			from = c.packEach(l, i, n, from, end, base, set)
		} else if n > i {
			from = c.at(n-1) + 1
		}
		if c.i = n; n == c.size {
			c.load(c.block + 1)
		}
		c.read()
	}
}

// packEach packs entries one by one, and returns the chunk behind the last.
func (c *cursor) packEach(l *packed, i, n int, from, end, base uint32, set *onesSet) uint32 {
	l.list = slices.Grow(l.list, n-i)
	for ; i < n; i++ {
		chunk := c.at(i)
		if chunk < from || chunk >= end { // damaged
			continue
		}
		from = chunk + 1
		if set == nil || bitmap(set[:]).has(int(chunk-base)) {
			l.list = append(l.list, chunk-base|uint32(c.codes[i])<<packedCode)
		}
	}
	return from
}

// packPairs packs entries whose offsets have two bytes. It reports whether they ascend and
// lie in [from, end), as all but damaged ones do; of others it packs none.
func (c *cursor) packPairs(l *packed, i, n int, from, end, base uint32, set *onesSet) bool {
	if c.width != 2 || n <= i || c.first >= end || c.at(i) < from || c.at(n-1) >= end {
		return false
	}
	size := len(l.list)
	l.list = slices.Grow(l.list, n-i+3)
	out, offsets, codes := l.list[size:size+n-i+3], c.offsets[2*i:2*n], c.codes[i:n]
	kept, ascend := packEntries(out, offsets, codes, c.first-base, set)
	if ascend {
		l.list = l.list[:size+kept]
	}
	return ascend
}

// packEntries packs entries with offsets of two bytes that count from a base, those in a
// set or all. It returns how many, and whether the offsets ascend; out has room for three more.
func packEntries(out []uint32, offsets, codes []byte, base uint32, set *onesSet) (kept int, ascend bool) {
	if set == nil {
		done, ascends := packSixteens(out, offsets, codes, base)
		return len(codes), ascends && packRest(out[done:], offsets[2*done:], codes[done:], base)
	}
	done, kept, ascend := pickSixteens(out, offsets, codes, base, set)
	picked, ascends := pickRest(out[kept:], offsets[2*done:], codes[done:], base, set)
	return kept + picked, ascend && ascends
}

// packRest is packEntries of all entries.
func packRest(out []uint32, offsets, codes []byte, base uint32) (ascend bool) {
	before, up := int32(-1), int32(-1) // below 0 as long as they ascend
	for len(out) >= 4 && len(offsets) >= 8 && len(codes) >= 4 {
		four, code := binary.LittleEndian.Uint64(offsets), binary.LittleEndian.Uint32(codes)
		a, b, c, d := int32(four&0xffff), int32(four>>16&0xffff), int32(four>>32&0xffff), int32(four>>48)
		up &= (before - a) & (a - b) & (b - c) & (c - d)
		out[0] = base + uint32(a) | code<<packedCode
		out[1] = base + uint32(b) | code>>8<<packedCode
		out[2] = base + uint32(c) | code>>16<<packedCode
		out[3] = base + uint32(d) | code>>24<<packedCode
		out, offsets, codes, before = out[4:], offsets[8:], codes[4:], d
	}
	for i, code := range codes {
		o := int32(binary.LittleEndian.Uint16(offsets[2*i:]))
		up &= before - o
		out[i], before = base+uint32(o)|uint32(code)<<packedCode, o
	}
	return up < 0
}

// pickRest is packEntries of those in a set.
func pickRest(out []uint32, offsets, codes []byte, base uint32, set *onesSet) (kept int, ascend bool) {
	before, up := int32(-1), int32(-1) // as above
	for len(offsets) >= 8 && len(codes) >= 4 && kept+4 <= len(out) {
		four, code := binary.LittleEndian.Uint64(offsets), binary.LittleEndian.Uint32(codes)
		a, b, c, d := int32(four&0xffff), int32(four>>16&0xffff), int32(four>>32&0xffff), int32(four>>48)
		up &= (before - a) & (a - b) & (b - c) & (c - d)
		offsets, codes, before = offsets[8:], codes[4:], d
		n := 0
		to := (*[4]uint32)(out[kept:])
		n += pick(to, n, base+uint32(a), code, set)
		n += pick(to, n, base+uint32(b), code>>8, set)
		n += pick(to, n, base+uint32(c), code>>16, set)
		n += pick(to, n, base+uint32(d), code>>24, set)
		kept += n
	}
	for i, code := range codes {
		o := int32(binary.LittleEndian.Uint16(offsets[2*i:]))
		up &= before - o
		before = o
		kept += pick((*[4]uint32)(out[kept:]), 0, base+uint32(o), uint32(code), set)
	}
	return kept, up < 0
}

// pick packs the n-th entry, and returns 1 if it is in a set: without a branch, which would
// often be mispredicted.
func pick(out *[4]uint32, n int, at, code uint32, set *onesSet) int {
	out[n&3] = at | code<<packedCode
	return int(set[at>>6&(uint32(len(set))-1)] >> (at & 63) & 1)
}
