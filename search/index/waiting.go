package index

import (
	"encoding/binary"
	"fmt"
	"math"

	"example.com/ragflow/search/text"
)

// Terms of files wait as they are, and only how many postings each term has among them
// is counted. So all can be brought in order by terms at once, with each posting put where it
// belongs: to add each to its term when it is met would be to look all over the memory.

// waitingTerms are terms of one file.
type waitingTerms struct {
	numbers    *numberedTerms // nil: terms are told by their places
	terms      int
	body       []byte // as terms are in memory: see terms.go
	first, end uint32 // chunks of the file
}

// waitingPosting is a posting of a term.
type waitingPosting struct {
	chunk uint32
	body  uint32 // occurrences in the text; from inFields on, that many behind it, a place in fields
}

const (
	inFields = 1 << 31
	// maxWaiting is how many postings wait: those of ten thousand passages go into a
	// segment without waiting anywhere else.
	maxWaiting = 1 << 20
	// waitingBytes is about how many bytes one takes in a segment.
	waitingBytes = 4
)

// wait takes in the terms of a file whose chunks begin at first.
func (b *builder) wait(f *fileTerms, v *text.Vocabulary, first int) error {
	w := waitingTerms{terms: f.terms, body: f.rest.b, first: uint32(first), end: uint32(b.chunks)} //nolint:gosec // chunks of a segment fit 32 bits
	var err error
	if v == nil {
		w.body, err = b.placed(f)
	} else {
		w.numbers = b.numbers(v)
	}
	if err == nil {
		err = b.count(&w)
	}
	if err != nil {
		return fmt.Errorf("terms: %w", err)
	}
	b.waiting = append(b.waiting, w)
	if b.inWaiting > b.mostWaits {
		b.settle()
	}
	return nil
}

// placed returns the terms of a file, which stand there as strings, told by their places.
func (b *builder) placed(f *fileTerms) ([]byte, error) {
	b.mix()
	r := f.rest
	var out, term []byte
	for range f.terms {
		term = r.term(term)
		place, known := int32(0), false
		if p, ok := b.places.Get(string(term)); ok { // no allocation
			place, known = p, true
		}
		if !known {
			place = b.place(string(term))
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(place)) //nolint:gosec // not below 0
		title := r.u32()
		out = binary.AppendUvarint(out, uint64(title)<<1|1)
		chunks := r.b
		for range r.count() {
			r.u32()
			r.u32()
			r.u32()
		}
		if r.err != nil {
			return nil, r.err
		}
		out = append(out, chunks[:len(chunks)-len(r.b)]...)
	}
	return out, r.err
}

// count counts the postings of terms that are to wait, and checks them.
func (b *builder) count(w *waitingTerms) error {
	r := reader{b: w.body}
	for range w.terms {
		place, use := r.use()
		if w.numbers != nil {
			var ok bool
			if place, ok = b.of(w.numbers, place); !ok {
				return errCut
			}
		}
		n := 1
		if use&1 == 1 {
			n = w.postings(&r, use>>1, func(p posting) {
				if p.inFields() {
					b.inFields++
				}
			})
		} else if use>>1 > math.MaxUint32 {
			r.fail()
		}
		if r.err != nil {
			return r.err
		}
		b.waits[place] += uint32(n) //nolint:gosec // not many more than maxWaiting
		b.inWaiting += n
	}
	return nil
}

// use reads the number of a term and what stands behind it.
func (r *reader) use() (number uint32, use uint64) {
	if b := r.b; len(b) >= 5 && b[4] < 0x80 { // as most are
		r.b = b[5:]
		return binary.LittleEndian.Uint32(b), uint64(b[4])
	}
	return r.fixed(), r.uint()
}

