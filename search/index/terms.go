package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The terms of a file are its own inverted index, which segments are merged from.
// They are made of its chunks, and not stored, but for those of files that are dead: see
// fresh.go. All numbers are uvarints, strings have their length in front:
//
//	number of chunks; length of the title in terms
//	a chunk:  id, terms of the text, terms of the heading path
//	number of terms
//	a term, in the order of their first use:
//	  bytes shared with the term before, the rest of the term
//	  occurrences in the title
//	  number of chunks that hold it in text or headings; for each:
//	    ordinal minus the ordinal before, occurrences in text, in headings
//
// The first ordinal counts from -1, so that no gap is 0. In memory a term is told by its
// number in a vocabulary, in four bytes, in place of those shared and the rest; and what follows
// depends on the lowest bit of the next number: where it is 0, the rest of it is the
// occurrences in the text of the first chunk, and the term is nowhere else; where it is 1,
// the rest of it is the occurrences in the title, and the chunks follow as above.

// termsFormat is part of the analysis that segments are marked with.
const termsFormat = "/terms1"

// analysis names what made terms: a segment with those of another is made anew.
func (db *DB) analysis() string { return db.analyzer.Name() + termsFormat }

// terms are the terms of a file. They are immutable.
type terms struct {
	vocabulary *text.Vocabulary // that numbers its terms; nil: they stand there as strings
	body       []byte           // nil: there are none, or nothing tells of them
	weight     int              // about how many bytes they have as strings
}

// analyze returns the terms of a file by their numbers.
func analyze(v *text.Vocabulary, title string, chunks []state.Chunk) terms {
	r := read(v, chunks)
	defer r.done()
	return analyzeRead(v, title, chunks, r.texts)
}

// analyzeRead is analyze for chunks whose texts were read.
func analyzeRead(v *text.Vocabulary, title string, chunks []state.Chunk, texts []text.Reading) terms {
	g, _ := gatherers.Get().(*gatherer)
	if g == nil {
		g = &gatherer{}
	}
	g.begin()
	defer func() {
		g.forget()
		gatherers.Put(g)
	}()
	whole, each := v.Languages(texts)
	g.numbers = v.Append(g.numbers[:0], title, whole)
	for _, n := range g.numbers {
		g.use(n).title++
	}
	out := binary.AppendUvarint(g.out[:0], uint64(len(chunks)))
	out = binary.AppendUvarint(out, uint64(len(g.numbers)))
	for i, c := range chunks {
		lang := each[i]
		if lang != "" && lang != "en" && lang != "vi" {
			g.at(v.Number(languageMark+lang), i).body++
		}
		g.numbers = v.AppendRead(g.numbers[:0], &texts[i], lang)
		for _, n := range g.numbers {
			g.at(n, i).body++
		}
		body := len(g.numbers)
		g.numbers = g.numbers[:0]
		if len(c.Headings) > 0 {
			g.numbers = v.Append(g.numbers, strings.Join(c.Headings, "\n"), lang)
		}
		for _, n := range g.numbers {
			g.at(n, i).heading++
		}
		out = appendString(out, c.ID)
		out = binary.AppendUvarint(out, uint64(body))
		out = binary.AppendUvarint(out, uint64(len(g.numbers)))
	}
	weight := len(out)
	g.out = g.append(out)
	names := v.Terms()
	for i := range g.uses {
		weight += len(names[g.uses[i].number]) + 4 + 3*int(g.uses[i].n)
	}
	return terms{v, bytes.Clone(g.out), weight}
}

// spelled returns the terms as bytes that need no vocabulary.
func (t terms) spelled() ([]byte, error) {
	if t.vocabulary == nil {
		return t.body, nil
	}
	f, err := decodeTerms(t)
	if err != nil {
		return nil, err
	}
	names, before := t.vocabulary.Terms(), ""
	r := f.rest
	out := bytes.Clone(t.body[:len(t.body)-len(r.b)])
	for range f.terms {
		number, use := r.fixed(), r.uint()
		rest, chunks := r.b, 0
		if use&1 == 1 {
			chunks = r.count()
		}
		for range chunks {
			r.u32()
			r.u32()
			r.u32()
		}
		if r.err != nil || uint64(number) >= uint64(len(names)) {
			return nil, errCut
		}
		out = appendTerm(out, before, names[number])
		if use&1 == 0 { // no title; one chunk, the first, without headings
			out = append(binary.AppendUvarint(append(out, 0, 1, 1), use>>1), 0)
		} else {
			out = append(binary.AppendUvarint(out, use>>1), rest[:len(rest)-len(r.b)]...)
		}
		before = names[number]
	}
	return out, nil
}

// gatherers are idle ones: memory for the terms of one file, to be used again.
var gatherers sync.Pool //nolint:gochecknoglobals // what is in it never shows

// gatherer gathers the terms of a file.
type gatherer struct {
	places  []placed // by number of a term
	file    uint32   // that is gathered now
	uses    []termUse
	list    []filePosting // of all terms
	numbers []uint32
	out     []byte
}

// placed says where in uses a term stands.
type placed struct{ file, use uint32 }

// termUse is where a term stands in a file.
type termUse struct {
	number      uint32
	title       uint32
	n           int32 // postings
	first, last int32 // of them in the list
}

// filePosting is one chunk of a file that holds a term.
type filePosting struct {
	ordinal       int32
	next          int32  // of the same term
	body, heading uint32 // occurrences
}

// begin makes ready for a file.
func (g *gatherer) begin() {
	if g.file++; g.file == 0 { // after four billion
		clear(g.places)
		g.file = 1
	}
}

// forget lets go of what only a large file needs.
func (g *gatherer) forget() {
	if len(g.uses) > maxGathered || len(g.list) > maxGathered || cap(g.numbers) > maxGathered {
		*g = gatherer{}
		return
	}
	g.uses, g.list = g.uses[:0], g.list[:0]
}

