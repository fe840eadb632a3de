package chunk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/state"
)

// Cut is [CutWith] without a model: if the options name one, the words of sentences are
// compared instead.
func Cut(doc document.Document, o Options) []state.Chunk {
	o.Semantic.Model = ""
	chunks, _ := CutWith(context.Background(), doc, o, nil) // only a model can fail
	return chunks
}

// CutWith cuts a document. The ID of a chunk is the UUID version 5 of its source, span and
// hash. Only the semantic chunker calls embed, and only if the options name a model; if embed
// is nil then, the error matches ErrNoModel. Other errors are those of embed. Defaults
// replace options that Check refuses.
func CutWith(ctx context.Context, doc document.Document, o Options, embed Embed) ([]state.Chunk, error) {
	j := &cutting{doc: &doc, o: o.withDefaults(), embed: embed}
	name, cut := choose(j.doc, j.o)
	pieces, err := cut(ctx, j)
	if err != nil {
		return nil, err
	}
	return j.chunks(name, pieces), nil
}

// cutting is a document with the options to cut it by.
type cutting struct {
	doc   *document.Document
	o     Options // with defaults
	embed Embed
}

// chunks makes chunks of pieces, without the blank space around them. A piece that ends
// within the piece before is left out.
func (j *cutting) chunks(chunker string, pieces []piece) []state.Chunk {
	doc := j.doc
	out := make([]state.Chunk, 0, len(pieces))
	lines := document.LineCounter{Text: doc.Text}
	line := lines.At
	if doc.Places != nil || doc.Line(0) == 0 {
		line = doc.Line
	}
	covered := doc.Body // the end of the chunk before
	for _, piece := range pieces {
		start, end := trim(doc.Text, piece.start, piece.end)
		if start >= end || end <= covered || strings.TrimSpace(doc.Text[start:end]) == "" {
			continue
		}
		covered = end
		c := state.Chunk{
			Root: doc.Root, Source: doc.Source, Title: doc.Title, URL: doc.URL,
			DocumentType: doc.Meta["document_type"], DocumentID: doc.Meta["document_id"],
			Headings: under(doc.Title, piece.path), Kind: piece.kind,
			Text: doc.Text[start:end], Start: start, End: end,
			StartLine: line(start), EndLine: line(end - 1),
			Page: doc.Page(start), Breaks: breaks(doc, start, end), PageLabels: labels(doc, start, end),
			Ordinal: len(out), Cut: piece.cut,
		}
		c.Cut.Chunker = chunker
		if doc.Places != nil {
			c.EndLine = max(c.StartLine, c.EndLine) // a page may show its lines in another order
			c.Lines = linesOf(doc, start, end)
		}
		identify(&c)
		out = append(out, c)
	}
	return out
}

// namespace is the UUID namespace of chunk ids.
//
//nolint:gochecknoglobals // never changed
var namespace = uuid.UUID{0x5e, 0x0b, 0x1d, 0x6e, 0x8a, 0x4f, 0x4c, 0x52, 0x9d, 0x3b, 0x72, 0x61, 0x67, 0x66, 0x6c, 0x77}

// identify sets the hash of a chunk and its id, a hash of source, span and text: two texts
// never share an id.
func identify(c *state.Chunk) {
	sum := sha256.Sum256([]byte(c.Text))
	c.Hash = hex.EncodeToString(sum[:])
	c.ID = uuid.NewSHA1(namespace, fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", c.Source, c.Start, c.End, c.Hash)).String()
}

// breaks returns the offsets within a span at which pages begin.
func breaks(d *document.Document, start, end int) []int {
	first, last := d.Page(start), d.Page(end-1)
	if first == last {
		return nil
	}
	return slices.Clone(d.Pages[first:last])
}

// labels returns the labels of the pages within a span.
func labels(d *document.Document, start, end int) []string {
	if d.Labels == nil {
		return nil
	}
	return slices.Clone(d.Labels[max(0, d.Page(start)-1):d.Page(end-1)])
}

// linesOf returns, for each line of a span, the line of the file that it begins in.
func linesOf(d *document.Document, start, end int) []int {
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

// under returns a heading path without its first heading if that repeats the title.
func under(title string, path []string) []string {
	if len(path) > 0 && path[0] == title {
		return path[1:]
	}
	return path
}

// trim drops leading blank lines and trailing white space. The indentation of the first
// line stays: it may be code.
func trim(s string, start, end int) (int, int) {
	end = start + len(strings.TrimRight(s[start:end], document.Blank))
	rest := strings.TrimLeft(s[start:end], document.Blank)
	first := end - len(rest)
	if i := strings.LastIndexByte(s[start:first], '\n'); i >= 0 {
		return start + i + 1, end
	}
	if start == 0 || s[start-1] == '\n' {
		return start, end
	}
	return first, end
}
