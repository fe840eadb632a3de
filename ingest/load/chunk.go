package load

import (
	"context"
	"crypto/sha1" //nolint:gosec // see name
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/uuid"

	"example.com/ragflow/state"
)

// Chunk is [ChunkWith] without a model: where the options name one to compare
// sentences with, their words are compared instead.
func Chunk(doc Document, o ChunkOptions) []state.Chunk {
	o.Semantic.Model = ""
	chunks, _ := ChunkWith(context.Background(), doc, o, nil) // only a model can fail
	return chunks
}

// ChunkWith cuts a document. The package comment says how and what holds of the
// result. Each chunk's ID is the UUID version 5 of source, span and hash in a
// namespace of ours. embed is asked only by the semantic chunker, and only where
// the options name a model; without it the error then matches ErrNoModel. Other
// errors are those of embed. Options that Check refuses count as the default.
func ChunkWith(ctx context.Context, doc Document, o ChunkOptions, embed Embed) ([]state.Chunk, error) {
	o = o.withDefaults()
	j, _ := cuttings.Get().(*cutting)
	if j == nil {
		j = &cutting{}
	}
	j.document, j.o, j.embed = doc, o, embed
	j.doc = &j.document
	name, cut := choose(j.doc, o)
	pieces, err := cut(ctx, j)
	if err != nil {
		return nil, err
	}
	chunks := j.chunks(name, pieces)
	j.rest()
	return chunks, nil
}

// cuttings are idle ones: memory, to be used again.
var cuttings sync.Pool //nolint:gochecknoglobals // what is in it never shows

// Bounds of the memory that is kept with each.
const (
	maxHashed = 64 << 10 // bytes
	maxPacked = 256      // units and pieces
)

// cutting is a document that is being cut.
type cutting struct {
	doc      *Document // document
	document Document
	o        ChunkOptions // with defaults
	embed    Embed
	bytes    []byte     // memory for what is hashed
	packed   packMemory // for what is packed
}

// rest lets go of the document, and keeps the memory.
func (j *cutting) rest() {
	j.doc, j.document, j.embed = nil, Document{}, nil
	j.packed.clear()
	if cap(j.bytes) <= maxHashed && j.packed.small() {
		cuttings.Put(j)
	}
}

// chunks makes chunks of pieces, without the blank space around them. Of pieces
// that overlap, one that adds nothing to the one before is left out.
func (j *cutting) chunks(chunker string, pieces []piece) []state.Chunk {
	doc := j.doc
	out := make([]state.Chunk, 0, len(pieces))
	lines := lineCounter{s: doc.Text, line: 1}
	line := lines.at
	if doc.places != nil || doc.Line(0) == 0 {
		line = doc.Line
	}
	told := doc.Body // end of the chunk before
	for _, piece := range pieces {
		start, end := trim(doc.Text, piece.start, piece.end)
		if start >= end || end <= told || strings.TrimSpace(doc.Text[start:end]) == "" {
			continue
		}
		told = end
		c := state.Chunk{
			Root: doc.Root, Source: doc.Source, Title: doc.Title, URL: doc.URL,
			DocumentType: doc.Meta["document_type"], DocumentID: doc.Meta["document_id"],
			Headings: under(doc.Title, piece.path), Kind: piece.kind,
			Text: doc.Text[start:end], Start: start, End: end,
			StartLine: line(start), EndLine: line(end - 1),
			Page: doc.Page(start), Breaks: doc.breaks(start, end),
			Ordinal: len(out), Cut: piece.cut,
		}
		c.Cut.Chunker = chunker
		if doc.places != nil {
			c.EndLine = max(c.StartLine, c.EndLine) // a page may show its lines in another order
			c.Lines = doc.linesOf(start, end)
		}
		j.name(&c)
		out = append(out, c)
	}
	return out
}

// name gives a chunk its hash and its id, which hashes source and span with the text, so
// that one id never stands for two texts.
func (j *cutting) name(c *state.Chunk) {
	b := append(j.bytes[:0], c.Text...)
	sum := sha256.Sum256(b)
	b = hex.AppendEncode(b[:0], sum[:])
	c.Hash = string(b)
	namespace := uuid.UUID{0x5e, 0x0b, 0x1d, 0x6e, 0x8a, 0x4f, 0x4c, 0x52, 0x9d, 0x3b, 0x72, 0x61, 0x67, 0x66, 0x6c, 0x77}
	b = append(append(append(b[:0], namespace[:]...), c.Source...), 0)
	b = append(strconv.AppendInt(b, int64(c.Start), 10), 0)
	b = append(strconv.AppendInt(b, int64(c.End), 10), 0)
	b = append(b, c.Hash...)
	id := sha1.Sum(b) //nolint:gosec // what version 5 is made with: as uuid.NewSHA1, without an allocation
	id[6], id[8] = id[6]&0x0f|5<<4, id[8]&0x3f|0x80
	c.ID = uuid.UUID(id[:16]).String()
	j.bytes = b
}

// breaks returns where pages begin within a span.
func (d *Document) breaks(start, end int) []int {
	first, last := d.Page(start), d.Page(end-1)
	if first == last {
		return nil
	}
	return slices.Clone(d.pages[first:last])
}

// linesOf returns the lines of the file that the lines of a span begin in.
func (d *Document) linesOf(start, end int) []int {
	lines := []int{d.Line(start)}
	for i := start; ; {
		j := strings.IndexByte(d.Text[i:end], '\n')
		if j < 0 {
			return lines
		}
		i += j + 1
		lines = append(lines, d.Line(i))
	}
}

// under returns a path of headings without a first one that only repeats the
// title.
func under(title string, path []string) []string {
	if len(path) > 0 && path[0] == title {
		return path[1:]
	}
	return path
}

// trim drops blank lines in front and white space behind. The indentation of
// the first line stays: it may be code.
func trim(s string, start, end int) (int, int) {
	end = start + len(strings.TrimRight(s[start:end], blank))
	rest := strings.TrimLeft(s[start:end], blank)
	first := end - len(rest)
	if i := strings.LastIndexByte(s[start:first], '\n'); i >= 0 {
		return start + i + 1, end
	}
	if start == 0 || s[start-1] == '\n' {
		return start, end
	}
	return first, end
}

// blank is the white space that chunks do not begin or end with. Unicode has
// more, but that may carry meaning in a script or in code.
const blank = " \t\r\n\v\f\u00a0\u0085"

// blankLength is how many bytes the blank character takes with which s begins; 0 where
// it begins with another.
func blankLength(s string) int {
	if r, n := utf8.DecodeRuneInString(s); strings.ContainsRune(blank, r) {
		return n
	}
	return 0
}

// lineCounter counts lines of offsets that mostly ascend: chunks that overlap
// step back a little.
type lineCounter struct {
	s    string
	pos  int
	line int
}

func (c *lineCounter) at(offset int) int {
	if offset < c.pos {
		c.line -= strings.Count(c.s[offset:c.pos], "\n")
	} else {
		c.line += strings.Count(c.s[c.pos:offset], "\n")
	}
	c.pos = offset
	return c.line
}
