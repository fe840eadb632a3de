package load

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// odtRoles are the elements of an OpenDocument text. Tracked deletions and annotations are
// left out.
var odtRoles = map[string]string{
	"p": isParagraph, "h": isParagraph, "list": isListOpen, "table": isTable, "table-row": isRow, "table-cell": isCell, "covered-table-cell": isCell,
	"s": " ", "tab": "\t", "line-break": "\n",
	"annotation": isSkipped, "tracked-changes": isSkipped, "note-citation": isSkipped, "title": isSkipped, "desc": isSkipped,
}

// openODF opens a file in the OpenDocument format.
func openODF(data []byte) (*archive, error) {
	a, err := openArchive(data)
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Encryption []struct{} `xml:"file-entry>encryption-data"`
	}
	if _ = a.decode("META-INF/manifest.xml", &manifest); len(manifest.Encryption) > 0 { // it may be missing
		return nil, fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	}
	return a, nil
}

// readODT reads an OpenDocument text: paragraphs, headings, lists, tables and notes.
func (d *draft) readODT(data []byte) error {
	d.Encoding = "odt"
	a, err := openODF(data)
	if err != nil {
		return err
	}
	w := officeReader{builder: d.builder(), roles: odtRoles, direct: true}
	var note *strings.Builder // the open note
	w.more = func(e xml.StartElement) bool {
		switch e.Name.Local {
		case "h":
			level, err := strconv.Atoi(attribute(e, "outline-level"))
			if w.top().level = 1; err == nil {
				w.top().level = max(level, 1)
			}
		case "note-body":
			note = &strings.Builder{}
		}
		return true
	}
	w.ended = func(name string) {
		if name == "note-body" && note != nil {
			w.note(note.String())
			note = nil
		}
	}
	w.write = func(p *officeParagraph) {
		text := p.text.String()
		switch {
		case note != nil:
			note.WriteString(text + " ")
			return
		case strings.TrimSpace(text) == "":
		case p.level > 0:
			w.heading(p.level, text)
		case p.depth > 0:
			w.item(p.depth-1, text)
		default:
			w.paragraph(text)
		}
		w.writeNotes()
	}
	if err := a.stream("content.xml", &w); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	w.finish(d)
	d.about(a, "meta.xml")
	return nil
}
