package load

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/markup"
	"example.com/ragflow/internal/ocr"
)

// Reasons for not reading a file, to be matched with errors.Is.
var (
	ErrNoLoader  = document.ErrNoLoader
	ErrBinary    = errors.New("binary file")
	ErrTooLarge  = document.ErrTooLarge
	ErrBroken    = document.ErrBroken
	ErrEncrypted = document.ErrEncrypted
	ErrNoText    = document.ErrNoText
)

// Limits limit reading. The zero value has the defaults.
type Limits struct {
	MaxBytes int64         // of a file; default 64 MiB. Source code has 1 MiB at most, HTML 32 MiB
	MaxTime  time.Duration // for reading one file; default five minutes, with OCR an hour
	OCR      *ocr.Reader   // reads the pages of PDFs that are pictures; nil: they are left out

	depth int // of files in which the file is
}

const (
	defaultMaxBytes = 64 << 20
	maxSource       = 1 << 20 // of source code; larger files are generated
	defaultMaxTime  = 5 * time.Minute
	defaultOCRTime  = time.Hour
)

// Load reads a file and its metadata file: page.md.meta.yaml (or .yml, or .json) describes
// page.md as front matter does. Errors are *folder.FileError; see ErrBinary and ErrTooLarge.
// An empty file is a document without text. The end of ctx, too, ends the reading.
func Load(ctx context.Context, f folder.File, l Limits) (document.Document, error) {
	limit := l.MaxBytes
	if limit <= 0 {
		limit = defaultMaxBytes
	}
	if document.IsSource(f.Source) {
		limit = min(limit, maxSource)
	}
	data, err := read(f.Path, limit)
	if err != nil {
		return document.Document{}, &folder.FileError{Path: f.Path, Err: folder.Reason(err)}
	}
	doc, err := parse(ctx, f.Source, data, l)
	if err != nil {
		return document.Document{}, &folder.FileError{Path: f.Path, Err: err}
	}
	doc.Root = f.Root
	if beside := doc.sidecar(f.Path); beside != nil {
		doc.Hash = hashOf(data, beside)
	}
	return doc.Document, nil
}

const maxCompared = 1 << 20 // bytes of a file that Differs reads

// Differs reports whether the file at a path is gone or differs from the one that Load
// gave a hash. A file of more than 1 MiB counts as the same, and so does one that cannot be
// read.
func Differs(path, hash string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	data, err := read(path, maxCompared)
	if err != nil || hash == hashOf(data) {
		return false
	}
	beside, err := read(folder.Sidecar(path), maxFrontMatter)
	return err != nil || hash != hashOf(data, beside)
}

