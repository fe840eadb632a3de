package corpus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Kinds of documents.
const (
	Markdown = "markdown"
	Plain    = "text"
	HTML     = "html"
	PDF      = "pdf"
)

// Document is a file that was read.
type Document struct {
	Root      string            // as in File
	Source    string            // as in File
	Title     string            // of the front matter or page, else the first heading of level 1, else the file's name
	Kind      string            // Markdown, Plain, HTML or PDF
	Text      string            // valid UTF-8; what offsets of chunks count in
	Body      int               // offset of the text behind byte order mark and front matter
	Meta      map[string]string // front matter, or what a page says of itself: keys in lower case, lists joined by ", "; nil without
	URL       string            // where the document says it is published, always https; empty where it does not
	Hash      string            // SHA-256 of the file, in hex
	Encoding  string            // of the file: utf-8, utf-16le, utf-16be, windows-1252 or what a page declares
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
	case d.Kind == PDF:
		return 0
	case d.Kind == HTML:
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
	MaxTime  time.Duration // that reading a PDF may take; default two minutes
}

const defaultMaxBytes = 64 << 20

// Load reads a file. Errors are *FileError; see ErrBinary and ErrTooLarge.
// An empty file is a document without text.
func Load(f File, l Limits) (Document, error) {
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
	doc, err := parse(f.Source, data, l)
	if err != nil {
		return Document{}, &FileError{f.Path, err}
	}
	doc.Root = f.Root
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
		return nil, false, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, before.Size(), limit)
	}
	data := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	if _, err := io.Copy(data, io.LimitReader(r, limit+1)); err != nil {
		return nil, false, err
	}
	if int64(data.Len()) > limit { // it grew, or has no size of its own
		return nil, false, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
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
// UTF-8 is taken as it is. Files with a UTF-16 byte order mark are converted.
// A file that is not valid UTF-8 is Windows-1252 if it holds no multi-byte
// sequence that would be; otherwise it is damaged UTF-8, and each invalid byte
// is read as "?", which keeps all offsets where they are in the file.
func Parse(source string, data []byte) (Document, error) { return parse(source, data, Limits{}) }

func parse(source string, data []byte, l Limits) (Document, error) {
	doc := Document{Source: source, Kind: kindOf(source)}
	if doc.Kind == "" {
		doc.Kind = Plain
	}
	sum := sha256.Sum256(data)
	doc.Hash = hex.EncodeToString(sum[:])
	if doc.Kind == HTML || doc.Kind == PDF {
		if err := doc.readFormat(data, l); err != nil {
			return Document{}, err
		}
		doc.Title = cmp.Or(doc.Title, doc.title())
		doc.URL = address(doc.Meta)
		return doc, nil
	}
	if err := doc.decode(data); err != nil {
		return Document{}, err
	}
	if strings.HasPrefix(doc.Text, "\uFEFF") {
		doc.Body = len("\uFEFF")
	}
	if doc.Kind == Markdown {
		doc.frontMatter()
	}
	doc.Title = doc.title()
	doc.URL = address(doc.Meta)
	return doc, nil
}

// readFormat makes the text of a file that is not text itself, or not for
// people.
func (d *Document) readFormat(data []byte, l Limits) error {
	if len(data) == 0 {
		d.Encoding, d.Converted = "utf-8", true
		return nil
	}
	switch d.Kind {
	case PDF:
		return d.readPDF(data, cmp.Or(l.MaxTime, maxPDFTime))
	default:
		return d.readHTML(data)
	}
}

// kindOf returns the kind of a file by its extension, "" for unknown ones.
func kindOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return Markdown
	case ".txt", ".text", ".rst", ".adoc", ".asciidoc":
		return Plain
	case ".html", ".htm", ".xhtml":
		return HTML
	case ".pdf":
		return PDF
	}
	if isSource(name) {
		return Plain
	}
	return ""
}

// decode sets Text, Encoding and Converted.
func (d *Document) decode(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		d.Encoding = "utf-16le"
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		d.Encoding = "utf-16be"
	case bytes.IndexByte(data, 0) >= 0:
		return ErrBinary
	case utf8.Valid(data):
		d.Encoding, d.Text = "utf-8", string(data)
		return nil
	case legacy(data):
		d.Encoding = "windows-1252"
	default:
		s, n := replaceInvalid(data)
		d.Text, d.Encoding, d.Converted = s, "utf-8", true
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d invalid UTF-8 bytes read as ?", n))
		return nil
	}
	decoder := charmap.Windows1252.NewDecoder()
	if d.Encoding != "windows-1252" {
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	}
	out, err := decoder.Bytes(data)
	if err != nil || bytes.IndexByte(out, 0) >= 0 {
		return ErrBinary
	}
	d.Text, d.Converted = string(out), true
	d.Warnings = append(d.Warnings, "converted from "+d.Encoding)
	return nil
}

// legacy reports whether data holds bytes above ASCII, but no two of them make
// a rune.
func legacy(data []byte) bool {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r >= utf8.RuneSelf && n > 1 {
			return false
		}
		data = data[n:]
	}
	return true
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
	if d.Kind == Markdown {
		for _, b := range markdownBlocks(d.Text, d.Body) {
			if b.level == 1 && b.heading != "" {
				return b.heading
			}
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
