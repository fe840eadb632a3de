package memo

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Words maps words to values. For what texts are full of, short strings that are
// looked up far more often than added, it takes half the time of a map. The zero
// value is empty and ready for use, by one goroutine at a time. It holds up to 4 GB
// of words.
//
// A word of up to seven bytes, as half of those of a text are, is compared where its
// slot lies, of which four share a line of the processor's cache where values have four
// bytes; and there is nothing for a collection of garbage to look at where values have
// no pointers.
type Words[V any] struct {
	slots []slot[V] // a power of two, at most three quarters in use
	text  []byte    // of the words that keys do not hold: see appendWord
	n     int
}

type slot[V any] struct {
	key   uint64 // see keyOf; 0: free
	at    uint32 // where the word begins in text
	value V
}

// Len returns the number of words.
func (w *Words[V]) Len() int { return w.n }

// Clear takes all words out, and keeps the room they had.
func (w *Words[V]) Clear() {
	clear(w.slots)
	w.n, w.text = 0, w.text[:0]
}

// Get returns the value of a word.
func (w *Words[V]) Get(word string) (v V, ok bool) {
	if w.n == 0 {
		return v, false
	}
	if s := w.find(word, keyOf(word)); s.key != 0 {
		return s.value, true
	}
	return v, false
}

// At returns the place of a word's value, which holds until the next word is added, and
// whether the word was there. It adds a copy of a word that was not, with the zero
// value.
func (w *Words[V]) At(word string) (value *V, found bool) {
	if 4*(w.n+1) > 3*len(w.slots) {
		w.grow()
	}
	key := keyOf(word)
	s := w.find(word, key)
	if s.key != 0 {
		return &s.value, true
	}
	*s = slot[V]{key: key, at: uint32(len(w.text))} //nolint:gosec // appendWord sees to it
	w.text = appendWord(w.text, key, word)
	w.n++
	return &s.value, false
}

// All calls f for each word, in no order.
func (w *Words[V]) All(f func(word string, value V)) {
	text := string(w.text)
	for i := range w.slots {
		if s := &w.slots[i]; s.key != 0 {
			f(wordOf(s.key, text[s.at:]), s.value)
		}
	}
}

// find returns the slot of a word, or the free one where it belongs.
func (w *Words[V]) find(word string, key uint64) *slot[V] {
	mask := uint64(len(w.slots) - 1) //nolint:gosec // there are some
	for i := place(key) & mask; ; i = (i + 1) & mask {
		s := &w.slots[i]
		if s.key == key && (key < 1<<63 || same(w.text, s.at, word)) || s.key == 0 {
			return s
		}
	}
}

func (w *Words[V]) grow() {
	old := w.slots
	w.slots = make([]slot[V], max(64, growth(len(old))*len(old)))
	mask := uint64(len(w.slots) - 1)                    //nolint:gosec // there are some
	for i := 0; i < len(w.slots); i += pageBytes / 64 { // see pageBytes; few slots have more than 64
		w.slots[i].key = 0
	}
	for k := range old {
		if old[k].key == 0 {
			continue
		}
		i := place(old[k].key) & mask
		for w.slots[i].key != 0 {
			i = (i + 1) & mask
		}
		w.slots[i] = old[k]
	}
}

// pageBytes are those of a page of memory. A page that is written before it is read costs
// one fault; where it is read first, as a table does that looks for a free slot, two.
const pageBytes = 4 << 10

// growth is how many times as large a full table becomes: a small one four times, as most
// that are full go on to be much larger.
func growth(slots int) int {
	if slots < 1<<15 {
		return 4
	}
	return 2
}

// Factors that mix bits.
const mixA, mixB = 0x9e3779b97f4a7c15, 0xd1342543de82ef95

// place mixes a key, whose low bits tell the slot then.
func place(key uint64) uint64 {
	hi, lo := bits.Mul64(key^mixB, mixA)
	return hi ^ lo
}

// maxShort is the length of the longest word that its key holds.
const maxShort = 7

// maxLength is the greatest length that a key tells.
const maxLength = 0x7f

// keyOf returns the bytes of a short word with one more than their number as the highest
// byte, and of a longer one a mixture of its bytes, eight at a time, with the highest
// bit set and its length, up to maxLength, in the seven bits behind. It is never 0. Words
// that someone chose to meet each other make a table slow, not wrong.
func keyOf(s string) uint64 {
	n := len(s)
	if n <= maxShort {
		key := uint64(n+1) << 56 //nolint:gosec // short
		switch {
		case n >= 4:
			return key | uint64(four(s)) | uint64(four(s[n-4:]))<<(8*(n-4))
		case n > 0:
			return key | uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)) | uint64(s[n-1])<<(8*(n-1))
		}
		return key
	}
	h, last := uint64(n)*mixA, eight(s[n-8:]) //nolint:gosec // a length
	for len(s) > 8 {
		hi, lo := bits.Mul64(h^eight(s), mixB)
		h = hi ^ lo
		s = s[8:]
	}
	hi, lo := bits.Mul64(h^last^mixB, mixA)
	return (hi^lo)>>7&^(maxLength<<56) | 1<<63 | uint64(min(n, maxLength))<<56 //nolint:gosec // as above
}

// appendWord appends what is kept of a word beside its key: nothing of a short one; of a
// very long one its length in four bytes; and its bytes.
func appendWord(text []byte, key uint64, word string) []byte {
	if key < 1<<63 {
		return text
	}
	if len(text)+len(word)+4 > math.MaxUint32 {
		panic("memo: more than 4 GB of words")
	}
	if len(word) >= maxLength {
		text = binary.LittleEndian.AppendUint32(text, uint32(len(word))) //nolint:gosec // as just seen
	}
	return append(text, word...)
}

// same reports whether the word at a place of text is word, which has its key.
func same(text []byte, at uint32, word string) bool {
	if len(word) >= maxLength {
		if n := binary.LittleEndian.Uint32(text[at:]); int(n) != len(word) {
			return false
		}
		at += 4
	}
	return string(text[at:][:len(word)]) == word // no allocation
}

// wordOf returns the word with a key; text is what appendWord wrote, and what follows.
func wordOf(key uint64, text string) string {
	if key < 1<<63 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], key)
		return string(b[:b[7]-1])
	}
	n := int(key >> 56 & maxLength) //nolint:gosec // seven bits
	if n == maxLength {
		n, text = int(four(text)), text[4:]
	}
	return text[:n]
}

func four(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
