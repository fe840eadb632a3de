package load

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// readPPTX makes the text of a presentation: titles, texts, tables and the notes of the
// speaker, slide by slide. Its pages are the slides. Text that the master or the layout puts
// on every slide, such as footers and dates, is left out.
func (d *draft) readPPTX(data []byte) error {
	d.Encoding = "pptx"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	const main = "ppt/presentation.xml"
	root, err := a.tree(main)
	if err != nil {
		return err
	}
	parts := a.relations(main)
	var w slideWriter
	var starts []int
	root.child("presentation", "sldIdLst").each("sldId", func(e *element) {
		starts = append(starts, w.next())
		part := parts[relationID(e)].target
		slide, readErr := a.tree(part)
		if readErr != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("slide %d left out: %v", len(starts), readErr))
			return
		}
		w.shapes(slide.child("sld", "cSld", "spTree"))
		for _, r := range a.relations(part) {
			if strings.HasSuffix(r.kind, "/notesSlide") {
				w.notes(a.optional(r.target).child("notes", "cSld", "spTree"))
			}
		}
		err = cmp.Or(err, w.full())
	})
	switch {
	case err != nil:
		return err
	case w.out.Len() == 0:
		return fmt.Errorf("%w: %s, made of pictures or empty", ErrNoText, plural(len(starts), "slide"))
	}
	if w.unread > 0 {
		d.Warnings = append(d.Warnings, plural(w.unread, "chart or diagram")+" in it: not read")
	}
	w.finish(d)
	for i := range starts {
		starts[i] = min(starts[i], len(d.Text))
	}
	d.Pages = starts
	d.Meta, d.Title = officeMeta(a.optional("docProps/core.xml").child("coreProperties"))
	d.Title = cmp.Or(d.Title, titleOf(d.Blocks))
	return nil
}

// relation is where a part of an office document leads.
type relation struct{ target, kind string }

// relations reads the relations of a part of an office document, by id.
func (a *archive) relations(part string) map[string]relation {
	out := map[string]relation{}
	dir, base := path.Split(part)
	a.optional(dir+"_rels/"+base+".rels").each("Relationship", func(e *element) {
		target := e.get("Target")
		if rooted, ok := strings.CutPrefix(target, "/"); ok {
			target = rooted
		} else {
			target = path.Join(dir, target)
		}
		if e.get("TargetMode") != "External" {
			out[e.get("Id")] = relation{target, e.get("Type")}
		}
	})
	return out
}

// relationID is the value of an attribute such as r:id.
func relationID(e *element) string {
	for _, a := range e.attr {
		if a.Name.Local == "id" && a.Name != (xml.Name{Local: "id"}) {
			return a.Value
		}
	}
	return ""
}

// slideWriter writes the text of slides.
type slideWriter struct {
	builder
	unread int // charts and diagrams
}

// next is where the next block will begin.
func (w *slideWriter) next() int {
	if w.out.Len() == 0 {
		return 0
	}
	return w.out.Len() + len("\n\n")
}

func (w *slideWriter) shapes(e *element) {
	if e == nil {
		return
	}
	for _, k := range e.kids {
		switch k.name {
		case "sp":
			w.shape(k)
		case "grpSp", "AlternateContent", "Choice":
			w.shapes(k)
		case "graphicFrame":
			if table := k.child("graphic", "graphicData", "tbl"); table != nil {
				w.table(slideRows(table))
			} else {
				w.unread++
			}
		}
	}
}

// shape writes the paragraphs of a shape: a title as a heading, several ones as a list.
func (w *slideWriter) shape(e *element) {
	kind := e.child("nvSpPr", "nvPr", "ph").get("type")
	var texts []string
	var depths []int
	if body := e.child("txBody"); body != nil {
		for _, p := range body.kids {
			if text := slideText(p); p.name == "p" && text != "" {
				depth, _ := strconv.Atoi(p.child("pPr").get("lvl")) // none is 0
				texts, depths = append(texts, text), append(depths, max(depth, 0))
			}
		}
	}
	switch {
	case kind == "sldNum" || kind == "dt" || kind == "ftr" || len(texts) == 0:
	case kind == "title" || kind == "ctrTitle":
		w.heading(1, strings.Join(texts, " "))
	case len(texts) == 1:
		w.paragraph(texts[0])
	default:
		for i, text := range texts {
			w.item(depths[i], "-", text)
		}
	}
}

// notes writes what the speaker noted.
func (w *slideWriter) notes(e *element) {
	e.each("sp", func(sp *element) {
		if sp.child("nvSpPr", "nvPr", "ph").get("type") != "body" {
			return
		}
		sp.each("p", func(p *element) {
			if text := slideText(p); text != "" {
				w.paragraph("Note: " + text)
			}
		})
	})
}

// slideRows are the cells of a table.
func slideRows(table *element) (rows [][]string) {
	table.each("tr", func(tr *element) {
		var row []string
		tr.each("tc", func(tc *element) {
			var texts []string
			tc.each("p", func(p *element) { texts = append(texts, slideText(p)) })
			row = append(row, strings.Join(texts, " "))
		})
		rows = append(rows, row)
	})
	return filled(rows)
}

// slideText is the text of a paragraph.
func slideText(p *element) string {
	var b strings.Builder
	for _, k := range p.kids {
		switch k.name {
		case "r", "fld":
			b.WriteString(strings.Map(officeRune, k.child("t").words()))
		case "br":
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}
