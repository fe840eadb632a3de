package load

import (
	"encoding/xml"
	"strconv"
	"strings"

	"example.com/ragflow/internal/document"
)

// odtRoles are the elements of an OpenDocument text. Tracked deletions are left out, and numbers of pages.
var odtRoles = map[string]string{
	"p": isParagraph, "h": isParagraph, "list": isListOpen, "table": isTable, "table-row": isRow, "table-cell": isCell, "covered-table-cell": isCell,
	"s": " ", "tab": "\t", "line-break": "\n",
	"tracked-changes": isSkipped, "note-citation": isSkipped, "title": isSkipped, "desc": isSkipped,
	"page-number": isSkipped, "page-count": isSkipped,
}

// readODT reads an OpenDocument text: paragraphs, headings, lists, tables, notes and comments; at the end its
// headers and footers, each once.
func (d *draft) readODT(a *archive, out *builder) error {
	w := odtReader{officeReader: officeReader{builder: out, roles: odtRoles, direct: true}, odtLists: newODTLists(), titles: map[string]bool{}}
	around, err := w.readStyles(a)
	if err != nil {
		d.Warnings = append(d.Warnings, "headers, footers and the numbers of headings were left out: "+err.Error())
	}
	w.more, w.ended, w.write = w.element, w.elementEnd, w.writeParagraph
	if err := a.stream("content.xml", &w); err != nil {
		return err
	}
	w.writeAround(around)
	d.Title = w.title
	return nil
}

type odtReader struct {
	officeReader
	odtLists
	comment  bool // the open aside is a comment
	byAuthor bool // the text is the name of its author
	author   string
	title    string
	titles   map[string]bool // styles made from that of the title
	around   []string        // headers and footers
}

// readStyles reads the styles of lists in a document, and returns its headers and footers.
func (w *odtReader) readStyles(a *archive) ([]string, error) {
	const part = "styles.xml"
	r := odtReader{officeReader: officeReader{builder: &builder{most: w.most}, roles: odtRoles, direct: true}, odtLists: newODTLists(), titles: map[string]bool{}}
	r.more, r.ended = r.element, r.elementEnd
	r.write = func(*officeParagraph) {} // outside of headers and footers there is no text
	var err error
	if a.has(part) {
		err = a.stream(part, &r)
	}
	w.odtLists = r.odtLists
	return r.around, err
}

// titleStyle is the style of the title of a document.
const titleStyle = "Title"

func (w *odtReader) element(e xml.StartElement) bool {
	switch name := e.Name.Local; name {
	case "p":
		p, style := w.top(), attribute(e, "style-name")
		p.label = w.label(w.lists)
		p.title = style == titleStyle || w.titles[style]
	case "style":
		if attribute(e, "parent-style-name") == titleStyle && len(w.titles) < maxLists {
			w.titles[attribute(e, "name")] = true
		}
		w.listElement(e)
	case "h":
		level, _ := strconv.Atoi(attribute(e, "outline-level")) // none is 1
		p := w.top()
		p.level = max(level, 1)
		if p.depth > 0 {
			p.label = w.label(p.depth)
		} else if attribute(e, "is-list-header") != "true" && !w.plain[attribute(e, "style-name")] {
			p.label = w.outlineCount.next(&w.outline, min(p.level, maxLevels)-1)
		}
	case "note-body", "annotation", "header", "header-left", "header-first", "footer", "footer-left", "footer-first":
		if w.aside != nil || name != "annotation" && attribute(e, "display") == "false" {
			return false // a comment in a note, or a header that is switched off
		}
		w.aside, w.comment, w.author = &strings.Builder{}, name == "annotation", ""
	case "creator":
		w.byAuthor = w.comment
	case "date", "date-string", "sender-initials", "creator-initials":
		return !w.comment
	default:
		w.listElement(e)
	}
	return true
}

func (w *odtReader) text(s string) {
	if w.byAuthor {
		w.author = document.Short(w.author + s)
		return
	}
	w.officeReader.text(s)
}

func (w *odtReader) elementEnd(name string) {
	if w.byAuthor = false; w.aside == nil {
		w.listEnd(name)
		return
	}
	text := w.aside.String()
	switch kind, _, _ := strings.Cut(name, "-"); {
	case name == "note-body":
		w.note(text)
	case name == "annotation":
		w.builder.comment(w.author, text)
	case kind == "header", kind == "footer":
		w.around = append(w.around, strings.ToUpper(kind[:1])+kind[1:]+": "+text)
	default:
		w.listEnd(name)
		return
	}
	w.aside, w.comment = nil, false
}

func (w *odtReader) writeParagraph(p *officeParagraph) {
	text := p.text.String()
	switch {
	case strings.TrimSpace(text) == "":
	case p.title && w.title == "" && w.out.Len() == 0:
		w.title = strings.Join(strings.Fields(text), " ")
		w.heading(1, text)
	case p.level > 0:
		w.heading(p.level, p.labelledText())
	default:
		w.labelled(p.label, max(p.depth-1, 0), text)
	}
	w.writeNotes()
}
