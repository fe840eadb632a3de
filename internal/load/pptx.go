package load

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strconv"
	"strings"
)

var pptxRoles = map[string]string{
	"p": isParagraph, "t": isTextRun, "tbl": isTable, "tr": isRow, "tc": isCell, "br": " ", "Fallback": isSkipped,
}

// readPPTX reads a presentation: titles, texts, tables and the speaker's notes, slide by slide. Its pages are
// the slides. Text that the master or the layout puts on every slide, such as footers and dates, is left out.
func (d *draft) readPPTX(a *archive, out *builder) error {
	const main = "ppt/presentation.xml"
	var show struct {
		Slides []struct {
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if err := a.decode(main, &show); err != nil {
		return err
	}
	parts := a.relations(main)
	w := slideReader{officeReader: officeReader{builder: out, roles: pptxRoles}}
	w.more, w.ended, w.write = w.element, w.elementEnd, w.slideParagraph
	for i, slide := range show.Slides {
		d.Pages = append(d.Pages, w.next())
		var err error
		part := parts[relationID(slide.Attrs)].target
		if w.notes, w.number = false, i+1; part == "" {
			err = fmt.Errorf("%w: it is missing", ErrBroken)
		} else {
			err = a.stream(part, &w)
		}
		for _, r := range a.relations(part) {
			if w.notes = true; err == nil && strings.HasSuffix(r.kind, "/notesSlide") {
				err = a.stream(r.target, &w)
			}
		}
		if w.full() != nil || a.left < 0 {
			return err
		}
		if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("slide %d left out: %v", i+1, err))
		}
	}
	d.warnUnread(w.unread, "chart or diagram")
	return nil
}

type relation struct{ target, kind string }

// relationID returns the id of a relation among the attributes of an element.
func relationID(attrs []xml.Attr) string {
	for _, attr := range attrs {
		if attr.Name.Local == "id" && attr.Name.Space != "" {
			return attr.Value
		}
	}
	return ""
}

// relations reads the relations of a part of an office document, by id.
func (a *archive) relations(part string) map[string]relation {
	var all struct {
		Relations []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
			Mode   string `xml:"TargetMode,attr"`
		} `xml:"Relationship"`
	}
	dir, base := path.Split(part)
	_ = a.decode(dir+"_rels/"+base+".rels", &all) // a part without relations has no such file
	out := map[string]relation{}
	for _, r := range all.Relations {
		target, rooted := strings.CutPrefix(r.Target, "/")
		if !rooted {
			target = path.Join(dir, target)
		}
		if r.Mode != "External" {
			out[r.ID] = relation{target, r.Type}
		}
	}
	return out
}

type slideReader struct {
	officeReader
	number   int              // of the slide, from 1
	secret   string           // says that it is hidden, below its heading
	untitled string           // its heading if it begins without a title
	notes    bool             // it is read; these are the speaker's notes
	kind     string           // of the current shape
	first    *officeParagraph // of the shape, until another one follows
	texts    int              // paragraphs of the shape
	table    bool             // the current frame has a table
	unread   int              // charts and diagrams
}

// slide begins a slide. A hidden one has a heading in any case.
func (w *slideReader) slide(name string, hidden bool) {
	if w.secret, w.untitled = "", name; hidden {
		w.secret, w.untitled = "(hidden slide)", cmp.Or(name, fmt.Sprintf("Slide %d", w.number))
	}
}

// begun writes the heading of a slide, and whether it is hidden, before its first text.
func (w *slideReader) begun(heading string) {
	w.heading(1, heading)
	w.paragraph(w.secret)
	w.secret, w.untitled = "", ""
}

// next returns the start of the next block.
func (w *slideReader) next() int {
	if w.out.Len() == 0 {
		return 0
	}
	return w.out.Len() + len("\n\n")
}

func (w *slideReader) element(e xml.StartElement) bool {
	switch e.Name.Local {
	case "sld":
		show := attribute(e, "show")
		w.slide("", show == "0" || show == "false")
	case "sp":
		w.shape("")
	case "ph":
		w.kind = attribute(e, "type")
	case "pPr":
		depth, _ := strconv.Atoi(attribute(e, "lvl")) // none is 0
		w.top().depth = max(depth, 0)
	case "graphicFrame":
		w.table = false
	case "tbl":
		w.table = true
		w.begun(w.untitled)
	}
	return true
}

func (w *slideReader) shape(kind string) { w.kind, w.first, w.texts = kind, nil, 0 }

// shapeEnd writes the only paragraph of a shape.
func (w *slideReader) shapeEnd() {
	if w.first != nil {
		w.paragraph(w.first.text.String())
	}
	w.first = nil
}

func (w *slideReader) elementEnd(name string) {
	switch {
	case name == "graphicFrame" && !w.table:
		w.unread++
	case name == "sp":
		w.shapeEnd()
	}
}

// slideParagraph writes a paragraph of a shape: a title as a heading, several ones as a list.
func (w *slideReader) slideParagraph(p *officeParagraph) {
	text := strings.TrimSpace(p.text.String())
	switch {
	case text == "" || w.kind == "sldNum" || w.kind == "dt" || w.kind == "ftr" || w.notes && w.kind != "body":
	case w.notes:
		w.begun(w.untitled)
		w.paragraph("Note: " + text)
	case w.kind == "title" || w.kind == "ctrTitle":
		w.begun(text)
	default:
		w.begun(w.untitled)
		if w.texts++; w.texts == 1 {
			w.first = p
			return
		}
		if first := w.first; first != nil {
			w.item(first.depth, first.text.String())
			w.first = nil
		}
		w.item(p.depth, text)
	}
}