// postings gives those of a term that is so often in the title, and in the chunks that r goes
// on with, and returns how many there are.
func (w *waitingTerms) postings(r *reader, title uint64, give func(posting)) (given int) {
	if title > math.MaxUint32 {
		r.fail()
		return 0
	}
	n := r.count()
	given = n
	last := uint64(w.first) // 1 + the chunk before
	for i := range n {
		at := last + uint64(r.u32()) - 1
		last = at + 1
		if at < uint64(w.first) || at >= uint64(w.end) {
			r.fail()
			return 0
		}
		p := posting{chunk: uint32(at), body: r.u32(), heading: r.u32()} //nolint:gosec // below the number of chunks
		if i == 0 && title > 0 {
			if p.chunk > w.first {
				give(posting{chunk: w.first, title: uint32(title)}) //nolint:gosec // as just seen
				given++
			} else {
				p.title = uint32(title) //nolint:gosec // as just seen
			}
		}
		give(p)
	}
	if n == 0 && title > 0 {
		give(posting{chunk: w.first, title: uint32(title)}) //nolint:gosec // as just seen
		given++
	}
	return given
}

// orderedPostings are postings that wait, by term and then by chunk.
type orderedPostings struct {
	list   []waitingPosting
	ends   []uint32 // where those of each term end in list
	waits  []uint32 // how many each term has
	fields []posting
}

// ordered brings in order what waits.
func (b *builder) ordered() *orderedPostings {
	o := &orderedPostings{ends: make([]uint32, len(b.names)), waits: b.waits, fields: make([]posting, 0, b.inFields)}
	if o.list = b.spare; cap(o.list) < b.inWaiting {
		o.list = make([]waitingPosting, b.inWaiting+b.inWaiting/8)
	}
	o.list = o.list[:b.inWaiting] // all of which is written
	sum := uint32(0)
	for i, n := range b.waits {
		o.ends[i] = sum // where they begin, as long as none is there
		sum += n
	}
	for i := range b.waiting {
		o.take(&b.waiting[i])
	}
	return o
}

// take puts the postings of a file where they belong.
func (o *orderedPostings) take(w *waitingTerms) {
	r := reader{b: w.body}
	for range w.terms {
		place, use := r.use()
		if w.numbers != nil {
			place = uint32(w.numbers.places[place] - 1) //nolint:gosec // count gave it one
		}
		at := &o.ends[place]
		if use>>1 < inFields && use&1 == 0 { // as most are
			o.list[*at] = waitingPosting{w.first, uint32(use >> 1)}
			*at++
			continue
		}
		if use&1 == 0 {
			o.put(at, posting{chunk: w.first, body: uint32(use >> 1)}) //nolint:gosec // count has seen it
			continue
		}
		w.postings(&r, use>>1, func(p posting) { o.put(at, p) })
	}
}

// inFields reports whether a posting does not fit a waitingPosting.
func (p *posting) inFields() bool { return p.heading|p.title > 0 || p.body >= inFields }

func (o *orderedPostings) put(at *uint32, p posting) {
	w := waitingPosting{p.chunk, p.body}
	if p.inFields() {
		w.body = inFields + uint32(len(o.fields)) //nolint:gosec // not many more than maxWaiting
		o.fields = append(o.fields, p)
	}
	o.list[*at] = w
	*at++
}

// append appends the postings of the term at a place to dst.
func (o *orderedPostings) append(dst []posting, place int32) []posting {
	end := o.ends[place]
	for _, w := range o.list[end-o.waits[place] : end] {
		p := posting{chunk: w.chunk, body: w.body}
		if w.body >= inFields {
			p = o.fields[w.body-inFields]
		}
		dst = append(dst, p)
	}
	return dst
}

// settle gives what waits to its terms.
func (b *builder) settle() {
	o := b.ordered()
	if n := len(b.names) - len(b.settled); n > 0 {
		b.settled = append(b.settled, make([]termPostings, n)...)
	}
	var list []posting
	for place := range b.settled {
		if b.waits[place] == 0 {
			continue
		}
		list = o.append(list[:0], int32(place)) //nolint:gosec // memory does not hold more
		for _, p := range list {
			b.append(&b.settled[place], p)
		}
	}
	clear(b.waits)
	clear(b.waiting) // their memory
	b.waiting, b.inWaiting, b.inFields, b.spare = b.waiting[:0], 0, 0, o.list
}
