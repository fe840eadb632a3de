package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// builder merges the terms of files, which must come in order of their sources,
// into a segment.
type builder struct {
	totals

	terms    map[string]*termPostings
	fileTab  []byte
	chunkTab []byte
	ids      []byte
}

// termPostings are the postings of a term as far as they are known.
type termPostings struct {
	chunkDF, fileDF     int
	files, chunks       []byte
	lastFile, lastChunk int // -1 before the first
}

// errTooLarge tells that a collection does not fit one segment.
var errTooLarge = errors.New("more than fits one segment (4 billion terms or bytes of ids)")

func newBuilder() *builder { return &builder{terms: map[string]*termPostings{}} }

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
	if uint64(len(b.ids)) > math.MaxUint32 || uint64(body) > math.MaxUint32 {
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
		t := b.terms[string(term)]
		if t == nil {
			t = &termPostings{lastFile: -1, lastChunk: -1}
			b.terms[string(term)] = t
		}
		title, n := r.u32(), r.count()
		t.fileDF++
		t.chunkDF += n
		if title > 0 {
			t.chunkDF += len(f.chunks) - n // the rest of the chunks hold it in their title
			t.files = binary.AppendUvarint(t.files, uint64(b.files-t.lastFile))
			t.files = binary.AppendUvarint(t.files, uint64(title))
			t.lastFile = b.files
		}
		at := first - 1
		for range n {
			at += int(r.u32())
			body, heading := uint64(r.u32())<<1, uint64(r.u32())
			t.chunks = binary.AppendUvarint(t.chunks, uint64(at-t.lastChunk))
			if heading > 0 {
				t.chunks = binary.AppendUvarint(t.chunks, body|1)
				t.chunks = binary.AppendUvarint(t.chunks, heading)
			} else {
				t.chunks = binary.AppendUvarint(t.chunks, body)
			}
			t.lastChunk = at
		}
		if at >= b.chunks {
			r.fail()
		}
		if r.err != nil {
			return fmt.Errorf("terms: %w", r.err)
		}
	}
	return nil
}

// finish returns the segment.
func (b *builder) finish(s stamp) ([]byte, error) {
	var blocks, dict, post []byte
	terms := slices.Sorted(maps.Keys(b.terms))
	size := 0
	for _, t := range b.terms {
		size += len(t.files) + len(t.chunks)
	}
	post = make([]byte, 0, size)
	before := ""
	for i, term := range terms {
		t := b.terms[term]
		if i%blockTerms == 0 {
			before = ""
			blocks = appendU32(blocks, uint32(len(dict)))
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(post)))
		}
		dict = appendTerm(dict, before, term)
		for _, n := range []int{t.chunkDF, t.fileDF, len(t.files), len(t.chunks)} {
			dict = binary.AppendUvarint(dict, uint64(n))
		}
		post = append(append(post, t.files...), t.chunks...)
		before = term
	}
	if uint64(len(dict)) > math.MaxUint32 {
		return nil, errTooLarge
	}
	out := make([]byte, segmentHead, segmentHead+256+len(b.fileTab)+len(b.chunkTab)+len(b.ids)+len(blocks)+len(dict)+len(post))
	out = appendString(out, s.database)
	out = binary.AppendUvarint(out, uint64(s.collection))
	out = binary.AppendUvarint(out, uint64(s.since+1))
	out = binary.AppendUvarint(out, uint64(s.generation))
	out = appendString(out, s.analysis)
	for _, n := range []int{b.files, b.chunks, len(terms), b.body, b.heading, b.chunkTitles, b.titles} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	sections := [][]byte{b.fileTab, b.chunkTab, b.ids, blocks, dict, post}
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
