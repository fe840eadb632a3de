package load

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ragflow/state"
)

// Kinds of documents.
const (
	Markdown = "markdown"
	Plain    = "text"
	HTML     = "html"
	PDF      = "pdf"
	DOCX     = "docx" // Word
	ODT      = "odt"  // OpenDocument text
	EPUB     = "epub"
	Notebook = "notebook"
	JSON     = "json"  // also JSON lines
	Table    = "table" // CSV and TSV
)

// Document is a file that was read.
type Document struct {
	Root      string            // as in File
	Source    string            // as in File
	Title     string            // of the front matter or page, else the first heading of level 1, else the file's name
	Kind      string            // one of the kinds above
	Text      string            // valid UTF-8; what offsets of chunks count in
	Body      int               // offset of the text behind byte order mark and front matter
	Meta      map[string]string // front matter, or what a page says of itself: keys in lower case, lists joined by ", "; nil without
	Metadata  state.Metadata    // the same with its kinds, of front matter and of a file beside the document; nil: Meta says it all
	URL       string            // where the document says it is published, always https; empty where it does not
	Links     []state.Link      // to other documents: of the text, and of the relations that Meta tells of; each once, in order
	Hash      string            // SHA-256 of the file, with the metadata beside it, in hex
	Encoding  string            // of the file: utf-8, utf-16le, windows-1250, shift_jis, … or what a page declares; of archives and PDFs, their format
	Converted bool              // Text differs from the file, so offsets do not lead into it; that of HTML always does
	Warnings  []string          // what was wrong and how it was read all the same

	blocks []block     // of formats whose structure the text does not show
	places []linePlace // the lines of the file that Text comes from, where it was made of them
	pages  []int       // where in Text pages begin
}

// Line returns the line of the file, from 1, that the text at an offset stands
// in; 0 where the file has no lines. An offset beyond the text counts as its end.
func (d *Document) Line(offset int) int {
	offset = max(min(offset, len(d.Text)), 0)
	switch {
	case d.Kind == PDF || d.Kind == DOCX || d.Kind == ODT || d.Kind == EPUB:
		return 0
	case d.places != nil:
		return lineOf(d.places, offset)
	}
	return 1 + strings.Count(d.Text[:offset], "\n")
}

// Page returns the page that the text at an offset stands on, from 1; 0 where
// the file has no pages. An offset beyond the text counts as its end.
func (d *Document) Page(offset int) int {
	return sort.Search(len(d.pages), func(i int) bool { return d.pages[i] > offset })
}

// Limits bound what is read. The zero Limits are the defaults.
type Limits struct {
	MaxBytes int64         // of a file; default 64 MiB. Source code has 1 MiB at most, HTML 32 MiB
	MaxTime  time.Duration // that reading a PDF may take; default five minutes
}

const defaultMaxBytes = 64 << 20

// Load reads a file, and the metadata beside it: page.md.meta.yaml (or .yml, or
// .json) says more of page.md, as front matter does. Errors are *FileError; see ErrBinary and ErrTooLarge.
// An empty file is a document without text. ctx ends what takes long: a PDF.
func Load(ctx context.Context, f File, l Limits) (Document, error) {
	limit := l.MaxBytes
	if limit <= 0 {
		limit = defaultMaxBytes
	}
	if isSource(f.Source) {
		limit = min(limit, maxSource)
	}
	data, changed, err := read(f.Path, limit)
	if err != nil {
		return Document{}, &FileError{f.Path, reason(err)}
	}
	doc, err := parse(ctx, f.Source, data, l)
	if err != nil {
		return Document{}, &FileError{f.Path, err}
	}
	if f.Path != f.Root { // one that is named itself is wanted
		if err := generated(f.Source, doc.Text); err != nil {
			return Document{}, &FileError{f.Path, err}
		}
	}
	doc.Root = f.Root
	if beside := doc.sidecar(f.Path); beside != nil {
		sum := sha256.Sum256(append(slices.Clip(data), beside...))
		doc.Hash = hex.EncodeToString(sum[:])
	}
	if changed {
		doc.Warnings = append(doc.Warnings, "it was written to while it was read")
	}
	return doc, nil
}

// read reads a file and reports whether it changed meanwhile.
func read(name string, limit int64) (_ []byte, changed bool, err error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = r.Close() }() // only read from
	before, err := r.Stat()
	if err != nil {
		return nil, false, err
	}
	if before.Size() > limit {
		return nil, false, fmt.Errorf("%w: %s, the limit is %s", ErrTooLarge, inBytes(before.Size()), inBytes(limit))
	}
	data := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	if _, err := io.Copy(data, io.LimitReader(r, limit+1)); err != nil {
		return nil, false, err
	}
	if int64(data.Len()) > limit { // it grew, or has no size of its own
		return nil, false, fmt.Errorf("%w: more than %s", ErrTooLarge, inBytes(limit))
	}
	after, err := r.Stat()
	if err != nil {
		return nil, false, err
	}
	changed = after.Size() != int64(data.Len()) || !after.ModTime().Equal(before.ModTime())
	return data.Bytes(), changed && after.Size() > 0, nil
}

