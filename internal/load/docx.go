package load

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// docxRoles are the elements of a Word document. Headers, footers and comments are in other parts; deleted
// text is left out.
var docxRoles = map[string]string{
	"p": isParagraph, "t": isTextRun, "tbl": isTable, "tr": isRow, "tc": isCell,
	"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": "•",
	"tabs": isSkipped, "del": isSkipped, "moveFrom": isSkipped, "instrText": isSkipped, "delText": isSkipped, "Fallback": isSkipped, "sdtPr": isSkipped,
}

// maxNote is the maximum size of a footnote in bytes.
const maxNote = 64 << 10

// readDOCX reads a Word document: paragraphs, headings, lists, tables, footnotes and endnotes. Hidden text is
// left out.
func (d *draft) readDOCX(data []byte) error {
	d.Encoding = "docx"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	w := docxReader{
		officeReader: officeReader{builder: d.builder(), roles: docxRoles},
		styles:       docxStyles(a), notes: map[string]string{},
	}
	w.more, w.write = w.element, w.paragraph
	for _, part := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if err := w.readNotes(a, part); err != nil {
			d.Warnings = append(d.Warnings, "its notes were left out: "+err.Error())
		}
	}
	if err := a.stream("word/document.xml", &w); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	w.finish(d)
	d.about(a, "docProps/core.xml")
	d.Title = cmp.Or(w.title, d.Title)
	return nil
}

// docxValue is an element with its value in the attribute val.
type docxValue struct {
	Val string `xml:"val,attr"`
}

// docxStyle is the style of a paragraph.
type docxStyle struct {
	ID      string    `xml:"styleId,attr"`
	Name    docxValue `xml:"name"`
	BasedOn docxValue `xml:"basedOn"`
	Outline docxValue `xml:"pPr>outlineLvl"`
	List    docxValue `xml:"pPr>numPr>numId"`
	Depth   docxValue `xml:"pPr>numPr>ilvl"`
}

// level returns the level of the headings of a style, from 1; 0 for other styles.
func (s docxStyle) level() int {
	if n, err := strconv.Atoi(s.Outline.Val); err == nil && n >= 0 && n < 9 {
		return n + 1
	}
	name, ok := strings.CutPrefix(strings.ToLower(s.Name.Val), "heading ")
	if n, err := strconv.Atoi(name); ok && err == nil {
		return max(n, 0)
	}
	return 0
}

// docxStyles reads the styles by id, each with its inherited level and list.
func docxStyles(a *archive) map[string]docxParagraphStyle {
	var sheet struct {
		Styles []docxStyle `xml:"style"`
	}
	_ = a.decode("word/styles.xml", &sheet) // without styles, all is text
	own := map[string]docxStyle{}
	for _, s := range sheet.Styles {
		own[s.ID] = s
	}
	out := map[string]docxParagraphStyle{}
	for id, s := range own {
		depth, _ := strconv.Atoi(s.Depth.Val) // none is 0
		p := docxParagraphStyle{title: strings.EqualFold(s.Name.Val, "title"), depth: max(0, min(depth, 8))}
		for range 16 { // styles may be based on each other in circles
			p.level, p.list = cmp.Or(p.level, s.level()), cmp.Or(p.list, s.List.Val)
			s = own[s.BasedOn.Val]
		}
		out[id] = p
	}
	return out
}

// docxParagraphStyle is the style properties of a paragraph that matter here.
type docxParagraphStyle struct {
	title bool // of the document
	level int
	list  string
	depth int
}

// docxReader reads the text of a document.
type docxReader struct {
	officeReader
	styles map[string]docxParagraphStyle
	notes  map[string]string
	title  string
	inRun  bool
}

// readNotes reads footnotes or endnotes, if there are any.
func (w *docxReader) readNotes(a *archive, part string) error {
	if !a.has(part) {
		return nil
	}
	id := ""
	r := officeReader{builder: builder{most: w.most}, roles: docxRoles}
	r.more = func(e xml.StartElement) bool {
		if kind := e.Name.Local; kind == "footnote" || kind == "endnote" {
			id = kind + attribute(e, "id")
			t := attribute(e, "type")
			return t == "" || t == "normal"
		}
		return true
	}
	r.write = func(p *officeParagraph) {
		if p.text.Len() == 0 || len(w.notes[id]) > maxNote {
			return
		}
		w.notes[id] += p.text.String() + " "
		r.most.text -= p.text.Len()
	}
	return a.stream(part, &r)
}

// element reads elements specific to Word.
func (w *docxReader) element(e xml.StartElement) bool {
	p, val := w.top(), attribute(e, "val")
	n, err := strconv.Atoi(val)
	switch e.Name.Local {
	case "pStyle":
		style := w.styles[val]
		p.style, p.level, p.list, p.depth = val, style.level, style.list, style.depth
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
	case "footnoteReference", "endnoteReference":
		id := strings.TrimSuffix(e.Name.Local, "Reference") + attribute(e, "id")
		w.note(w.notes[id])
		delete(w.notes, id)
	}
	return true
}

func (w *docxReader) end(name string) error {
	if name == "r" {
		w.inRun, w.hidden = false, false
	}
	return w.officeReader.end(name)
}

func (w *docxReader) paragraph(p *officeParagraph) {
	text := strings.TrimSpace(p.text.String())
	switch {
	case text == "":
	case w.styles[p.style].title && w.title == "" && w.out.Len() == 0:
		w.title = strings.Join(strings.Fields(text), " ")
		w.heading(1, text)
	case p.level > 0:
		w.heading(p.level, text)
	case p.list != "" && p.list != "0":
		w.item(p.depth, text)
	default:
		w.builder.paragraph(text)
	}
	w.writeNotes()
}
