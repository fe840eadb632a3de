package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// The terms of a file are its own inverted index, which segments are merged from.
// They are made of its chunks, and not stored: see fresh.go. All numbers are
// uvarints, strings have their length in front:
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
// The first ordinal counts from -1, so that no gap is 0.

// termsFormat is part of the analysis that segments are marked with.
const termsFormat = "/terms1"

// analysis names what made terms: a segment with those of another is made anew.
func (db *DB) analysis() string { return db.analyzer.Name() + termsFormat }

// encodeTerms analyzes a file and returns its terms.
func encodeTerms(a text.Analyzer, title string, chunks []state.Chunk) []byte {
	g, _ := gatherers.Get().(*gatherer)
	if g == nil {
		g = &gatherer{}
	}
	defer func() {
		g.forget()
		gatherers.Put(g)
	}()
	in := languagesOf(a, chunks)
	g.tokens = in.append(g.tokens[:0], title, in.whole)
	for _, t := range g.tokens {
		g.uses[g.number(t.Term)].title++
	}
	out := binary.AppendUvarint(g.out[:0], uint64(len(chunks)))
	out = binary.AppendUvarint(out, uint64(len(g.tokens)))
	for i, c := range chunks {
		lang := in.each[i]
		if lang != "" && lang != "en" && lang != "vi" {
			g.at(languageMark+lang, i).body++
		}
		g.tokens = in.append(g.tokens[:0], c.Text, lang)
		for _, t := range g.tokens {
			g.at(t.Term, i).body++
		}
		body := len(g.tokens)
		g.tokens = in.append(g.tokens[:0], strings.Join(c.Headings, "\n"), lang)
		for _, t := range g.tokens {
			g.at(t.Term, i).heading++
		}
		out = appendString(out, c.ID)
		out = binary.AppendUvarint(out, uint64(body))
		out = binary.AppendUvarint(out, uint64(len(g.tokens)))
	}
	g.out = g.append(out)
	return bytes.Clone(g.out)
}

// gatherers are idle ones: memory for the terms of one file, to be used again.
var gatherers sync.Pool //nolint:gochecknoglobals // what is in it never shows

// gatherer gathers the terms of a file.
type gatherer struct {
	numbers memo.Words[int32] // of terms, in uses
	uses    []termUse
	list    []filePosting // of all terms
	tokens  []text.Token
	out     []byte
}

// termUse is where a term stands in a file.
type termUse struct {
	term        string
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

// forget lets go of the texts that terms are part of.
func (g *gatherer) forget() {
	if len(g.uses) > maxGathered || len(g.list) > maxGathered || cap(g.tokens) > maxGathered {
		*g = gatherer{}
		return
	}
	g.numbers.Clear()
	clear(g.uses)
	clear(g.tokens[:cap(g.tokens)])
	g.uses, g.list = g.uses[:0], g.list[:0]
}

// maxGathered is how many terms of a file memory is kept for.
const maxGathered = 1 << 14

func (g *gatherer) number(term string) int32 {
	n, known := g.numbers.At(term)
	if !known {
		*n = int32(len(g.uses)) //nolint:gosec // a text of so many words is not read
		g.uses = append(g.uses, termUse{term: term})
	}
	return *n
}

// at returns the posting of a term for a chunk; ordinals ascend.
func (g *gatherer) at(term string, ordinal int) *filePosting {
	u := &g.uses[g.number(term)]
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
	before := ""
	for i := range g.uses {
		u := &g.uses[i]
		out = appendTerm(out, before, u.term)
		out = binary.AppendUvarint(out, uint64(u.title))
		out = binary.AppendUvarint(out, uint64(u.n)) //nolint:gosec // a count
		last, at := int32(-1), u.first
		for range u.n {
			p := &g.list[at]
			out = binary.AppendUvarint(out, uint64(p.ordinal-last)) //nolint:gosec // they ascend
			out = binary.AppendUvarint(out, uint64(p.body))
			out = binary.AppendUvarint(out, uint64(p.heading))
			last, at = p.ordinal, p.next
		}
		before = u.term
	}
	return out
}

// languageMark begins the terms that tell the language of a chunk, such as
// "\x00de"; no word begins with it. English and Vietnamese are not marked. So a segment knows
// which languages it holds, and a query is searched for in those.
const languageMark = "\x00"

// languages analyzes the parts of a document each in its language.
type languages struct {
	analyzer text.Analyzer
	polyglot text.Polyglot // nil: an analyzer for one language
	whole    string
	each     []string // by chunk
}

func languagesOf(a text.Analyzer, chunks []state.Chunk) languages {
	l := languages{analyzer: a, each: make([]string, len(chunks))}
	l.polyglot, _ = a.(text.Polyglot)
	if l.polyglot != nil {
		parts := make([]string, len(chunks))
		for i, c := range chunks {
			parts[i] = c.Text
		}
		l.whole, l.each = l.polyglot.Languages(parts)
	}
	return l
}

func (l *languages) append(dst []text.Token, s, lang string) []text.Token {
	if l.polyglot == nil {
		return l.analyzer.Append(dst, s)
	}
	return l.polyglot.AppendIn(dst, s, lang)
}

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
	if len(r.b) > 0 && r.b[0] < 0x80 { // most are small
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
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
	id            string
	body, heading uint32
}

func decodeTerms(body []byte) (*fileTerms, error) {
	r := reader{b: body}
	f := &fileTerms{chunks: make([]chunkLengths, r.count())}
	f.title = r.u32()
	for i := range f.chunks {
		f.chunks[i] = chunkLengths{id: string(r.bytes()), body: r.u32(), heading: r.u32()}
	}
	f.terms = r.count()
	if r.err != nil {
		return nil, fmt.Errorf("terms: %w", r.err)
	}
	f.rest = r
	return f, nil
}
