package pdf

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/ocr"
)

// Memory is the most that the reader takes for one PDF, in bytes, beside twice the file.
const Memory = 64 << 20

const (
	maxPages      = 20_000
	maxText       = 48 << 20  // bytes of lines
	lineCost      = 128       // bytes of a line or a cell, without its text
	maxPageChars  = 1_000_000 // characters of a page
	maxReaders    = 2         // PDFs read at a time
	maxHanging    = 64        // hanging readers after which no more PDFs are read
	maxPageLabel  = 40        // bytes; a longer one is no number
	picturesToSee = 200       // objects of a page that are searched for pictures
)

// engine is PDFium, the PDF reader of the Chrome browser, compiled to WebAssembly. It runs in a sandbox
// without files, network or clock. The first start on a machine compiles for some seconds; the result is
// cached in the user's cache folder.
var engine = sync.OnceValues(func() (pdfium.Pool, error) { return start(false) })

// drawing is the same, compiled so that its calls can be stopped. Without that, not even a garbage collection can
// interrupt them, and all of the program waits. It takes up to twice the time, three times for large pictures.
var drawing = sync.OnceValues(func() (pdfium.Pool, error) { return start(true) })

func start(stoppable bool) (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(Memory / (64 << 10)).WithCloseOnContextDone(stoppable)
	if folder, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "ragflow", "pdf")); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: maxHanging, FSConfig: wazero.NewFSConfig(), RuntimeConfig: config,
		Stdout: io.Discard, Stderr: io.Discard, RandomSource: zeros{},
	})
	if err != nil {
		return nil, err
	}
	return pool, warm(pool)
}

// slots limits the PDFs read at a time.
//
//nolint:gochecknoglobals // of the one engine
var slots = make(chan struct{}, maxReaders)

// zeros is a source of random numbers that makes the reader deterministic.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// File is the content of a PDF.
type File struct {
	Text   string            // in Markdown; "" without text
	Pages  []int             // where in Text pages begin
	Labels []string          // of pages; nil if they are the numbers from 1
	Title  string            // of its metadata
	Fields map[string]string // more metadata: author, subject, keywords

	Recognised int    // pages whose text was recognised in pictures
	Pictures   int    // pages that are pictures, without text
	Tried      bool   // OCR has read such pages
	Again      bool   // another try of OCR may help
	Fault      string // of the first page that OCR could not read
}

// Read reads a PDF; reader, which may be nil, reads its scanned pages. Nothing in it is executed or fetched. A call
// of the engine cannot be interrupted: when ctx ends, another PDF gets its slot.
func Read(ctx context.Context, data []byte, reader *ocr.Reader) (File, error) {
	r, err := read(ctx, data, reader)
	if err != nil {
		return File{}, err
	}
	return r.file(), nil
}

// read reads the lines of a PDF.
func read(ctx context.Context, data []byte, reader *ocr.Reader) (*fileReader, error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	context.AfterFunc(ctx, func() { <-slots })
	r, err := newReader(ctx, engine, len(data))
	if err != nil {
		return nil, err
	}
	r.ocr = reader
	return r, r.read(data)
}

type fileReader struct {
	pdfium.Pdfium
	ctx   context.Context //nolint:containedctx // of one call of Read
	doc   references.FPDF_DOCUMENT
	ocr   *ocr.Reader // nil: none
	size  int         // of the file
	pages [][]textLine
	scans []int // pages with pictures but without text, from 0
	seen  []int // pages whose text was recognised, from 0
	found File  // without its text
}

func (r *fileReader) read(data []byte) error {
	defer func() { _ = r.Close() }() // frees memory
	if err := r.open(data); err != nil {
		return err
	}
	count, err := r.countPages()
	if err != nil {
		return err
	}
	size := 0
	for i := range count {
		lines, err := r.page(i)
		if err != nil {
			return err
		}
		for _, l := range lines {
			size += len(l.text) + lineCost
			if l.table != nil {
				cells, text := l.table.size()
				size += text + cells*lineCost
			}
		}
		if size > maxText {
			return fmt.Errorf("%w: more than %d MiB of text in it", document.ErrTooLarge, maxText>>20)
		}
		r.pages = append(r.pages, lines)
	}
	r.about()
	r.labels(count)
	r.recognise()
	return r.ctx.Err()
}

// page reads the lines of a page. A damaged page has none.
func (r *fileReader) page(i int) (lines []textLine, err error) {
	page, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: i})
	if err != nil {
		_, err = r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
		if err != nil { // the engine itself failed
			err = fmt.Errorf("%w: the PDF reader gave up: %w", document.ErrBroken, err)
		}
		return nil, err
	}
	defer func() { _, _ = r.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	at := requests.Page{ByReference: &page.Page}
	if text, err := r.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at}); err == nil {
		t := pageReader{reader: r, ref: at, text: text.TextPage, page: i, tables: map[int][]*table{}}
		if err = t.read(); err == nil {
			t.findTables()
		}
		_, _ = r.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
		if lines = t.lines; err != nil {
			return nil, err
		}
	}
	if len(lines) == 0 && r.hasPictures(at) {
		r.scans = append(r.scans, i)
	}
	return lines, nil
}

// hasPictures searches the first objects of a page.
func (r *fileReader) hasPictures(page requests.Page) bool {
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
func (r *fileReader) labels(pages int) {
	labels, differ := make([]string, pages), false
	for i := range labels {
		number := strconv.Itoa(i + 1)
		labels[i] = number
		if l, err := r.FPDF_GetPageLabel(&requests.FPDF_GetPageLabel{Document: r.doc, Page: i}); err == nil {
			if label := document.Short(l.Label); label != "" && len(label) <= maxPageLabel {
				labels[i], differ = label, differ || label != number
			}
		}
	}
	if differ {
		r.found.Labels = labels
	}
}

// about reads the metadata of the file.
func (r *fileReader) about() {
	meta, err := r.GetMetaData(&requests.GetMetaData{Document: r.doc, Tags: &[]string{"Title", "Author", "Subject", "Keywords"}})
	if err != nil {
		return
	}
	r.found.Fields = map[string]string{}
	for _, tag := range meta.Tags {
		switch value := document.Short(strings.Map(document.Visible, tag.Value)); {
		case value == "":
		case tag.Tag == "Title":
			r.found.Title = value
		default:
			r.found.Fields[strings.ToLower(tag.Tag)] = value
		}
	}
}
