package ingest

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
)

// Text is the text of an indexed file, in which citations have their places.
type Text struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	// Changed says that the file is not the one that was indexed, so that places may be wrong.
	Changed bool `json:"changed"`

	Kind     string   `json:"-"` // of the file, such as markdown, pdf, table or eml; source code is text
	Hash     string   `json:"-"` // of the file as it is now
	Body     int      `json:"-"` // where in Text the body begins, behind front matter
	Lines    []int    `json:"-"` // the line of the file for each line of Text; nil if the file has no lines
	Pages    []int    `json:"-"` // where in Text the pages begin; nil if the file has no pages
	Labels   []string `json:"-"` // the numbers that the pages bear, such as iv; nil if they count from 1
	Problems []string `json:"-"` // what of the file was not read, or only despite a fault
}

// File says what the index knows of a file, without reading it. The error matches ErrNoDocument
// for one that it does not know.
func (l *Library) File(ctx context.Context, root, source string) (FileStatus, error) {
	files, err := l.index.Files(ctx, root)
	if err != nil {
		return FileStatus{}, err
	}
	f, known := files[source]
	if !known {
		return FileStatus{}, fmt.Errorf("%s: %w", source, ErrNoDocument)
	}
	return fileStatus(f), nil
}

// indexed returns what the index has of a file with passages, and the file to read. The error matches ErrNoDocument for
// another one.
func (l *Library) indexed(ctx context.Context, root, source string) (f search.File, file folder.File, err error) {
	files, err := l.index.Files(ctx, root)
	if err != nil {
		return f, file, err
	}
	f, known := files[source]
	if !known || f.Chunks == 0 {
		return f, file, fmt.Errorf("%s: %w", source, ErrNoDocument)
	}
	return f, folder.File{Source: source, Path: Path(root, source), Size: f.Size, ModTime: f.ModTime}, nil
}

// Text reads a file of the library again. The error matches ErrNoDocument for a file that is not
// indexed, and is that of the file system or of the loader for one that cannot be read now.
func (l *Library) Text(ctx context.Context, root, source string) (*Text, error) {
	f, file, err := l.indexed(ctx, root, source)
	if err != nil {
		return nil, err
	}
	out := &Text{Root: root, Source: source, Title: f.Title}
	r := guarded(job{file: file}, func() read {
		doc, err := load.Load(ctx, file, load.Limits{OCR: l.o.OCR})
		out.Text, out.Kind, out.Body, out.Pages, out.Labels = doc.Text, doc.Kind, doc.Body, doc.Pages, doc.Labels
		out.Hash, out.Changed = doc.Hash, doc.Hash != f.Hash
		out.Lines, out.Problems = linesOf(&doc), slices.Concat(doc.Warnings, doc.Notes)
		return read{problem: err}
	})
	if r.problem != nil {
		return nil, r.problem
	}
	return out, nil
}

// linesOf returns the line of the file for each line of a document's text; nil without lines.
func linesOf(doc *document.Document) (out []int) {
	if doc.Line(0) == 0 {
		return nil
	}
	for at := 0; at < len(doc.Text); at = document.LineEnd(doc.Text, at) {
		line := len(out) + 1
		if doc.Places != nil {
			line = doc.Line(at)
		}
		out = append(out, line)
	}
	return out
}
