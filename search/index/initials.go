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
	sizes []uint8  // in bytes; unknownSize: they are not of ASCII alone, or too long
	sets  []uint32 // of letters, a bit each by their low five bits
}

const unknownSize = 0

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
	begin, end := s.blockBefore(letter), len(s.blocks)/blockWidth
	behind := append(bytes.Clone(letter[:len(letter)-1]), letter[len(letter)-1]+1) // no letter ends in 255
	if b := s.blockBefore(behind); b < end {
		end = b + 1
	}
	most := (end - begin) * blockTerms
	l := &initials{sizes: make([]uint8, 0, most), sets: make([]uint32, 0, most)}
	var w letterWalk
	begins := false
	for b := begin; b < end; b++ {
		data := s.block(b).b
		for i := range min(blockTerms, s.terms-b*blockTerms) {
			shared, rest, behind := dictEntry(data)
			if behind == nil {
				return l
			}
			data = behind
			if shared < len(letter) {
				n := shared + copy(w.first[shared:len(letter)], rest)
				order := bytes.Compare(w.first[:n], letter)
				if order > 0 {
					return l
				}
				begins = order == 0
			}
			size, set := w.to(shared, rest)
			if !begins {
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

// letterWalk tells the letters of ascending terms: those that a term shares with the one
// before are not looked at again.
type letterWalk struct {
	first [utf8.UTFMax]byte         // bytes of the last term
	sets  [math.MaxUint8 + 1]uint32 // letters of its first so many bytes
	ascii int                       // so many of its first bytes are of ASCII
}

// to moves on to the term that shares so many bytes with this one, and returns its size
// and its letters.
func (w *letterWalk) to(shared int, rest []byte) (size uint8, set uint32) {
	n := shared + len(rest)
	if n > math.MaxUint8 {
		w.ascii = min(w.ascii, shared, math.MaxUint8)
		return unknownSize, 0
	}
	set, all := w.sets[shared], byte(0)
	sets := w.sets[shared+1:][:len(rest)]
	for i, c := range rest {
		set |= 1 << (c % 32)
		all |= c
		sets[i] = set
	}
	if w.ascii < shared {
		return unknownSize, set
	}
	if w.ascii = n; all >= utf8.RuneSelf {
		w.ascii = shared
		return unknownSize, set
	}
	return uint8(n), set
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
