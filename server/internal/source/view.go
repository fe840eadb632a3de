package source

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"example.com/ragflow/ingest"
)

// Forms of a [View]: which of its fields a page shows first.
const (
	FormText     = "text"     // Lines
	FormCode     = "code"     // Lines, in a font of one width
	FormMarkdown = "markdown" // Blocks, or Lines
	FormTable    = "table"    // Table, or Lines
	FormMail     = "mail"     // Mail, or Lines
	FormPDF      = "pdf"      // Pages, or Lines
)

// States of the passage of a [View].
const (
	Same    = "same"    // it stands where it was cited
	Moved   = "moved"   // the document has changed and says the same elsewhere, which is marked
	Changed = "changed" // the document has changed and does not say it any more; nothing is marked
	Gone    = "gone"    // the file cannot be found; only Source, Title and Problems are set
)

// Passage is a part of a document, and how much of the document to show.
type Passage struct {
	Start, End int    // bytes of the indexed text; nothing is marked if End is not behind Start
	Quote      string // what stood there when it was cited; "" if that is unknown
	From, To   int    // lines of the text to show, from 1, both included; 0: those around the passage
}

// View is a document and a passage in it.
type View struct {
	ID     string // of the document
	Source string // its path in its folder
	Title  string
	Form   string // one of the forms above
	State  string // one of the states above

	Problems []string // what of the document was not read, or only despite a fault

	Lines  *Lines  // of the indexed text
	Blocks []Block // the same lines as Markdown; nil if the document is no text in paragraphs
	Table  *Table  // rows around the passage; nil if the passage is in no table
	Mail   *Mail   // that the passage is in; nil for other documents
	Pages  *Pages  // nil for documents without pages
}

// Pages are those of a PDF or a presentation.
type Pages struct {
	Count       int
	First, Last int      // of the passage, from 1; the first page without one
	Labels      []string // the numbers that the pages bear, such as iv; nil if they count from 1
}

// View shows a passage. The error matches ingest.ErrNoDocument or ingest.ErrNoCollection for a document that the
// caller may not read, or that is not indexed; others say why a file cannot be read.
func (r *Reader) View(ctx context.Context, id string, p Passage) (*View, error) {
	f, err := r.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.view(ctx, id, f, p)
}

// view shows a passage of a document that was located.
func (r *Reader) view(ctx context.Context, id string, f file, p Passage) (*View, error) {
	t, err := r.read(ctx, f)
	if errors.Is(err, fs.ErrNotExist) {
		return &View{ID: id, Source: f.source, Title: f.Title, Form: FormText, State: Gone, Problems: []string{"the file is not there any more"}}, nil
	}
	if err != nil {
		return nil, err
	}
	m, state := t.find(p)
	v := &View{ID: id, Source: t.Source, Title: t.Title, Form: t.form(), State: state, Problems: t.Problems}
	window := t.window(p, m)
	v.Lines, v.Pages, v.Mail = t.lines(window, m), t.pages(m), t.mail(window, m)
	switch v.Form {
	case FormText, FormCode, FormMail:
	case FormTable:
		v.Table = t.table(m)
	default:
		v.Blocks = t.blocks(window, m)
		if v.Table = t.table(m); v.Table == nil {
			v.Table = markedTable(v.Blocks)
		}
	}
	return v, nil
}

// Preview is how a document was read: its beginning, and what the index holds of it.
type Preview struct {
	View // without a passage; of a document that was not read, only its names and problems are set

	Status ingest.FileStatus
}

// Preview shows the beginning of a document, and why it was not read if so. Errors are those of [Reader.View].
func (r *Reader) Preview(ctx context.Context, id string) (*Preview, error) {
	f, err := r.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	out := &Preview{Status: f.FileStatus}
	if f.Status == ingest.StatusIndexed || f.Status == ingest.StatusFailed && f.Chunks > 0 {
		v, err := r.view(ctx, id, f, Passage{})
		if err == nil {
			out.View = *v
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		out.Problems = append(out.Problems, err.Error())
	}
	out.ID, out.Source, out.Title, out.Form, out.State = id, f.source, f.Title, FormText, Same
	if f.Reason != "" && !slices.Contains(out.Problems, f.Reason) {
		out.Problems = append(out.Problems, f.Reason)
	}
	return out, nil
}
