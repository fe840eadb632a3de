package memo

import "math/bits"

// Words maps words to values. For what texts are full of, short strings that are
// looked up far more often than added, it takes half the time of a map. The
// zero value is empty and ready for use, by one goroutine at a time.
type Words[V any] struct {
	slots []slot[V] // a power of two, at most three quarters in use
	n     int
}

type slot[V any] struct {
	hash  uint64 // 0: free
	word  string
	value V
}

// Len returns the number of words.
func (w *Words[V]) Len() int { return w.n }

// Clear takes all words out, and keeps the room they had.
func (w *Words[V]) Clear() {
	clear(w.slots)
	w.n = 0
}

// Get returns the value of a word.
func (w *Words[V]) Get(word string) (v V, ok bool) {
	if w.n == 0 {
		return v, false
	}
	if s := w.find(word, hash(word)); s.hash != 0 {
		return s.value, true
	}
	return v, false
}

// At returns the place of a word's value, which holds until the next word is added, and
// whether the word was there. It adds a word that was not, with the zero value, and
// keeps the string.
func (w *Words[V]) At(word string) (value *V, found bool) {
	if 4*(w.n+1) > 3*len(w.slots) {
		w.grow()
	}
	h := hash(word)
	s := w.find(word, h)
	if s.hash != 0 {
		return &s.value, true
	}
	*s = slot[V]{hash: h, word: word}
	w.n++
	return &s.value, false
}

// All calls f for each word, in no order.
func (w *Words[V]) All(f func(word string, value V)) {
	for i := range w.slots {
		if s := &w.slots[i]; s.hash != 0 {
			f(s.word, s.value)
		}
	}
}

// find returns the slot of a word, or the free one where it belongs.
func (w *Words[V]) find(word string, h uint64) *slot[V] {
	mask := uint64(len(w.slots) - 1) //nolint:gosec // there are some
	for i := h & mask; ; i = (i + 1) & mask {
		s := &w.slots[i]
		if s.hash == h && s.word == word || s.hash == 0 {
			return s
		}
	}
}

func (w *Words[V]) grow() {
	old := w.slots
	w.slots = make([]slot[V], max(64, 2*len(old)))
	for i := range old {
		if s := &old[i]; s.hash != 0 {
			*w.find(s.word, s.hash) = *s
		}
	}
}

// hash mixes the bytes of a word, eight at a time, by multiplication. It is
// never 0. Words that someone chose to meet each other make a table slow, not wrong.
func hash(s string) uint64 {
	const a, b = 0x9e3779b97f4a7c15, 0xd1342543de82ef95
	h := uint64(len(s)) * a
	for len(s) > 8 {
		hi, lo := bits.Mul64(h^eight(s), b)
		h = hi ^ lo
		s = s[8:]
	}
	var last uint64
	switch {
	case len(s) == 8:
		last = eight(s)
	case len(s) >= 4:
		last = uint64(four(s)) | uint64(four(s[len(s)-4:]))<<32
	case len(s) > 0:
		last = uint64(s[0]) | uint64(s[len(s)/2])<<8 | uint64(s[len(s)-1])<<16
	}
	hi, lo := bits.Mul64(h^last^b, a)
	return (hi ^ lo) | 1<<63
}

func four(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
