package source

import (
	"context"
	"errors"
	"fmt"
	"os"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/pdf"
)

// Dots an inch of pictures: the first is quick, the second is sharp.
const (
	Quick = 96
	Sharp = 150
)

// ErrNoPicture is the error for what is no page of a PDF.
var ErrNoPicture = errors.New("this document has no such page that can be drawn")

const (
	maxPictures     = 200      // pages that are kept
	maxPictureBytes = 64 << 20 // of these
	maxFile         = 64 << 20 // bytes of a PDF; no larger file is indexed
)

// Picture is a page of a PDF as it is shown. It must not be changed.
type Picture struct {
	PNG           []byte
	Width, Height int // in pixels
}

// Marks are the places of a passage on a page.
type Marks struct {
	// Exact says that the characters of the page are those of the passage. If it is not set, there are no
	// rectangles: a page that was recognised in a picture has no characters, for example.
	Exact bool
	Rects []Rect
}

// Rect is a part of a page, in fractions of its width and height, from its top left corner.
type Rect = pdf.Rect

// drawn is a picture that is kept, or the reason why there is none.
type drawn struct {
	picture *Picture
	err     error
}

// Warm starts the engine that draws pages in the background, so that the first page does not wait for it.
func Warm() {
	go func() { _ = pdf.Warm() }() // the first page has its error
}

// Picture draws a page of a PDF, counted from 1, with [Quick] or [Sharp] dots an inch. It needs no text of the
// document. Pictures are kept, and so are the faults of damaged pages, until the file changes. Errors are those of
// [Reader.View], or match ErrNoPicture; others say why the page cannot be drawn.
func (r *Reader) Picture(ctx context.Context, id string, page, dpi int) (*Picture, error) {
	f, err := r.locate(ctx, id)
	if err != nil {
		return nil, err
	}
	if document.KindOf(f.source) != document.PDF || dpi != Quick && dpi != Sharp {
		return nil, ErrNoPicture
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, f.fault(err)
	}
	key := fmt.Sprintf("%s\n%d %d\n%d %d", f.path, info.Size(), info.ModTime().UnixNano(), page, dpi)
	if d, ok := r.pictures.Get(key); ok {
		return d.picture, d.err
	}
	data, err := f.bytes()
	if err != nil {
		return nil, err
	}
	p, err := pdf.Draw(ctx, data, page, dpi)
	d := drawn{picture: &Picture{PNG: p.PNG, Width: p.Width, Height: p.Height}, err: err}
	switch {
	case errors.Is(err, pdf.ErrNoPage):
		return nil, ErrNoPicture
	case err == nil, errors.Is(err, document.ErrBroken), errors.Is(err, document.ErrEncrypted):
		if err != nil {
			d.picture = nil
		}
		r.pictures.Put(key, d, len(p.PNG), maxPictures, maxPictureBytes)
		return d.picture, err
	}
	return nil, err // another try may succeed
}

// bytes reads the file.
func (f file) bytes() ([]byte, error) {
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return nil, f.fault(err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, f.fault(fmt.Errorf("%w: more than %d MiB", ingest.ErrTooLarge, maxFile>>20))
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, f.fault(err)
	}
	return data, nil
}

// Marks finds a passage on a page of a PDF, counted from 1. Errors are those of [Reader.Picture].
func (r *Reader) Marks(ctx context.Context, id string, p Passage, page int) (*Marks, error) {
	t, err := r.text(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Kind != document.PDF || page < 1 || page > len(t.Pages) {
		return nil, ErrNoPicture
	}
	from, to := t.Pages[page-1], len(t.Text.Text)
	if page < len(t.Pages) {
		to = t.Pages[page]
	}
	m, _ := t.find(p)
	start, end := max(m.start, from), min(m.end, to)
	if start >= end {
		return &Marks{}, nil
	}
	data, err := t.file.bytes()
	if err != nil {
		return nil, err
	}
	rects, err := pdf.Find(ctx, data, page, t.Text.Text[from:to], start-from, end-from)
	if err != nil {
		return nil, err
	}
	return &Marks{Exact: len(rects) > 0, Rects: rects}, nil
}
