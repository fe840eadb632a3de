package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/server/internal/door"
)

const (
	maxTexts     = 16       // documents whose text is kept
	maxTextBytes = 64 << 20 // of these
)

// Reader reads documents for people. It keeps what it has read and drawn, within bounds. It is safe for
// concurrent use.
type Reader struct {
	documents door.Documents
	texts     lru.Cache[string, *text]
	pictures  lru.Cache[string, drawn]
}

// New returns a reader of the documents of an assistant.
func New(documents door.Documents) *Reader { return &Reader{documents: documents} }

// file is a document that the caller may read, as the index knows it.
type file struct {
	ingest.FileStatus

	library      *ingest.Library
	root, source string
	path         string // of the file
}

// locate finds a document by its id.
func (r *Reader) locate(ctx context.Context, id string) (file, error) {
	l, root, source, err := r.documents.Find(ctx, id)
	if err != nil {
		return file{}, err
	}
	known, err := l.File(ctx, root, source)
	if err != nil {
		return file{}, err
	}
	known.Title = cmp.Or(known.Title, path.Base(source))
	return file{known, l, root, source, ingest.Path(root, source)}, nil
}

// fault returns an error of a file without its folder, which is not for everybody.
func (f file) fault(err error) error {
	if left, ok := errors.AsType[*folder.FileError](err); ok {
		err = left.Err
	}
	return fmt.Errorf("%s: %w", f.source, folder.Reason(err))
}

// text is the indexed text of a document, with the places of its lines.
type text struct {
	*ingest.Text

	file   file
	starts []int // where lines begin
}

// text reads a document.
func (r *Reader) text(ctx context.Context, id string) (*text, error) {
	f, err := r.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, f)
}

// read reads a document that was located.
func (r *Reader) read(ctx context.Context, f file) (*text, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, f.fault(err)
	}
	key := fmt.Sprintf("%s\n%s\n%d %d %d", f.root, f.source, info.Size(), info.ModTime().UnixNano(), f.library.View().Version)
	if t, ok := r.texts.Get(key); ok {
		return t, nil
	}
	read, err := f.library.Text(ctx, f.root, f.source)
	if err != nil {
		return nil, f.fault(err)
	}
	t := &text{Text: read, file: f}
	for at := 0; at < len(t.Text.Text); at = document.LineEnd(t.Text.Text, at) {
		t.starts = append(t.starts, at)
	}
	r.texts.Put(key, t, len(t.Text.Text)+16*len(t.starts), maxTexts, maxTextBytes)
	return t, nil
}

// form returns the form of a document by its kind.
func (t *text) form() string {
	switch t.Kind {
	case document.PDF:
		return FormPDF
	case document.EML, document.MBOX, document.MSG:
		return FormMail
	case document.Table, document.XLSX, document.ODS:
		return FormTable
	case document.Plain:
		if document.IsSource(t.Source) {
			return FormCode
		}
		return FormText
	case document.ICS, document.VCF:
		return FormText
	}
	return FormMarkdown // written as such, or made of it by package load
}

// span is a part of a text, in bytes; it is empty if end is not behind start.
type span struct{ start, end int }

func (s span) empty() bool { return s.end <= s.start }

// find returns the place of a passage in the text as it is now, and its state.
func (t *text) find(p Passage) (m span, state string) {
	s := t.Text.Text
	m = span{max(p.Start, 0), min(p.End, len(s))}
	if m.empty() {
		m = span{min(m.start, len(s)), min(m.start, len(s))}
	}
	quoted := p.Quote != "" && !m.empty() && s[m.start:m.end] == p.Quote
	switch {
	case quoted, p.Quote == "" && !t.Changed:
		return t.whole(m), Same
	case p.Quote == "":
		return span{m.start, m.start}, Changed
	}
	at := strings.Index(s, p.Quote)
	if at < 0 || at != strings.LastIndex(s, p.Quote) {
		return span{m.start, m.start}, Changed
	}
	return span{at, at + len(p.Quote)}, Moved
}

// whole returns a span that cuts no character.
func (t *text) whole(m span) span {
	s := t.Text.Text
	for m.start > 0 && m.start < len(s) && !utf8.RuneStart(s[m.start]) {
		m.start--
	}
	for m.end > m.start && m.end < len(s) && !utf8.RuneStart(s[m.end]) {
		m.end++
	}
	return m
}

// pages returns the pages of a document, and those of a span; nil without pages.
func (t *text) pages(m span) *Pages {
	if t.Pages == nil {
		return nil
	}
	page := func(at int) int {
		return max(1, sort.Search(len(t.Pages), func(i int) bool { return t.Pages[i] > at }))
	}
	return &Pages{Count: len(t.Pages), First: page(m.start), Last: page(max(m.start, m.end-1)), Labels: t.Labels}
}
