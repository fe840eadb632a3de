package load

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// readODT makes the text of an OpenDocument text: paragraphs, headings, lists,
// tables and notes. Tracked deletions and annotations are left out.
func (d *draft) readODT(data []byte) error {
	d.Encoding = "odt"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	if a.optional("META-INF/manifest.xml").child("manifest", "file-entry", "encryption-data") != nil {
		return fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	}
	content, err := a.tree("content.xml")
	if err != nil {
		return err
	}
	var w odtWriter
	w.write(content.child("document-content", "body", "text"), 0)
	if err := w.full(); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	w.finish(d)
	d.Meta, d.Title = officeMeta(a.optional("meta.xml").child("document-meta", "meta"))
	d.Title = cmp.Or(d.Title, titleOf(d.Blocks))
	return nil
}

// odtWriter writes the text of a document.
type odtWriter struct{ builder }

// write writes the children of an element, at a depth of lists.
func (w *odtWriter) write(e *element, depth int) {
	if e == nil {
		return
	}
	for _, k := range e.kids {
		switch k.name {
		case "h":
			level, err := strconv.Atoi(k.get("outline-level"))
			if err != nil || level < 1 {
				level = 1
			}
			w.heading(level, w.text(k))
		case "p":
			w.para(w.text(k), depth)
		case "table":
			w.table(w.rows(k))
		case "list":
			w.write(k, depth+1)
		case "list-item", "list-header", "section", "index-body", "table-of-content", "frame", "text-box":
			w.write(k, depth)
		}
	}
}

func (w *odtWriter) para(text string, depth int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if depth > 0 {
		w.item(depth-1, "-", text)
	} else {
		w.paragraph(text)
	}
	w.writeNotes()
}

// text is the text of a paragraph.
func (w *odtWriter) text(e *element) string {
	var b strings.Builder
	for _, k := range e.kids {
		switch k.name {
		case "":
			b.WriteString(strings.Map(officeRune, k.text))
		case "s":
			b.WriteByte(' ')
		case "tab":
			b.WriteByte('\t')
		case "line-break":
			b.WriteByte('\n')
		case "note":
			var note strings.Builder
			k.child("note-body").each("p", func(p *element) { note.WriteString(w.text(p) + " ") })
			w.note(note.String())
		case "annotation", "annotation-end", "tracked-changes", "frame":
		default:
			b.WriteString(w.text(k))
		}
	}
	return b.String()
}

// rows are the cells of a table.
func (w *odtWriter) rows(table *element) [][]string {
	var out [][]string
	table.each("table-row", func(r *element) {
		var row []string
		for _, c := range r.kids {
			if c.name != "table-cell" {
				continue
			}
			var b strings.Builder
			c.each("p", func(p *element) { b.WriteString(w.text(p) + " ") })
			row = append(row, b.String())
		}
		out = append(out, row)
	})
	return filled(out)
}
