package index

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/text"
)

// builder merges the terms of files, which must come in order of their sources,
// into a segment.
type builder struct {
	totals

	names     []string          // of the terms, in the order they are met
	waits     []uint32          // how many postings of each wait: see waiting.go
	settled   []termPostings    // those of each that do not; shorter where terms have none
	places    memo.Words[int32] // of terms, by name, where not all are of one vocabulary
	numbered  map[*text.Vocabulary]*numberedTerms
	waiting   []waitingTerms
	inWaiting int              // postings in waiting
	inFields  int              // of them, those that do not fit a waitingPosting
	mostWaits int              // they are settled where there are more
	spare     []waitingPosting // memory to order them in
	leastRun  int              // see there
	slab      []byte           // memory for postings
	mixed     bool             // places is in use
	fileTab   []byte
	chunkTab  []byte
	ids       []byte
}

// numberedTerms are terms that have numbers.
type numberedTerms struct {
	names  []string // by number
	places []int32  // 1 + the place of a term in the builder, by number; 0: it was not met
}

// termPostings are postings of a term: of each the
// chunk minus the one before (the first counts from -1), and the occurrences in
// text, heading path and title, all uvarints.
type termPostings struct {
	list    []byte
	entries int
	after   int // 1 + the last chunk; 0 before the first
}

// append adds a posting to a term.
func (b *builder) append(t *termPostings, p posting) {
	const most = 4 * binary.MaxVarintLen32
	if cap(t.list)-len(t.list) < most {
		b.grow(t)
	}
	t.list = binary.AppendUvarint(t.list, uint64(int(p.chunk)+1-t.after)) //nolint:gosec // they ascend
	t.list = binary.AppendUvarint(t.list, uint64(p.body))
	t.list = binary.AppendUvarint(t.list, uint64(p.heading)<<1|uint64(min(p.title, 1)))
	if p.title > 0 {
		t.list = binary.AppendUvarint(t.list, uint64(p.title))
	}
	t.after = int(p.chunk) + 1
	t.entries++
}

// Sizes of memory for postings: what a term begins with, which is enough for the most
// part of them, and what is taken at a time.
const (
	firstPostings = 24
	slabBytes     = 1 << 18
)

// grow gives the postings of a term twice the room.
func (b *builder) grow(t *termPostings) {
	n := max(firstPostings, 2*cap(t.list))
	if n > slabBytes/8 {
		t.list = slices.Grow(t.list, n)
		return
	}
	if len(b.slab) < n {
		b.slab = make([]byte, slabBytes)
	}
	t.list = append(b.slab[:0:n], t.list...)
	b.slab = b.slab[n:]
}

// place returns the place of a term among those of the builder, which keeps the name.
func (b *builder) place(name string) int32 {
	next := int32(len(b.names)) //nolint:gosec // memory does not hold more
	if b.mixed {
		place, known := b.places.At(name)
		if known {
			return *place
		}
		*place = next
	}
	if len(b.names) == cap(b.names) { // four times as many: there are most often many
		room := max(64, 4*len(b.names))
		b.names = append(make([]string, 0, room), b.names...)
		b.waits = append(make([]uint32, 0, room), b.waits...)
	}
	b.names, b.waits = append(b.names, name), append(b.waits, 0)
	return next
}

// mix makes ready for terms that may be known already, by another number or by none.
func (b *builder) mix() {
	if b.mixed {
		return
	}
	b.mixed = true
	for i, name := range b.names {
		place, _ := b.places.At(name)
		*place = int32(i) //nolint:gosec // as above
	}
}

// numbers returns what the builder knows of a vocabulary.
func (b *builder) numbers(v *text.Vocabulary) *numberedTerms {
	n := b.numbered[v]
	if n == nil {
		n = &numberedTerms{}
		if b.numbered == nil {
			b.numbered = map[*text.Vocabulary]*numberedTerms{}
		} else {
			b.mix()
		}
		b.numbered[v] = n
	}
	n.names = v.Terms() // which may be more by now
	n.places = append(n.places, make([]int32, len(n.names)-len(n.places))...)
	return n
}

// of returns the place of the term with a number; ok is false where no term has it.
func (b *builder) of(n *numberedTerms, number uint32) (place uint32, ok bool) {
	if uint64(number) >= uint64(len(n.places)) {
		return 0, false
	}
	if n.places[number] == 0 {
		n.places[number] = 1 + b.place(n.names[number])
	}
	return uint32(n.places[number] - 1), true //nolint:gosec // not below 0
}

// read appends the postings to dst.
func (t *termPostings) read(dst []posting) []posting {
	r := reader{b: t.list}
	chunk := -1
	for range t.entries {
		chunk += int(r.u32())
		p := posting{chunk: uint32(chunk), body: r.u32()} //nolint:gosec // written from 32 bits
		v := r.uint()
		p.heading = uint32(v >> 1) //nolint:gosec // as above
		if v&1 == 1 {
			p.title = r.u32()
		}
		dst = append(dst, p)
	}
	return dst
}

// errTooLarge tells that a collection does not fit one segment.
var errTooLarge = errors.New("more than fits one segment (4 billion terms, or bytes of ids)")

func newBuilder() *builder { return &builder{mostWaits: maxWaiting, leastRun: leastRun} }

// add merges the terms of one file.
func (b *builder) add(t terms) error {
	f, err := decodeTerms(t)
	if err != nil || len(f.chunks) == 0 {
		return err
	}
	first := b.chunks
	body := 0
	for _, c := range f.chunks {
		b.ids = append(b.ids, c.id...)
		body += int(c.body)
		b.body += int(c.body)
		b.heading += int(c.heading)
		b.chunkTab = appendU32(b.chunkTab, uint32(b.files), c.body, c.heading, uint32(len(b.ids)))
	}
	if max(uint64(len(b.ids)), uint64(body)) > math.MaxUint32 {
		return errTooLarge
	}
	b.fileTab = appendU32(b.fileTab, uint32(first), uint32(body), f.title)
	b.titles += int(f.title)
	b.chunkTitles += int(f.title) * len(f.chunks)
	b.chunks += len(f.chunks)
	if err := b.wait(f, t.vocabulary, first); err != nil {
		return err
	}
	b.files++
	return nil
}

func (b *builder) chunkField(chunk uint32, field int) uint32 {
	return binary.LittleEndian.Uint32(b.chunkTab[int(chunk)*chunkWidth+4*field:])
}

func (b *builder) fileField(file uint32, field int) uint32 {
	return binary.LittleEndian.Uint32(b.fileTab[int(file)*fileWidth+4*field:])
}

// chunksOf is how many chunks a file has.
func (b *builder) chunksOf(file uint32) int {
	end := uint32(b.chunks) //nolint:gosec // they fit the table
	if int(file)+1 < b.files {
		end = b.fileField(file+1, 0)
	}
	return int(end - b.fileField(file, 0))
}

func appendU32(out []byte, values ...uint32) []byte {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
