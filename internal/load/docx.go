package load

import (
	"cmp"
	"encoding/xml"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// docxRoles are the elements of a Word document. Deleted text and earlier properties are left out.
var docxRoles = map[string]string{
	"p": isParagraph, "t": isTextRun, "tbl": isTable, "tr": isRow, "tc": isCell,
	"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": "•",
	"tabs": isSkipped, "del": isSkipped, "moveFrom": isSkipped, "instrText": isSkipped, "delText": isSkipped, "Fallback": isSkipped, "sdtPr": isSkipped,
	"pPrChange": isSkipped, "rPrChange": isSkipped,
}

// docxAside matches the parts of a document beside its text.
var docxAside = regexp.MustCompile(`^word/(footnote|endnote|comment|header|footer)s?\d*\.xml$`)

// readDOCX reads a Word document: paragraphs, headings, lists, tables, footnotes, endnotes and comments; at
// the end its headers and footers, each once. Hidden text is left out.
func (d *draft) readDOCX(a *archive, out *builder) error {
	w := docxReader{officeReader: officeReader{builder: out, roles: docxRoles}, notes: map[string]*docxNote{}}
	var err error
	if w.styles, w.lists, err = docxStyles(a); err != nil {
		d.Warnings = append(d.Warnings, "the numbers of its lists were left out: "+err.Error())
	}
	w.more, w.write = w.element, w.paragraph
	var around []string // headers and footers
	for _, part := range slices.Sorted(maps.Keys(a.files)) {
		kind := docxAside.FindStringSubmatch(part)
		if kind == nil {
			continue
		}
		if err := w.readNotes(a, part); err != nil {
			d.Warnings = append(d.Warnings, "its "+kind[1]+"s were left out: "+err.Error())
		} else if note := w.notes[part]; note != nil {
			around = append(around, strings.ToUpper(kind[1][:1])+kind[1][1:]+": "+note.text.String())
		}
	}
	main := "word/document.xml" // some programs add a number
	parts := a.relations("")
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if r := parts[id]; strings.HasSuffix(r.kind, "/officeDocument") && !a.has(main) {
			main = r.target
		}
	}
	if err := a.stream(main, &w); err != nil {
		return err
	}
	w.writeAround(around)
	d.Title = w.title
	return nil
}

type docxReader struct {
	officeReader
	styles map[string]docxParagraphStyle
	lists  map[string]*docxList
	notes  map[string]*docxNote // by kind and id, or by part
	title  string
	inRun  bool
}

// docxNote is a footnote, an endnote, a comment, a header or a footer.
type docxNote struct {
	author string
	text   strings.Builder
}

// readNotes reads a part with notes or comments, or a header or footer.
func (w *docxReader) readNotes(a *archive, part string) error {
	r := docxReader{officeReader: officeReader{builder: &builder{most: w.most}, roles: docxRoles}}
	around, field := false, false       // in a header or footer, and there in a number of pages, a date or the like
	r.write = func(*officeParagraph) {} // outside of notes there is no text
	r.more = func(e xml.StartElement) bool {
		key := part
		switch e.Name.Local {
		case "fldChar":
			field = around && attribute(e, "fldCharType") == "separate"
			return true
		case "fldSimple":
			return !around // its text is computed
		case "r":
			r.inRun, r.hidden = true, field
			return true
		case "footnote", "endnote", "comment":
			key = e.Name.Local + attribute(e, "id")
		case "hdr", "ftr":
			around = true
		default:
			return r.element(e)
		}
		note := &docxNote{author: attribute(e, "author")}
		w.notes[key], r.aside = note, &note.text
		r.most.text -= 64 // of memory
		kind := attribute(e, "type")
		return kind == "" || kind == "normal"
	}
	return a.stream(part, &r)
}

func (w *docxReader) element(e xml.StartElement) bool {
	p, val := w.top(), attribute(e, "val")
	n, err := strconv.Atoi(val)
	switch e.Name.Local {
	case "pStyle":
		p.style = val
	case "outlineLvl":
		if err == nil && n >= 0 && n < 9 {
			p.level = n + 1
		}
	case "numId":
		p.list = val
	case "ilvl":
		p.depth = max(0, min(n, 8))
	case "r":
		w.inRun, w.hidden = true, false
	case "vanish":
		w.hidden = w.inRun && val != "0" && val != "false"
	case "footnoteReference", "endnoteReference", "commentReference":
		kind := strings.TrimSuffix(e.Name.Local, "Reference")
		switch note := w.notes[kind+attribute(e, "id")]; {
		case note == nil:
		case kind == "comment":
			w.comment(note.author, note.text.String())
		default:
			w.note(note.text.String())
		}
		delete(w.notes, kind+attribute(e, "id"))
	}
	return true
}

func (w *docxReader) end(name string) error {
	switch name {
	case "r":
		w.inRun, w.hidden = false, false
	case "pPr":
		w.number(w.top())
	}
	return w.officeReader.end(name)
}

// number sets the level and the label of a paragraph by its properties, else by its style.
func (w *docxReader) number(p *officeParagraph) {
	style := w.styles[p.style]
	p.level = cmp.Or(p.level, style.level)
	if p.list == "" {
		p.list, p.depth = style.list, cmp.Or(p.depth, style.depth)
	}
	switch list := w.lists[p.list]; {
	case list != nil:
		p.label = list.next(p.depth)
	case p.list != "" && p.list != "0":
		p.label = bullet
	}
}

func (w *docxReader) paragraph(p *officeParagraph) {
	text := strings.TrimSpace(p.text.String())
	switch {
	case text == "":
	case w.styles[p.style].title && w.title == "" && w.out.Len() == 0:
		w.title = strings.Join(strings.Fields(text), " ")
		w.heading(1, text)
	case p.level > 0:
		w.heading(p.level, p.labelledText())
	default:
		w.labelled(p.label, p.depth, text)
	}
	w.writeNotes()
}
