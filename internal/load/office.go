package load

import (
	"cmp"
	"encoding/xml"
	"strings"
	"unicode"

	"example.com/ragflow/internal/document"
)

// officeReader writes the paragraphs, lists and tables of an office document while its XML is unpacked.
type officeReader struct {
	*builder
	roles  map[string]string             // of elements: one of those below, or the character that they represent
	more   func(e xml.StartElement) bool // other elements of a format; reports whether to read their content
	ended  func(name string)             // may be nil
	write  func(p *officeParagraph)      // writes a paragraph outside tables
	direct bool                          // text needs no element of its own in a paragraph

	open   []*officeParagraph // that of a text box is inside another one
	lists  int                // open lists
	tables int                // open tables; the text of inner ones belongs to the outer cell
	row    []string
	cell   strings.Builder
	aside  *strings.Builder // text of the open note or comment; nil outside
	hidden bool
	inText bool
	held   int // bytes of the open paragraphs and row
}

const (
	isParagraph = "paragraph"
	isTextRun   = "text"
	isListOpen  = "list"
	isTable     = "table"
	isRow       = "row"
	isCell      = "cell"
	isSkipped   = "skip"
)

type officeParagraph struct {
	text  strings.Builder
	style string
	level int    // of a heading
	title bool   // of the document, in OpenDocument
	list  string // of the item that it is
	depth int    // in lists
	label string // number of the item, bullet, or "" without
}

// labelledText returns the text of a paragraph in one line, with its number. A bullet is left out.
func (p *officeParagraph) labelledText() string {
	text := p.text.String()
	if p.label != bullet && strings.TrimSpace(text) != "" {
		text = p.label + " " + text
	}
	return strings.TrimSpace(text)
}

func (w *officeReader) start(e xml.StartElement) bool {
	switch role := w.roles[e.Name.Local]; role {
	case isSkipped:
		return false
	case isParagraph:
		w.open = append(w.open, &officeParagraph{depth: w.lists})
	case isTextRun:
		w.inText = true
	case isListOpen:
		w.lists++
	case isTable:
		if w.tables++; w.tables == 1 {
			w.endTable()
		}
	case isRow, isCell, "":
	default:
		w.put(role)
	}
	return w.more(e)
}

// top returns the innermost open paragraph; without one, a paragraph that is not written.
func (w *officeReader) top() *officeParagraph {
	if len(w.open) == 0 {
		return &officeParagraph{}
	}
	return w.open[len(w.open)-1]
}

func (w *officeReader) text(s string) {
	if w.inText || w.direct {
		w.put(strings.Map(document.Visible, s))
	}
}

func (w *officeReader) put(s string) {
	if len(w.open) > 0 && !w.hidden {
		w.top().text.WriteString(s)
		w.held += len(s)
	}
}

func (w *officeReader) end(name string) error {
	switch w.roles[name] {
	case isParagraph:
		switch p := w.top(); {
		case w.aside != nil:
			w.aside.WriteString(p.text.String() + " ")
		case w.tables > 0:
			w.cell.WriteString(p.labelledText() + " ")
			w.held += len(p.label)
		default:
			w.held = 0
			w.write(p)
		}
		w.open = w.open[:max(len(w.open)-1, 0)]
	case isTextRun:
		w.inText = false
	case isListOpen:
		w.lists--
	case isTable:
		if w.tables = max(w.tables-1, 0); w.tables == 0 {
			w.endTable()
			w.writeNotes()
		}
	case isCell:
		if w.tables == 1 {
			w.row = append(w.row, w.cell.String())
			w.cell.Reset()
		}
	case isRow:
		if w.tables == 1 {
			w.tableRow(w.row)
			w.row, w.held = nil, 0
		}
	}
	if w.ended != nil {
		w.ended(name)
	}
	return w.overfull(w.held + 16*len(w.row))
}

// writeAround writes headers and footers, each once. One without letters is the number of the page.
func (w *builder) writeAround(texts []string) {
	if w.out.Len() == 0 {
		return // the document is made of pictures
	}
	seen := map[string]bool{}
	for _, part := range texts {
		kind, text, _ := strings.Cut(strings.Join(strings.Fields(part), " "), ": ")
		if !seen[text] && strings.ContainsFunc(text, unicode.IsLetter) {
			w.paragraph(kind + ": " + text)
		}
		seen[text] = true
	}
}

// aboutKeys are the elements with metadata in office documents and books.
var aboutKeys = map[string]string{
	"title": "title", "creator": "author", "initial-creator": "author", "subject": "subject", "keywords": "keywords",
	"keyword": "keywords", "description": "description", "category": "category", "version": "version", "language": "lang",
}

type element struct {
	XMLName xml.Name
	Text    string    `xml:",chardata"`
	Kids    []element `xml:",any"`
}

// about sets the metadata and the title of a document from a part of its archive, which may be missing.
func (d *draft) about(a *archive) {
	var root element
	_ = a.decode(a.about, &root) // partial data is enough
	meta := map[string]string{}
	var read func(e element)
	read = func(e element) {
		if key, value := aboutKeys[e.XMLName.Local], document.Short(e.Text); key != "" && value != "" {
			meta[key] = cmp.Or(meta[key], value)
		}
		for _, kid := range e.Kids {
			read(kid)
		}
	}
	read(root)
	d.Title = cmp.Or(d.Title, programTitle(meta["title"]), titleOf(d.Blocks))
	if delete(meta, "title"); len(meta) > 0 {
		d.Meta = meta
	}
}