// maxGathered is how many terms of a file memory is kept for.
const maxGathered = 1 << 14

// use returns what is known of a term, valid until the next one is met.
func (g *gatherer) use(number uint32) *termUse {
	if int(number) >= len(g.places) {
		g.places = append(g.places, make([]placed, max(int(number)+1, 2*len(g.places))-len(g.places))...)
	}
	p := &g.places[number]
	if p.file != g.file {
		*p = placed{g.file, uint32(len(g.uses))} //nolint:gosec // a text of so many words is not read
		g.uses = append(g.uses, termUse{number: number})
	}
	return &g.uses[p.use]
}

// at returns the posting of a term for a chunk; ordinals ascend.
func (g *gatherer) at(number uint32, ordinal int) *filePosting {
	u := g.use(number)
	if u.n == 0 || int(g.list[u.last].ordinal) != ordinal {
		next := int32(len(g.list)) //nolint:gosec // as above
		if u.n == 0 {
			u.first = next
		} else {
			g.list[u.last].next = next
		}
		u.last = next
		u.n++
		g.list = append(g.list, filePosting{ordinal: int32(ordinal)}) //nolint:gosec // as above
	}
	return &g.list[u.last]
}

// append writes the terms.
func (g *gatherer) append(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(g.uses)))
	for i := range g.uses {
		u := &g.uses[i]
		out = binary.LittleEndian.AppendUint32(out, u.number)
		if u.n == 1 && u.title == 0 {
			if p := &g.list[u.first]; p.ordinal == 0 && p.heading == 0 { // as most are
				out = binary.AppendUvarint(out, uint64(p.body)<<1)
				continue
			}
		}
		out = binary.AppendUvarint(out, uint64(u.title)<<1|1)
		out = binary.AppendUvarint(out, uint64(u.n)) //nolint:gosec // a count
		last, at := int32(-1), u.first
		for range u.n {
			p := &g.list[at]
			out = binary.AppendUvarint(out, uint64(p.ordinal-last)) //nolint:gosec // they ascend
			out = binary.AppendUvarint(out, uint64(p.body))
			out = binary.AppendUvarint(out, uint64(p.heading))
			last, at = p.ordinal, p.next
		}
	}
	return out
}

// languageMark begins the terms that tell the language of a chunk, such as
// "\x00de"; no word begins with it. English and Vietnamese are not marked. So a segment knows
// which languages it holds, and a query is searched for in those.
const languageMark = "\x00"

// appendTerm writes a term as what it shares with the one before, and the rest.
func appendTerm(out []byte, before, term string) []byte {
	shared := 0
	for shared < len(before) && shared < len(term) && before[shared] == term[shared] {
		shared++
	}
	out = binary.AppendUvarint(out, uint64(shared))
	return appendString(out, term[shared:])
}

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// errCut tells that bytes end early or hold a number that cannot be.
var errCut = errors.New("data is cut short or damaged")

// reader reads what the functions above wrote. After the first error it gives
// zeros; look at err when done.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	if b := r.b; len(b) > 0 && b[0] < 0x80 { // most are small
		r.b = b[1:]
		return uint64(b[0])
	} else if len(b) > 1 && b[1] < 0x80 {
		r.b = b[2:]
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	return r.large()
}

// fixed reads a number of four bytes.
func (r *reader) fixed() uint32 {
	if len(r.b) < 4 {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

// large reads a number of any size.
func (r *reader) large() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a number of things, or of bytes, that take at least one byte
// each; so damage cannot ask for much memory.
func (r *reader) count() int {
	v := r.uint()
	if v > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(v) //nolint:gosec // bounded by the length of the data
}

// u32 reads a number that must fit 32 bits.
func (r *reader) u32() uint32 {
	if b := r.b; len(b) > 0 && b[0] < 0x80 {
		r.b = b[1:]
		return uint32(b[0])
	}
	return r.long()
}

// long is u32 for a number of several bytes.
func (r *reader) long() uint32 {
	v := r.uint()
	if v > 1<<32-1 {
		r.fail()
		return 0
	}
	return uint32(v)
}

func (r *reader) bytes() []byte {
	n := r.count()
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// term reads a term into dst, which holds the one before.
func (r *reader) term(dst []byte) []byte {
	if b := r.b; len(b) >= 2 && int(b[0]) <= min(len(dst), 0x7f) && int(b[1]) <= min(len(b)-2, 0x7f) { // as most are
		end := 2 + int(b[1])
		r.b = b[end:]
		return append(dst[:b[0]], b[2:end]...)
	}
	shared := r.uint()
	if shared > uint64(len(dst)) {
		r.fail()
		return dst[:0]
	}
	return append(dst[:shared], r.bytes()...)
}

func (r *reader) fail() {
	r.b = nil
	if r.err == nil {
		r.err = errCut
	}
}

// fileTerms is the head of a file's terms, with the rest still to be read.
type fileTerms struct {
	title  uint32 // length in terms
	chunks []chunkLengths
	terms  int
	rest   reader
}

type chunkLengths struct {
	id            []byte
	body, heading uint32
}

// decodeTerms reads the head of terms. The ids are those bytes of theirs.
func decodeTerms(t terms) (*fileTerms, error) {
	r := reader{b: t.body}
	f := &fileTerms{chunks: make([]chunkLengths, r.count())}
	f.title = r.u32()
	for i := range f.chunks {
		f.chunks[i] = chunkLengths{id: r.bytes(), body: r.u32(), heading: r.u32()}
	}
	f.terms = r.count()
	if r.err != nil {
		return nil, fmt.Errorf("terms: %w", r.err)
	}
	f.rest = r
	return f, nil
}
