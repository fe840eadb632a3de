package document

import (
	"sort"
	"strings"

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
	ODS      = "ods"  // OpenDocument spreadsheet
	ODP      = "odp"  // OpenDocument presentation
	EPUB     = "epub"
	Table    = "table" // CSV and TSV
	XLSX     = "xlsx"  // a workbook
	PPTX     = "pptx"  // a presentation
	EML      = "eml"   // a mail
	MBOX     = "mbox"  // a mailbox
	MSG      = "msg"   // a mail of Outlook
	ICS      = "ics"   // a calendar
	VCF      = "vcf"   // contacts
	RTF      = "rtf"
	Notebook = "notebook" // Jupyter
)

// Document is the content of a file.
type Document struct {
	Root      string            // the folder or file that was indexed
	Source    string            // path under the root, with slashes
	Title     string            // of the front matter or page, else the first heading of level 1, else the file's name
	Kind      string            // one of the kinds above
	Text      string            // valid UTF-8; offsets of chunks count in its bytes
	Body      int               // offset of the text behind byte order mark and front matter
	Meta      map[string]string // front matter, or what a page says of itself: keys in lower case, lists joined by ", "; nil without
	Metadata  state.Metadata    // Meta with typed values, of front matter and of a metadata file; nil: Meta is all
	URL       string            // published address declared by the document, always https; "" without one
	Hash      string            // SHA-256 of the file and its metadata file, in hex
	Encoding  string            // of the file: utf-8, utf-16le, windows-1250, shift_jis …; the format of archives and PDFs
	Converted bool              // Text differs from the file, so its offsets are not those of the file; always for HTML
	Warnings  []string          // what of the file was not read, and why
	Notes     []string          // how the file was read despite its faults, such as another encoding; nothing is missing

	Blocks []Block  // nil: the document is made of Paragraphs
	Places []Place  // the lines of the file that Text comes from; nil without lines
	Pages  []int    // where in Text pages begin
	Labels []string // the numbers that the pages bear, such as iv; nil if they count from 1
}

// Line returns the line of the file, from 1, of the text at an offset; 0 if the file has no lines. An offset
// beyond the text counts as its end.
func (d *Document) Line(offset int) int {
	offset = max(min(offset, len(d.Text)), 0)
	switch d.Kind {
	case HTML, PDF, DOCX, ODT, ODP, EPUB, PPTX, EML, MBOX, MSG, RTF:
		return 0
	}
	if d.Places != nil {
		return lineOf(d.Places, offset)
	}
	return 1 + strings.Count(d.Text[:offset], "\n")
}

// Page returns the page of the text at an offset, from 1; 0 if the file has no pages. An offset beyond the
// text counts as its end.
func (d *Document) Page(offset int) int {
	return sort.Search(len(d.Pages), func(i int) bool { return d.Pages[i] > offset })
}

// Place maps an offset in the text to a line of the file.
type Place struct {
	Offset int // of the first text of the line
	Line   int // of the file, from 1
}

// lineOf returns the line of the file for an offset in the text.
func lineOf(places []Place, offset int) int {
	i := sort.Search(len(places), func(i int) bool { return places[i].Offset > offset })
	if i == 0 {
		return 1
	}
	return places[i-1].Line
}

// Block is a part of a document that stays whole if it fits into a chunk. The blocks of a
// document follow each other without gaps.
type Block struct {
	Start, End int
	Kind       string   // text, code, table or list
	Level      int      // of a heading, 0 for other blocks
	Heading    string   // its text
	Parts      []Block  // that it may be split into; nil: lines or sentences
	Path       []string // headings above it, set by package chunk
	Depth      int      // level of the innermost heading of Path
	Inside     string   // for all parts but the first of a block of code: the line that opens the block
}

// Kinds of blocks and chunks.
const (
	KindText  = "text"
	KindCode  = "code"
	KindTable = "table"
	KindList  = "list"
	KindMixed = "mixed"
)
