package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"time"

	"github.com/klippa-app/go-pdfium/enums"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"

	"example.com/ragflow/internal/document"
)

const (
	maxDrawers   = 2 // pages drawn, or searched for a passage, at a time
	drawTime     = 20 * time.Second
	pointsAnInch = 72
)

// ErrBusy is the error of a page that was not drawn because others take long.
var ErrBusy = errors.New("the pages of other documents are being drawn: try again")

// ErrNoPage is the error of a number that is not that of a page.
var ErrNoPage = errors.New("the document has no such page")

// drawers limits the pages drawn at a time. It is apart from slots, so that a person who reads a page does not wait
// for documents that are indexed.
//
//nolint:gochecknoglobals // of the one engine
var drawers = make(chan struct{}, maxDrawers)

// Picture is a page as it is shown.
type Picture struct {
	PNG           []byte
	Width, Height int // in pixels
}

// Warm starts the engine, so that the first page is drawn at once. It returns when the engine is ready.
func Warm() error {
	_, err := engine()
	return err
}

// Draw draws a page, counted from 1, with so many dots an inch; a large page has fewer. Annotations and filled
// fields are drawn; nothing is executed or fetched. Errors match ErrBusy, ErrNoPage, or document.ErrBroken and
// document.ErrEncrypted.
func Draw(ctx context.Context, data []byte, page, dpi int) (Picture, error) {
	return onPage(ctx, data, page, func(r *fileReader, at requests.Page) (Picture, error) {
		size, err := r.GetPageSize(&requests.GetPageSize{Page: at})
		if err != nil {
			return Picture{}, fmt.Errorf("%w: page %d has no size", document.ErrBroken, page)
		}
		inches := max(size.Width/pointsAnInch*size.Height/pointsAnInch, 1)
		scale := min(float64(dpi), math.Sqrt(maxPixels/inches)) / pointsAnInch
		picture, err := r.draw(at, int(math.Ceil(size.Width*scale)), int(math.Ceil(size.Height*scale)))
		if err != nil {
			return Picture{}, fmt.Errorf("%w: page %d cannot be drawn: %w", document.ErrBroken, page, err)
		}
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestSpeed}
		if err := encoder.Encode(&out, picture); err != nil {
			return Picture{}, fmt.Errorf("page %d: %w", page, err)
		}
		return Picture{PNG: out.Bytes(), Width: picture.Rect.Dx(), Height: picture.Rect.Dy()}, nil
	})
}

// draw draws a page on white. The engine asks between objects of the page whether to stop: while it draws, no other
// goroutine may be able to stop it.
func (r *fileReader) draw(page requests.Page, width, height int) (*image.RGBA, error) {
	if width < 1 || height < 1 || width > maxPixels || height > maxPixels || width*height > 2*maxPixels {
		return nil, fmt.Errorf("it has %d × %d dots", width, height)
	}
	made, err := r.FPDFBitmap_Create(&requests.FPDFBitmap_Create{Width: width, Height: height})
	if err != nil {
		return nil, err
	}
	bitmap := made.Bitmap
	defer func() { _, _ = r.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: bitmap}) }() // frees memory
	const white = 0xFFFFFFFF
	if _, err := r.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{Bitmap: bitmap, Width: width, Height: height, Color: white}); err != nil {
		return nil, err
	}
	deadline, _ := r.ctx.Deadline()
	started, err := r.FPDF_RenderPageBitmap_Start(&requests.FPDF_RenderPageBitmap_Start{
		Bitmap: bitmap, Page: page, SizeX: width, SizeY: height,
		Flags:                  enums.FPDF_RENDER_FLAG_ANNOT | enums.FPDF_RENDER_FLAG_REVERSE_BYTE_ORDER,
		NeedToPauseNowCallback: func() bool { return r.ctx.Err() != nil || time.Now().After(deadline) },
	})
	defer func() { _, _ = r.FPDF_RenderPage_Close(&requests.FPDF_RenderPage_Close{Page: page}) }() // frees memory
	switch {
	case err != nil:
		return nil, err
	case started.RenderStatus == enums.FPDF_RENDER_STATUS_TOBECONTINUED:
		return nil, errors.New("it takes too long")
	case started.RenderStatus != enums.FPDF_RENDER_STATUS_DONE:
		return nil, errors.New("the PDF reader failed")
	}
	dots, err := r.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: bitmap})
	if err != nil {
		return nil, err
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	copy(picture.Pix, dots.Buffer)
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 0xFF // the bitmap has no opacity
	}
	return picture, nil
}

// onPage calls do with a page, counted from 1, for at most drawTime. A call of the engine that takes longer is left
// alone, but keeps its place among the drawers until it ends, so that slow pages do not take more and more
// processors.
func onPage[T any](ctx context.Context, data []byte, page int, do func(*fileReader, requests.Page) (T, error)) (out T, err error) {
	wait, cancel := context.WithTimeoutCause(ctx, drawTime, ErrBusy)
	defer cancel()
	select {
	case drawers <- struct{}{}:
	case <-wait.Done():
		return out, context.Cause(wait)
	}
	type result struct {
		value T
		err   error
	}
	ctx, cancel = context.WithTimeoutCause(ctx, drawTime, fmt.Errorf("%w: page %d takes longer than %v", document.ErrBroken, page, drawTime))
	defer cancel()
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: the PDF reader failed: %v", document.ErrBroken, p)
			}
			<-drawers
			done <- r
		}()
		r.value, r.err = openPage(ctx, data, page, do)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
}

// openPage calls do with a page, counted from 1.
func openPage[T any](ctx context.Context, data []byte, page int, do func(*fileReader, requests.Page) (T, error)) (out T, err error) {
	r, err := open(ctx, data)
	if err != nil {
		return out, err
	}
	defer func() { _ = r.Close() }() // frees memory
	count, err := r.countPages()
	if err != nil {
		return out, err
	}
	if page < 1 || page > count {
		return out, fmt.Errorf("%w: %d of %d", ErrNoPage, page, count)
	}
	loaded, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: page - 1})
	if err != nil {
		return out, fmt.Errorf("%w: page %d cannot be opened", document.ErrBroken, page)
	}
	return do(r, requests.Page{ByReference: &loaded.Page})
}

// open opens a PDF.
func open(ctx context.Context, data []byte) (*fileReader, error) {
	pool, err := engine()
	if err != nil {
		return nil, fmt.Errorf("start the PDF reader: %w", err)
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the PDF reader: %w", err)
	}
	r := &fileReader{Pdfium: instance, ctx: ctx, size: len(data)}
	if err := r.open(data); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// open opens the document.
func (r *fileReader) open(data []byte) error {
	opened, err := r.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data))})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fmt.Errorf("%w: save a copy without a password", document.ErrEncrypted)
	case err != nil:
		return fmt.Errorf("%w: it is no PDF that can be read", document.ErrBroken)
	}
	r.doc = opened.Document
	return nil
}

// countPages counts the pages of the document.
func (r *fileReader) countPages() (int, error) {
	pages, err := r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: its pages cannot be counted", document.ErrBroken)
	case pages.PageCount > maxPages:
		return 0, fmt.Errorf("%w: %d pages, the limit is %d", document.ErrTooLarge, pages.PageCount, maxPages)
	}
	return pages.PageCount, nil
}
