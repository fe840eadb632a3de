package memo

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Letters gives numbers, from 1 on, to words of up to [MaxLetters] letters of ASCII, for many
// goroutines that look words up far more often than they add some. A word is given as
// two numbers that hold its letters, eight each, the first letter lowest: so it is
// compared without a look at any text. It is safe for concurrent use; Get takes no lock.
// The zero value is empty.
type Letters struct {
	table atomic.Pointer[lettersTable]

	mu sync.Mutex
	n  uint32
}

// MaxLetters is how many letters a word has at most.
const MaxLetters = 16

// MostLetters is how many words there are at most; those beyond have no number.
const MostLetters = numbersPages * numbersPage

// Word is a word of letters, eight in each number, the first letter lowest, and what is
// known of it.
type Word struct {
	First, Second uint64 // First is 0 where there is no word
	Number, About uint32
}

// lettersTable is one size of the table. Who adds a word writes all else of it before its
// first letters, so that who finds these finds the rest; where it is full it is copied.
type lettersTable struct{ slots []lettersSlot } // a power of two, at most five eighths in use

type lettersSlot struct {
	first  atomic.Uint64 // letters; 0: free
	second uint64
	number uint32
	about  uint32
}

// firstLetters is how many slots a table begins with.
const firstLetters = 1 << 10

// Len returns the number of words.
func (l *Letters) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.n)
}

// Get fills in the numbers of words, and what is known about them; 0 where they have
// none. Those of several words are found in little more time than that of one.
func (l *Letters) Get(words []Word) {
	t := l.table.Load()
	if t == nil {
		return
	}
	for i := range words {
		w := &words[i]
		if s, known := t.find(w.First, w.Second); known {
			w.Number, w.About = s.number, s.about
		}
	}
}

// Add gives a word a number, and keeps what is known about it, unless it has one, and
// returns what it has; 0 where there are too many words.
func (l *Letters) Add(w Word, about uint32) (number, known uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.room()
	s, there := t.find(w.First, w.Second)
	if there {
		return s.number, s.about
	}
	if l.n+1 >= MostLetters {
		return 0, about
	}
	l.n++
	s.second, s.number, s.about = w.Second, l.n, about
	s.first.Store(w.First)
	return l.n, about
}

// find returns the slot of a word and true, or the free one where it belongs. Somebody may be
// at a free one just now: nothing else of it is looked at.
func (t *lettersTable) find(first, second uint64) (slot *lettersSlot, known bool) {
	hi, lo := bits.Mul64(first^mixB, second^mixA)
	mask := uint64(len(t.slots) - 1) //nolint:gosec // there are some
	for i := (hi ^ lo) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		switch k := s.first.Load(); {
		case k == 0:
			return s, false
		case k == first && s.second == second:
			return s, true
		}
	}
}

// room returns the table, with room for one more word.
func (l *Letters) room() *lettersTable {
	t := l.table.Load()
	if t == nil {
		t = &lettersTable{make([]lettersSlot, firstLetters)}
		l.table.Store(t)
	}
	if 8*(int(l.n)+1) <= 5*len(t.slots) {
		return t
	}
	made := &lettersTable{make([]lettersSlot, growth(len(t.slots))*len(t.slots))}
	for i := range t.slots {
		if from := &t.slots[i]; from.first.Load() != 0 {
			to, _ := made.find(from.first.Load(), from.second)
			to.second, to.number, to.about = from.second, from.number, from.about
			to.first.Store(from.first.Load())
		}
	}
	l.table.Store(made)
	return made
}

// Numbers keeps a number for each number below [MostLetters], for many goroutines; those
// that were not set are 0. What is kept of words that come often lies together, where these
// got their numbers first. The zero value is ready for use.
type Numbers struct {
	pages [numbersPages]atomic.Pointer[[numbersPage]atomic.Uint32]
}

const numbersPages, numbersPage = 1 << 8, 1 << 10

// Get returns the number that is kept for i.
func (n *Numbers) Get(i uint32) uint32 {
	if p := n.pages[i/numbersPage%numbersPages].Load(); p != nil {
		return p[i%numbersPage].Load()
	}
	return 0
}

// Set keeps a number for i.
func (n *Numbers) Set(i, number uint32) {
	at := &n.pages[i/numbersPage%numbersPages]
	if at.Load() == nil {
		at.CompareAndSwap(nil, new([numbersPage]atomic.Uint32))
	}
	at.Load()[i%numbersPage].Store(number)
}