// hashOf returns the SHA-256 of the parts of a document, in hex.
func hashOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(p) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// read reads a file of at most so many bytes.
func read(name string, limit int64) ([]byte, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read from
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %s, the limit is %s", ErrTooLarge, inBytes(info.Size()), inBytes(limit))
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := io.Copy(data, io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > limit { // it grew, or has no fixed size
		return nil, fmt.Errorf("%w: more than %s", ErrTooLarge, inBytes(limit))
	}
	return data.Bytes(), nil
}

// Parse makes a document of a file's bytes; source is its path below the root and decides how it is read. The
// error wraps ErrBinary.
//
// UTF-8 is kept. UTF-16 is converted, with or without a byte order mark. Other files are in a detected
// encoding, such as Windows-1250 or Shift JIS, or in damaged UTF-8, whose invalid bytes become "?".
func Parse(ctx context.Context, source string, data []byte) (document.Document, error) {
	doc, err := parse(ctx, source, data, Limits{})
	return doc.Document, err
}

// draft is a document that is being read.
type draft struct {
	document.Document
	size  int         // of the file, in bytes
	depth int         // of files in which the file is
	ocr   *ocr.Reader // see Limits
}

func parse(ctx context.Context, source string, data []byte, l Limits) (draft, error) {
	doc := draft{Document: document.Document{Source: source, Kind: document.KindOf(source)}, size: len(data), depth: l.depth, ocr: l.OCR}
	if doc.Kind == "" {
		doc.Kind = document.Plain
	}
	doc.Hash = hashOf(data)
	most := cmp.Or(l.MaxTime, defaultMaxTime)
	if l.MaxTime == 0 && l.OCR != nil && doc.Kind == document.PDF {
		most = defaultOCRTime
	}
	if err := doc.readWithin(ctx, data, most); err != nil {
		return draft{}, err
	}
	switch {
	case hasExt(source, document.JSONEnds):
		doc.Blocks = []document.Block{{Start: doc.Body, End: len(doc.Text), Kind: document.KindCode}} // split between lines
	case doc.Kind == document.Plain && hasExt(source, document.TextEnds+" "+document.MarkupEnds):
		doc.Blocks = markup.Plain(doc.Text, doc.Body)
	}
	doc.Title = cmp.Or(doc.Title, doc.title())
	doc.URL = document.Address(doc.Meta)
	return doc, nil
}

// readWithin is read with a time limit. A library that panics or hangs has met a damaged file. A hanging one
// cannot be interrupted: its result is dropped.
func (d *draft) readWithin(ctx context.Context, data []byte, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: reading it took longer than %v", ErrBroken, limit))
	defer cancel()
	type result struct {
		draft
		err error
	}
	done := make(chan result, 1)
	go func() {
		r := result{draft: *d} // d is not used after the timeout
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: the reader of this kind of file failed: %v", ErrBroken, p)
			}
			done <- r
		}()
		r.err = r.read(ctx, data)
	}()
	select {
	case r := <-done:
		*d = r.draft
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read sets the text of a document, its encoding, blocks and metadata.
func (d *draft) read(ctx context.Context, data []byte) error {
	if len(data) == 0 {
		d.Encoding, d.Converted = "utf-8", d.Kind == document.HTML
		return nil
	}
	if read := archiveReaders[d.Kind]; read != nil {
		return d.readArchive(data, read)
	}
	switch d.Kind {
	case document.RTF:
		return d.readRTF(data)
	case document.HTML:
		return d.readHTML(data)
	case document.PDF:
		return d.readPDF(ctx, data)
	case document.EML, document.MBOX, document.MSG:
		return d.readMail(ctx, data)
	}
	if err := d.decode(data); err != nil {
		return err
	}
	if strings.HasPrefix(d.Text, "\uFEFF") {
		d.Body = len("\uFEFF")
	}
	switch d.Kind {
	case document.Markdown:
		d.frontMatter()
		d.readMarkdown()
	case document.Table:
		return d.readTable()
	case document.Notebook:
		return d.readNotebook()
	case document.ICS:
		return d.readICS()
	case document.VCF:
		return d.readVCF()
	}
	return nil
}

// readMarkdown finds the blocks of the text, which was written or generated as Markdown.
func (d *draft) readMarkdown() {
	if d.Kind == document.Table { // its rows are paragraphs
		return
	}
	blocks, why := markup.Markdown(d.Text, d.Body, d.Kind == document.Markdown)
	if d.Blocks = blocks; why != "" {
		d.Notes = append(d.Notes, "read as plain text: "+why)
	}
}

// archiveReaders read the formats whose files are archives of XML.
var archiveReaders = map[string]func(*draft, *archive, *builder) error{
	document.DOCX: (*draft).readDOCX, document.XLSX: (*draft).readXLSX, document.PPTX: (*draft).readPPTX, document.EPUB: (*draft).readEPUB,
	document.ODT: (*draft).readODT, document.ODS: (*draft).readODS, document.ODP: (*draft).readODP,
}

// hasExt reports whether a file has one of the extensions, in any case.
func hasExt(source, extensions string) bool {
	return document.HasWord(extensions, cmp.Or(path.Ext(source), "none"))
}

// title returns the document's title.
func (d *draft) title() string {
	if t := strings.TrimSpace(d.Meta["title"]); t != "" {
		return t
	}
	hasTitles := d.Kind == document.Markdown || hasExt(d.Source, document.MarkupEnds)
	for _, b := range d.Blocks {
		if hasTitles && b.Level == 1 && b.Heading != "" {
			return b.Heading
		}
	}
	name := strings.TrimSuffix(path.Base(d.Source), path.Ext(d.Source))
	if document.IsSource(d.Source) || name == "" {
		return path.Base(d.Source) // main.go and main.py are two
	}
	if folder := path.Base(path.Dir(d.Source)); (name == "_index" || name == "index") && folder != "." {
		return folder
	}
	return name
}

// inBytes formats a number of bytes.
func inBytes(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.Replace(fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)), ".0 ", " ", 1)
	case n >= 1<<10:
		return strings.Replace(fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)), ".0 ", " ", 1)
	}
	return fmt.Sprintf("%d bytes", n)
}
