package index

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// entry is what the dictionary holds of a term.
type entry struct {
	chunkDF, fileDF int
	entries         int // in postings
	postings        []byte
}

// find looks a term up.
func (s *segment) find(term string) (found entry, ok bool) {
	// The term is in the last block that does not begin after it.
	b := sort.Search(s.blockCount(), func(b int) bool { return string(s.firstTerm(b)) > term }) - 1
	if b < 0 {
		return entry{}, false
	}
	s.eachOfBlock(b, func(name []byte, e entry) bool {
		if string(name) == term {
			found, ok = e, true
		}
		return string(name) < term
	})
	return found, ok
}

// eachTerm calls f for each term that begins with prefix, in ascending order. f must not
// keep the term.
func (s *segment) eachTerm(prefix []byte, f func(term []byte)) {
	first := sort.Search(s.blockCount(), func(b int) bool { return bytes.Compare(s.firstTerm(b), prefix) >= 0 }) - 1
	for b := max(0, first); b < s.blockCount(); b++ {
		if !s.eachOfBlock(b, func(term []byte, _ entry) bool {
			if bytes.HasPrefix(term, prefix) {
				f(term)
				return true
			}
			return bytes.Compare(term, prefix) < 0
		}) {
			return
		}
	}
}

func (s *segment) blockCount() int { return len(s.blocks) / blockWidth }

// block returns the dictionary from the start of a block on.
func (s *segment) block(b int) reader {
	at := binary.LittleEndian.Uint32(s.blocks[b*blockWidth:])
	return reader{b: s.dict[min(int(at), len(s.dict)):]}
}

// firstTerm is the first term of a block, which shares nothing with one before.
func (s *segment) firstTerm(b int) []byte {
	r := s.block(b)
	r.uint()
	return r.bytes()
}

// eachOfBlock calls f for the terms of a block until it returns false, and reports whether
// it never did. Damaged entries end the block. f must not keep the term.
func (s *segment) eachOfBlock(b int, f func(term []byte, e entry) bool) bool {
	r := s.block(b)
	at, all := binary.LittleEndian.Uint64(s.blocks[b*blockWidth+4:]), uint64(len(s.post))
	var term []byte
	for range min(blockTerms, s.terms-b*blockTerms) {
		term = r.term(term)
		e := entry{chunkDF: int(r.u32()), fileDF: int(r.u32()), entries: int(r.u32())}
		size := r.uint()
		if r.err != nil || at > all || size > all-at {
			return false
		}
		e.postings = s.post[at : at+size]
		if !f(term, e) {
			return false
		}
		at += size
	}
	return true
}