// Parse makes a document of a file's bytes; source is its path under the root
// and decides how it is read. The error wraps ErrBinary.
//
// UTF-8 is taken as it is. UTF-16 and UTF-32 are converted, with a byte order
// mark or without. A file that is not valid UTF-8 is of an encoding that is
// found by what it says, such as Windows-1250 or Shift JIS, or it is damaged
// UTF-8: then each invalid byte is read as "?", which keeps all offsets where
// they are in the file.
func Parse(ctx context.Context, source string, data []byte) (Document, error) {
	return parse(ctx, source, data, Limits{})
}

func parse(ctx context.Context, source string, data []byte, l Limits) (Document, error) {
	doc := Document{Source: source, Kind: kindOf(source)}
	if doc.Kind == "" {
		doc.Kind = Plain
	}
	sum := sha256.Sum256(data)
	doc.Hash = hex.EncodeToString(sum[:])
	if err := doc.read(ctx, data, l); err != nil {
		return Document{}, err
	}
	doc.findLinks()
	doc.Title = cmp.Or(doc.Title, doc.title())
	doc.URL = address(doc.Meta)
	return doc, nil
}

// read sets the text of a document and what is known of it.
func (d *Document) read(ctx context.Context, data []byte, l Limits) error {
	if len(data) == 0 {
		d.Encoding, d.Converted = "utf-8", d.Kind == HTML
		return nil
	}
	switch d.Kind {
	case PDF:
		return d.readPDF(ctx, data, cmp.Or(l.MaxTime, maxPDFTime))
	case DOCX:
		return d.readDOCX(data)
	case ODT:
		return d.readODT(data)
	case EPUB:
		return d.readEPUB(data)
	case HTML:
		return d.readHTML(data)
	case JSON, Table, Notebook:
		if len(data) > maxData {
			return fmt.Errorf("%w: %s of data, the limit is %s", ErrTooLarge, inBytes(int64(len(data))), inBytes(maxData))
		}
	}
	if err := d.decode(data); err != nil {
		return err
	}
	if strings.HasPrefix(d.Text, "\uFEFF") {
		d.Body = len("\uFEFF")
	}
	if d.Kind == Plain {
		d.Kind = sniff(d.Source, d.Text[d.Body:])
	}
	switch d.Kind {
	case Markdown:
		d.frontMatter()
		d.warnOfBudget()
	case Notebook:
		return d.readNotebook()
	case Table:
		return d.readTable()
	case JSON:
		if strings.EqualFold(path.Ext(d.Source), ".json") {
			return d.readJSON()
		}
		return d.readJSONLines()
	}
	return nil
}

// kindOf returns the kind of a file by its extension, "" for unknown ones.
func kindOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return Markdown
	case ".txt", ".text", ".adoc", ".asciidoc", ".rst":
		return Plain
	case ".html", ".htm", ".xhtml":
		return HTML
	case ".pdf":
		return PDF
	case ".docx", ".docm":
		return DOCX
	case ".odt":
		return ODT
	case ".epub":
		return EPUB
	case ".ipynb":
		return Notebook
	case ".csv", ".tsv":
		return Table
	case ".json", ".jsonl", ".ndjson":
		if !lockFile(strings.ToLower(filepath.Base(name))) {
			return JSON
		}
	}
	if isSource(name) {
		return Plain
	}
	return ""
}

func replaceInvalid(data []byte) (string, int) {
	out, n := bytes.Clone(data), 0
	for i := 0; i < len(out); {
		r, size := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && size == 1 {
			out[i] = '?'
			n++
		}
		i += size
	}
	return string(out), n
}

// title returns the document's title.
func (d *Document) title() string {
	if t := strings.TrimSpace(d.Meta["title"]); t != "" {
		return t
	}
	var blocks []block
	switch d.Kind {
	case Markdown:
		blocks = markdownBlocks(d.Text, d.Body)
	case Plain:
		if isMarkup(d.Source) {
			blocks = titledBlocks(d.Text, d.Body)
		}
	case Notebook:
		blocks = d.blocks
	}
	for _, b := range blocks {
		if b.level == 1 && b.heading != "" {
			return b.heading
		}
	}
	name := strings.TrimSuffix(path.Base(d.Source), path.Ext(d.Source))
	if isSource(d.Source) || name == "" {
		return path.Base(d.Source) // main.go and main.py are two
	}
	if folder := path.Base(path.Dir(d.Source)); (name == "_index" || name == "index") && folder != "." {
		return folder
	}
	return name
}
