package index

import "slices"

// waitingPosting is a posting of a term. Many of them are brought in order by terms at
// once: to add each to its term when it is met would be to look all over the memory.
type waitingPosting struct {
	term  uint32 // place of it
	chunk uint32
	body  uint32 // occurrences in the text; from inFields on, that many behind it, a place in fields
}

const (
	inFields = 1 << 31
	// maxWaiting is how many postings wait, of 12 bytes and as much again to order them:
	// those of ten thousand passages go into a segment without waiting anywhere else.
	maxWaiting = 1 << 20
	// waitingBytes is about how many bytes one takes in a segment.
	waitingBytes = 4
)

// waitingOfTerm are the postings of a term among those that wait, in order.
type waitingOfTerm struct{ from, end uint32 }

// wait takes in a posting of the term at a place.
func (b *builder) wait(term uint32, p posting) {
	w := waitingPosting{term, p.chunk, p.body}
	if p.heading|p.title > 0 || p.body >= inFields {
		w.body = inFields + uint32(len(b.fields)) //nolint:gosec // no more than maxWaiting
		b.fields = append(b.fields, p)
	}
	if len(b.waiting) == cap(b.waiting) {
		room := max(1<<10, 4*cap(b.waiting)) // there are most often many
		if room > maxWaiting {
			room = max(maxWaiting+maxWaiting/8, 2*cap(b.waiting))
		}
		b.waiting = slices.Grow(b.waiting, room-len(b.waiting))
	}
	b.waiting = append(b.waiting, w)
}

// posting returns what waits as it came.
func (b *builder) posting(w waitingPosting) posting {
	if w.body >= inFields {
		return b.fields[w.body-inFields]
	}
	return posting{chunk: w.chunk, body: w.body}
}

// await tells the terms which of the postings they have that wait to the end.
func (b *builder) await() []waitingPosting {
	waiting := b.ordered()
	for i := 0; i < len(waiting); {
		term, from := waiting[i].term, i
		for i < len(waiting) && waiting[i].term == term {
			i++
		}
		b.terms[term].waiting = waitingOfTerm{uint32(from), uint32(i)} //nolint:gosec // not many more than maxWaiting
	}
	return waiting
}

// appendWaiting appends postings that wait to dst.
func (b *builder) appendWaiting(dst []posting, waiting []waitingPosting) []posting {
	for _, w := range waiting {
		dst = append(dst, b.posting(w))
	}
	return dst
}

// settle gives what waits to its terms.
func (b *builder) settle() {
	for _, w := range b.ordered() {
		b.append(&b.terms[w.term], b.posting(w))
	}
	b.waiting, b.fields = b.waiting[:0], b.fields[:0]
}

// ordered sorts what waits by term, and leaves that of a term in the order of chunks: by
// so many bits of the term at a time, the lowest first.
func (b *builder) ordered() []waitingPosting {
	const digit = 11
	b.spare = slices.Grow(b.spare[:0], len(b.waiting))
	from, to := b.waiting, b.spare[:len(b.waiting)]
	for shift := 0; (len(b.terms)-1)>>shift > 0; shift += digit {
		var starts [1 << digit]int
		for i := range from {
			starts[from[i].term>>shift%(1<<digit)]++
		}
		sum := 0
		for i, n := range starts {
			starts[i], sum = sum, sum+n
		}
		for i := range from {
			place := &starts[from[i].term>>shift%(1<<digit)]
			to[*place] = from[i]
			*place++
		}
		from, to = to, from
	}
	return from
}
