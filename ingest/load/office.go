package load

import (
	"encoding/xml"
	"maps"
	"strings"
	"unicode/utf8"
)

// officeReader writes the paragraphs, lists and tables of a document of an office program
// while its XML is unpacked.
type officeReader struct {
	builder
	roles  map[string]string             // of elements: one of those below, or the character that they stand for
	more   func(e xml.StartElement) bool // what one format has besides; reports whether to read what is inside
	ended  func(name string)             // may be nil
	write  func(p *officeParagraph)      // writes a paragraph that is in no table
	direct bool                          // text needs no element of its own in a paragraph

	open   []*officeParagraph // that of a text box is inside another one
	lists  int                // that are open
	tables int                // that are open; the text of inner ones belongs to the cell around it
	row    []string
	cell   strings.Builder
	hidden bool
	inText bool
	held   int // bytes of the open paragraphs and row
}

// Roles of elements.
const (
	isParagraph = "paragraph"
	isTextRun   = "text"
	isListOpen  = "list"
	isTable     = "table"
	isRow       = "row"
	isCell      = "cell"
	isSkipped   = "skip"
)

// officeParagraph is a paragraph that is read.
type officeParagraph struct {
	text  strings.Builder
	style string
	level int    // of a heading
	list  string // that it is an item of
	depth int    // in lists
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

// top is the innermost open paragraph; where none is open, one that is not written.
func (w *officeReader) top() *officeParagraph {
	if len(w.open) == 0 {
		return &officeParagraph{}
	}
	return w.open[len(w.open)-1]
}

func (w *officeReader) text(s string) {
	if w.inText || w.direct {
		w.put(strings.Map(officeRune, s))
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
		if p := w.top(); w.tables > 0 {
			w.cell.WriteString(p.text.String() + " ")
		} else {
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

// officeRune is a character of a text in XML: white space as a space, and -1
// for what cannot be seen.
func officeRune(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return visibleRune(r)
}

// aboutReader reads what a document says of itself.
type aboutReader struct {
	values map[string]string
	key    string // of the value that is read
}

// aboutKeys are the elements that documents of office programs and books describe themselves
// with.
var aboutKeys = map[string]string{
	"title": "title", "creator": "author", "initial-creator": "author", "subject": "subject", "keywords": "keywords",
	"keyword": "keywords", "description": "description", "category": "category", "version": "version", "language": "lang",
}

func (r *aboutReader) start(e xml.StartElement) bool {
	if key := aboutKeys[e.Name.Local]; key != "" && r.values[key] == "" {
		r.key = key
	}
	return true
}

func (r *aboutReader) text(s string) {
	if r.key != "" && utf8.RuneCountInString(r.values[r.key]) < longestTitle {
		r.values[r.key] += s
	}
}

func (r *aboutReader) end(string) error {
	r.key = ""
	return nil
}

// about sets the metadata of a document from a part of its archive, which may be missing, and
// its title.
func (d *draft) about(a *archive, part string) {
	r := aboutReader{values: map[string]string{}}
	_ = a.stream(part, &r) // what could be read is enough
	for key, value := range r.values {
		r.values[key] = shortText(value)
	}
	maps.DeleteFunc(r.values, func(_, value string) bool { return value == "" })
	d.Title = programTitle(r.values["title"])
	if delete(r.values, "title"); len(r.values) > 0 {
		d.Meta = r.values
	}
	if d.Title == "" {
		d.Title = titleOf(d.Blocks)
	}
}
