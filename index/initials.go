package index

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// initials are the terms of a segment that begin with a letter, 5 bytes each: how long
// they are and of which letters. So a search for terms that are spelled like a word
// passes most by without reading them.
type initials struct {
	first int      // number of the first of them in the dictionary
	sizes []uint8  // in bytes; otherLetters: they are not of ASCII alone, or too long
	sets  []uint32 // of letters, a bit each by their low five bits
}

const otherLetters = 0

// initials returns those of a letter, which are made when first asked for.
func (s *segment) initials(letter string) *initials {
	s.initialsMu.Lock()
	defer s.initialsMu.Unlock()
	l := s.byInitial[letter]
	if l == nil {
		if s.byInitial == nil {
			s.byInitial = map[string]*initials{}
		}
		l = s.newInitials([]byte(letter))
		s.byInitial[letter] = l
	}
	return l
}

func (s *segment) newInitials(letter []byte) *initials {
	l := &initials{}
	begin, end := s.blockBefore(letter), len(s.blocks)/blockWidth
	behind := append(bytes.Clone(letter[:len(letter)-1]), letter[len(letter)-1]+1) // no letter ends in 255
	if b := s.blockBefore(behind); b < end {
		end = b + 1
	}
	l.sizes, l.sets = make([]uint8, 0, (end-begin)*blockTerms), make([]uint32, 0, (end-begin)*blockTerms)
	var t []byte
	var seen letterSets
	for b := begin; b < end; b++ {
		r := s.block(b)
		t = t[:0]
		begins := false
		for i := range min(blockTerms, s.terms-b*blockTerms) {
			shared := 0
			if len(r.b) > 0 && r.b[0] < 0x80 {
				shared = min(int(r.b[0]), len(t))
			}
			if t = r.dictTerm(t); r.err != nil {
				return l
			}
			if shared < len(letter) {
				begins = bytes.HasPrefix(t, letter)
			}
			size, set := seen.of(t, shared)
			if !begins {
				if bytes.Compare(t, letter) > 0 {
					return l
				}
				continue
			}
			if len(l.sizes) == 0 {
				l.first = b*blockTerms + i
			}
			l.sizes, l.sets = append(l.sizes, size), append(l.sets, set)
		}
	}
	return l
}

// letterSets tells the letters of terms that share bytes with the one before.
type letterSets struct {
	sets [math.MaxUint8 + 1]uint32 // of the first so many bytes of the last term
	all  [math.MaxUint8 + 1]byte   // these bytes in one
}

// of returns the size and the letters of a term that shares so many bytes, or more, with
// the last one.
func (l *letterSets) of(term []byte, shared int) (size uint8, set uint32) {
	n := min(len(term), math.MaxUint8)
	shared = min(shared, n)
	all, set := l.all[shared], l.sets[shared]
	for i, c := range term[shared:n] {
		all |= c
		set |= 1 << (c % 32)
		l.all[shared+i+1], l.sets[shared+i+1] = all, set
	}
	if all >= utf8.RuneSelf || len(term) > math.MaxUint8 {
		return otherLetters, set
	}
	return uint8(len(term)), set
}

// termWalk reads terms by their numbers, which ascend.
type termWalk struct {
	segment *segment
	block   int // -1 before the first
	next    int // number of the next term to read
	reader  reader
	term    []byte
}

// to returns a term, which holds until the next call.
func (w *termWalk) to(n int) []byte {
	if b := n / blockTerms; b != w.block {
		w.block, w.next, w.reader, w.term = b, b*blockTerms, w.segment.block(b), w.term[:0]
	}
	for ; w.next <= n; w.next++ {
		w.term = w.reader.dictTerm(w.term)
	}
	return w.term
}
