package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"example.com/ragflow/internal/ocr"
)

// Limits of one PDF.
const (
	maxPDFPages   = 20_000
	maxPDFText    = 48 << 20              // bytes of lines
	pdfLineCost   = 128                   // bytes of a line or a cell, without its text
	maxPageChars  = 1_000_000             // characters of a page
	pdfMemory     = 64 << 20 / (64 << 10) // pages of 64 KiB
	pdfReaders    = 2                     // PDFs read at a time
	pdfHanging    = 64                    // hanging readers after which no more PDFs are read
	maxPageLabel  = 40                    // bytes; a longer one is no number
	picturesToSee = 200                   // objects of a page that are searched for pictures
)

// pdfEngine is PDFium, the PDF reader of the Chrome browser, compiled to WebAssembly. It runs in a sandbox
// without files, network or clock. The first start on a machine compiles for some seconds; the result is
// cached in the user's cache folder.
var pdfEngine = sync.OnceValues(func() (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pdfMemory)
	if folder, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "ragflow", "pdf")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	return webassembly.Init(webassembly.Config{
		MaxTotal: pdfHanging, FSConfig: wazero.NewFSConfig(), RuntimeConfig: config,
		Stdout: io.Discard, Stderr: io.Discard, RandomSource: zeros{},
	})
})

// pdfSlots limits the PDFs read at a time.
//
//nolint:gochecknoglobals // of the one engine
var pdfSlots = make(chan struct{}, pdfReaders)

// zeros is a source of random numbers that makes the reader deterministic.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// pdfFile is the content of a PDF.
type pdfFile struct {
	pages  [][]pdfLine
	scans  []int // pages with pictures but without text, from 0
	ocr    recognised
	labels []string // of pages; nil if they are the numbers from 1
	title  string
	fields map[string]string // metadata of the file
}

// readPDF reads a PDF. Nothing in it is executed or fetched. A call of the engine cannot be interrupted: when
// ctx ends, another PDF gets its slot.
func (d *draft) readPDF(ctx context.Context, data []byte) error {
	d.Converted, d.Encoding = true, "pdf"
	file, err := pdfContent(ctx, data, d.ocr)
	if err != nil {
		return err
	}
	return d.takePDF(&file)
}

// pdfContent reads the content of a PDF; reader, which may be nil, reads its scanned pages. The end of ctx frees its slot.
func pdfContent(ctx context.Context, data []byte, reader *ocr.Reader) (pdfFile, error) {
	select {
	case pdfSlots <- struct{}{}:
	case <-ctx.Done():
		return pdfFile{}, context.Cause(ctx)
	}
	context.AfterFunc(ctx, func() { <-pdfSlots })
	pool, err := pdfEngine()
	if err != nil {
		return pdfFile{}, fmt.Errorf("start the PDF reader: %w", err)
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return pdfFile{}, fmt.Errorf("start the PDF reader: %w", err)
	}
	r := pdfReader{Pdfium: instance, ctx: ctx, ocr: reader}
	err = r.read(data)
	return r.file, err
}

// pdfReader reads one document.
type pdfReader struct {
	pdfium.Pdfium
	ctx  context.Context //nolint:containedctx // of one call of readPDF
	doc  references.FPDF_DOCUMENT
	file pdfFile
	ocr  *ocr.Reader // nil: none
}

func (r *pdfReader) read(data []byte) error {
	defer func() { _ = r.Close() }() // frees memory
	opened, err := r.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data))})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	case err != nil:
		return fmt.Errorf("%w: it is no PDF that can be read", ErrBroken)
	}
	r.doc = opened.Document
	pages, err := r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	switch {
	case err != nil:
		return fmt.Errorf("%w: its pages cannot be counted", ErrBroken)
	case pages.PageCount > maxPDFPages:
		return fmt.Errorf("%w: %d pages, the limit is %d", ErrTooLarge, pages.PageCount, maxPDFPages)
	}
	size := 0
	for i := range pages.PageCount {
		lines, err := r.page(i)
		if err != nil {
			return err
		}
		for _, l := range lines {
			size += len(l.text) + pdfLineCost
			if l.table != nil {
				cells, text := l.table.size()
				size += text + cells*pdfLineCost
			}
		}
		if size > maxPDFText {
			return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(maxPDFText))
		}
		r.file.pages = append(r.file.pages, lines)
	}
	r.about()
	r.labels(pages.PageCount)
	r.recognise()
	return r.ctx.Err()
}

// page reads the lines of a page. A damaged page has none.
func (r *pdfReader) page(i int) (lines []pdfLine, err error) {
	page, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: i})
	if err != nil {
		_, err = r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
		if err != nil { // the engine itself failed
			err = fmt.Errorf("%w: the PDF reader gave up: %w", ErrBroken, err)
		}
		return nil, err
	}
	defer func() { _, _ = r.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	at := requests.Page{ByReference: &page.Page}
	if text, err := r.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at}); err == nil {
		t := pdfPage{reader: r, ref: at, text: text.TextPage, page: i, tables: map[int][]*pdfTable{}}
		if err = t.read(); err == nil {
			t.findTables()
		}
		_, _ = r.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
		if lines = t.lines; err != nil {
			return nil, err
		}
	}
	if len(lines) == 0 && r.hasPictures(at) {
		r.file.scans = append(r.file.scans, i)
	}
	return lines, nil
}

// hasPictures searches the first objects of a page.
func (r *pdfReader) hasPictures(page requests.Page) bool {
	const image, form = 3, 5 // FPDF_PAGEOBJ_IMAGE, FPDF_PAGEOBJ_FORM
	for i := range picturesToSee {
		object, err := r.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return false
		}
		kind, err := r.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err == nil && (kind.Type == image || kind.Type == form) {
			return true
		}
	}
	return false
}

// labels reads the numbers that pages bear.
func (r *pdfReader) labels(pages int) {
	labels, differ := make([]string, pages), false
	for i := range labels {
		number := strconv.Itoa(i + 1)
		labels[i] = number
		if l, err := r.FPDF_GetPageLabel(&requests.FPDF_GetPageLabel{Document: r.doc, Page: i}); err == nil {
			if label := shortText(l.Label); label != "" && len(label) <= maxPageLabel {
				labels[i], differ = label, differ || label != number
			}
		}
	}
	if differ {
		r.file.labels = labels
	}
}

// about reads the metadata of the file.
func (r *pdfReader) about() {
	meta, err := r.GetMetaData(&requests.GetMetaData{Document: r.doc, Tags: &[]string{"Title", "Author", "Subject", "Keywords"}})
	if err != nil {
		return
	}
	r.file.fields = map[string]string{}
	for _, tag := range meta.Tags {
		switch value := shortText(strings.Map(visibleRune, tag.Value)); {
		case value == "":
		case tag.Tag == "Title":
			r.file.title = programTitle(value)
		default:
			r.file.fields[strings.ToLower(tag.Tag)] = value
		}
	}
}
