package memo

import (
	"sync"
	"sync/atomic"
)

// Shared maps words to numbers, for many goroutines that look words up far more often
// than they add some. It is safe for concurrent use: Get takes no lock, so that all of
// them are served by one table, and what one of them found out serves the others. The
// zero value is empty.
type Shared struct {
	table atomic.Pointer[sharedTable]

	mu   sync.Mutex // of who adds
	n    int
	used int // bytes of the table's text
}

// sharedTable is one size of the table. Who adds a word writes all else of it before its
// key, so that who finds the key finds the rest; where the table is full it is copied.
type sharedTable struct {
	slots []sharedSlot // a power of two, at most three quarters in use
	text  []byte       // as long as it has room; see appendWord
}

// sharedBytes are those of a slot.
const sharedBytes = 16

type sharedSlot struct {
	key   atomic.Uint64 // see keyOf; 0: free
	at    uint32        // where the word begins in text
	value uint32
}

// Len returns the number of words.
func (w *Shared) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// Clear takes all words out.
func (w *Shared) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table.Store(nil)
	w.n, w.used = 0, 0
}

// Get returns the number of a word.
func (w *Shared) Get(word string) (n uint32, ok bool) {
	t := w.table.Load()
	if t == nil {
		return 0, false
	}
	key := keyOf(word)
	mask := uint64(len(t.slots) - 1) //nolint:gosec // there are some
	for i := place(key) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		switch k := s.key.Load(); { // once: who adds may be at it
		case k == key && (key < 1<<63 || same(t.text, s.at, word)):
			return s.value, true
		case k == 0:
			return 0, false
		}
	}
}

// Add gives a word its number, unless it has one, and returns the number it has. It keeps
// no part of word.
func (w *Shared) Add(word string, n uint32) uint32 {
	key := keyOf(word)
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.room(key, len(word))
	s, known := t.find(word, key)
	if known {
		return s.value
	}
	s.at, s.value = uint32(w.used), n //nolint:gosec // appendWord sees to it
	w.used = len(appendWord(t.text[:w.used], key, word))
	w.n++
	s.key.Store(key)
	return n
}

// Sizes of a table: what it begins with, and the bytes of text that come with a slot. Half
// of the words of a text are short enough for their keys.
const (
	firstSlots = 1 << 10
	textOfSlot = 8
)

// room returns the table, with room for one more word.
func (w *Shared) room(key uint64, size int) *sharedTable {
	t := w.table.Load()
	if t == nil {
		t = &sharedTable{make([]sharedSlot, firstSlots), make([]byte, textOfSlot*firstSlots)}
		w.table.Store(t)
	}
	if key < 1<<63 {
		size = -4
	}
	full, need := 4*(w.n+1) > 3*len(t.slots), w.used+size+4
	if !full && need <= len(t.text) {
		return t
	}
	slots := len(t.slots)
	if full {
		slots *= growth(slots)
	}
	made := &sharedTable{make([]sharedSlot, slots), make([]byte, max(2*need, textOfSlot*slots))}
	for i := 0; i < slots; i += pageBytes / sharedBytes { // see pageBytes
		made.slots[i].value = 0
	}
	copy(made.text, t.text[:w.used])
	for i := range t.slots {
		from := &t.slots[i]
		if key := from.key.Load(); key != 0 {
			to := made.free(key)
			to.at, to.value = from.at, from.value
			to.key.Store(key)
		}
	}
	w.table.Store(made)
	return made
}

// find returns the slot of a word, or the free one where it belongs, to who adds.
func (t *sharedTable) find(word string, key uint64) (s *sharedSlot, known bool) {
	mask := uint64(len(t.slots) - 1) //nolint:gosec // there are some
	for i := place(key) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		switch k := s.key.Load(); {
		case k == key && (key < 1<<63 || same(t.text, s.at, word)):
			return s, true
		case k == 0:
			return s, false
		}
	}
}

// free returns the slot where a word belongs that the table does not have.
func (t *sharedTable) free(key uint64) *sharedSlot {
	mask := uint64(len(t.slots) - 1) //nolint:gosec // there are some
	i := place(key) & mask
	for t.slots[i].key.Load() != 0 {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}
