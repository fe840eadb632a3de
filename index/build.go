package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/memo"
)

// builder merges the terms of files, which must come in order of their sources,
// into a segment.
type builder struct {
	totals

	terms    memo.Words[*termPostings]
	fileTab  []byte
	chunkTab []byte
	ids      []byte
}

// termPostings are the postings of a term as far as they are known: of each the
// chunk minus the one before (the first counts from -1), and the occurrences in
// text, heading path and title, all uvarints.
type termPostings struct {
	chunkDF, fileDF int
	entries         int
	list            []byte
	last            int // chunk; -1 before the first
}

func (t *termPostings) append(p posting) {
	t.list = binary.AppendUvarint(t.list, uint64(int(p.chunk)-t.last))
	t.list = binary.AppendUvarint(t.list, uint64(p.body))
	t.list = binary.AppendUvarint(t.list, uint64(p.heading)<<1|uint64(min(p.title, 1)))
	if p.title > 0 {
		t.list = binary.AppendUvarint(t.list, uint64(p.title))
	}
	t.last = int(p.chunk)
	t.entries++
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

func newBuilder() *builder {
	return &builder{}
}

// add merges one file, given as encodeTerms wrote it.
func (b *builder) add(terms []byte) error {
	f, err := decodeTerms(terms)
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
	if err := b.merge(f, first); err != nil {
		return err
	}
	b.files++
	return nil
}

// merge adds the postings of a file whose chunks begin at first.
func (b *builder) merge(f *fileTerms, first int) error {
	r := f.rest
	var term []byte
	for range f.terms {
		term = r.term(term)
		t, known := b.terms.Get(string(term)) // no allocation
		if !known {
			t = &termPostings{last: -1}
			place, _ := b.terms.At(string(term))
			*place = t
		}
		title, n := r.u32(), r.count()
		t.fileDF++
		t.chunkDF += n
		if title > 0 {
			t.chunkDF += len(f.chunks) - n // the rest of the chunks hold it in their title
		}
		at := first - 1
		for i := range n {
			at += int(r.u32())
			if at < first || at >= b.chunks {
				r.fail()
				break
			}
			p := posting{chunk: uint32(at), body: r.u32(), heading: r.u32()} //nolint:gosec // below the number of chunks
			if i == 0 && title > 0 {
				if at > first {
					t.append(posting{chunk: uint32(first), title: title}) //nolint:gosec // as above
				} else {
					p.title = title
				}
			}
			t.append(p)
		}
		if n == 0 && title > 0 {
			t.append(posting{chunk: uint32(first), title: title}) //nolint:gosec // as above
		}
		if r.err != nil {
			return fmt.Errorf("terms: %w", r.err)
		}
	}
	return nil
}

func (b *builder) chunkField(chunk uint32, field int) uint32 {
	return binary.LittleEndian.Uint32(b.chunkTab[int(chunk)*chunkWidth+4*field:])
}

func (b *builder) fileField(file uint32, field int) uint32 {
	return binary.LittleEndian.Uint32(b.fileTab[int(file)*fileWidth+4*field:])
}

// finish returns the segment.
func (b *builder) finish(s stamp) ([]byte, error) {
	var blocks, dict, post []byte
	type named struct {
		term string
		*termPostings
	}
	terms := make([]named, 0, b.terms.Len())
	size := 0
	b.terms.All(func(term string, t *termPostings) {
		terms = append(terms, named{term, t})
		size += len(t.list)
	})
	slices.SortFunc(terms, func(a, b named) int { return strings.Compare(a.term, b.term) })
	post = make([]byte, 0, size+size/4)
	bounds := bounder{b: b, score: newScorer(DefaultRanking(), b.totals)}
	var list []posting
	before := ""
	for i, t := range terms {
		if i%blockTerms == 0 {
			before = ""
			blocks = appendU32(blocks, uint32(len(dict)))
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(post)))
		}
		list = t.read(list[:0])
		start := len(post)
		post = appendPostings(post, list, bounds.of(list))
		dict = appendTerm(dict, before, t.term)
		for _, n := range []int{t.chunkDF, t.fileDF, len(list), len(post) - start} {
			dict = binary.AppendUvarint(dict, uint64(n))
		}
		if len(post)-start > math.MaxUint32 {
			return nil, errTooLarge
		}
		before = t.term
	}
	if uint64(len(dict)) > math.MaxUint32 {
		return nil, errTooLarge
	}
	sections := [][]byte{b.fileTab, b.chunkTab, b.ids, blocks, dict, post}
	out := make([]byte, segmentHead, segmentHead+256+size+size/2)
	out = appendString(out, s.database)
	out = binary.AppendUvarint(out, uint64(s.collection))
	out = binary.AppendUvarint(out, uint64(s.since+1))
	out = binary.AppendUvarint(out, uint64(s.generation))
	out = appendString(out, s.analysis)
	for _, n := range []int{b.files, b.chunks, len(terms), b.body, b.heading, b.chunkTitles, b.titles} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, section := range sections {
		out = binary.AppendUvarint(out, uint64(len(section)))
	}
	for _, section := range sections {
		out = append(out, section...)
	}
	seal(out)
	return out, nil
}

func appendU32(out []byte, values ...uint32) []byte {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
