package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

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
