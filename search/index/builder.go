package index

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
)

// builder merges the indexes of files, which must come in order of their sources, into
// a segment.
type builder struct {
	totals

	terms    map[string]*termPostings
	fileTab  []byte
	chunkTab []byte
	ids      []byte
}

// termPostings are the postings of a term: of each the chunk minus the one before (the
// first counts from -1), and the occurrences in text, heading path and title, all
// uvarints.
type termPostings struct {
	list    []byte
	entries int
	after   int // 1 + the last chunk; 0 before the first
}

// append adds a posting to a term.
func (t *termPostings) append(p posting) {
	t.list = binary.AppendUvarint(t.list, uint64(int(p.chunk)+1-t.after)) //nolint:gosec // they ascend
	t.list = binary.AppendUvarint(t.list, uint64(p.body))
	t.list = binary.AppendUvarint(t.list, uint64(p.heading)<<1|uint64(min(p.title, 1)))
	if p.title > 0 {
		t.list = binary.AppendUvarint(t.list, uint64(p.title))
	}
	t.after = int(p.chunk) + 1
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

func newBuilder() *builder { return &builder{terms: map[string]*termPostings{}} }

// add merges the index of one file.
func (b *builder) add(x *fileIndex) error {
	if len(x.chunks) == 0 {
		return nil
	}
	first, body := b.chunks, 0
	for _, c := range x.chunks {
		b.ids = append(b.ids, c.id...)
		body += int(c.body)
		b.heading += int(c.heading)
		b.chunkTab = appendU32(b.chunkTab, uint32(b.files), c.body, c.heading, uint32(len(b.ids)))
	}
	if max(uint64(len(b.ids)), uint64(body)) > math.MaxUint32 {
		return errTooLarge
	}
	b.fileTab = appendU32(b.fileTab, uint32(first), uint32(body), x.title)
	b.body += body
	b.titles += int(x.title)
	b.chunkTitles += int(x.title) * len(x.chunks)
	b.chunks += len(x.chunks)
	b.files++
	for name, t := range x.terms {
		to := b.terms[name]
		if to == nil {
			to = &termPostings{}
			b.terms[strings.Clone(name)] = to // not a part of the text
		}
		title := t.title // counted in the posting of the first chunk
		if title > 0 && (len(t.postings) == 0 || t.postings[0].ordinal > 0) {
			to.append(posting{chunk: uint32(first), title: title}) //nolint:gosec // chunks of a segment fit 32 bits
			title = 0
		}
		for _, p := range t.postings {
			to.append(posting{chunk: uint32(first + p.ordinal), body: p.body, heading: p.heading, title: title}) //nolint:gosec // as above
			title = 0
		}
	}
	return nil
}

// finish returns the segment.
func (b *builder) finish(s stamp) ([]byte, error) {
	names := slices.Sorted(maps.Keys(b.terms))
	var blocks, dict, post []byte
	var list []posting
	bounds := bounder{b: b, score: newScorer(DefaultRanking(), b.totals)}
	before := ""
	for i, name := range names {
		if i%blockTerms == 0 {
			before = ""
			blocks = appendU32(blocks, uint32(len(dict))) //nolint:gosec // checked below
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(len(post)))
		}
		list = b.terms[name].read(list[:0])
		start := len(post)
		post = appendPostings(post, list, bounds.of(list))
		if len(post)-start > math.MaxUint32 {
			return nil, errTooLarge
		}
		dict = appendTerm(dict, before, name)
		for _, n := range [...]int{bounds.chunkDF, bounds.fileDF, len(list), len(post) - start} {
			dict = binary.AppendUvarint(dict, uint64(n)) //nolint:gosec // a count
		}
		before = name
	}
	if uint64(len(dict)) > math.MaxUint32 {
		return nil, errTooLarge
	}
	out := make([]byte, segmentHead)
	out = appendString(out, s.database)
	out = binary.AppendUvarint(out, uint64(s.collection))
	out = binary.AppendUvarint(out, uint64(s.since+1))
	out = binary.AppendUvarint(out, uint64(s.generation))
	out = appendString(out, s.analysis)
	for _, n := range []int{b.files, b.chunks, len(names), b.body, b.heading, b.chunkTitles, b.titles} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	sections := [][]byte{b.fileTab, b.chunkTab, b.ids, blocks, dict, post}
	for _, section := range sections {
		out = binary.AppendUvarint(out, uint64(len(section)))
	}
	out = slices.Concat(append([][]byte{out}, sections...)...)
	seal(out)
	return out, nil
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
