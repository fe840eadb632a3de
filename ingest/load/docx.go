package load

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// readDOCX makes the text of a document of Word: paragraphs, headings, lists,
// tables, footnotes and endnotes. Headers, footers, comments, deleted and hidden
// text are left out.
func (d *draft) readDOCX(data []byte) error {
	d.Encoding = "docx"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	main, err := a.tree("word/document.xml")
	if err != nil {
		return err
	}
	w := docxWriter{
		styles:  docxStyles(a.optional("word/styles.xml")),
		formats: docxNumbering(a.optional("word/numbering.xml")),
		notes:   map[string]*element{},
		counts:  map[string][]int{},
	}
	for _, kind := range []string{"footnote", "endnote"} {
		a.optional("word/"+kind+"s.xml").each(kind, func(e *element) {
			if t := e.get("type"); t == "" || t == "normal" {
				w.notes[kind+e.get("id")] = e
			}
		})
	}
	w.blocks(main.child("document", "body"))
	if err := w.full(); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	w.finish(d)
	d.Meta, d.Title = officeMeta(a.optional("docProps/core.xml").child("coreProperties"))
	d.Title = cmp.Or(w.title, d.Title, titleOf(d.Blocks))
	return nil
}

// officeMeta reads what a document of an office program says of itself, and its
// title.
func officeMeta(e *element) (meta map[string]string, title string) {
	for key, names := range map[string][]string{
		"author": {"creator", "initial-creator"}, "subject": {"subject"}, "keywords": {"keywords", "keyword"},
		"description": {"description"}, "category": {"category"}, "version": {"version"}, "lang": {"language"},
	} {
		value := ""
		for _, name := range names {
			value = cmp.Or(value, shortText(e.child(name).words()))
		}
		if value == "" {
			continue
		}
		if meta == nil {
			meta = map[string]string{}
		}
		meta[key] = value
	}
	return meta, programTitle(shortText(e.child("title").words()))
}

// docxStyle is what is known of a paragraph's style.
type docxStyle struct {
	level int    // of a heading, from 1; 0 for others
	title bool   // of the document
	num   string // list that paragraphs of the style belong to
	depth int    // in the list
}

// docxStyles reads which styles are headings, by outline level or by name, also
// through the style that one is based on.
func docxStyles(root *element) map[string]docxStyle {
	own, base := map[string]docxStyle{}, map[string]string{}
	root.each("style", func(e *element) {
		if e.get("type") != "paragraph" {
			return
		}
		var s docxStyle
		name := strings.ToLower(e.child("name").get("val"))
		if n, err := strconv.Atoi(e.child("pPr", "outlineLvl").get("val")); err == nil && n < 9 {
			s.level = n + 1
		} else if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && strings.HasPrefix(name, "heading ") && n > 0 {
			s.level = n
		}
		s.title = name == "title"
		s.num = e.child("pPr", "numPr", "numId").get("val")
		s.depth, _ = strconv.Atoi(e.child("pPr", "numPr", "ilvl").get("val")) // none is 0
		own[e.get("styleId")], base[e.get("styleId")] = s, e.child("basedOn").get("val")
	})
	out := make(map[string]docxStyle, len(own))
	for id, s := range own {
		at := base[id]
		for range 16 { // styles may be based on each other in circles
			b, ok := own[at]
			if !ok {
				break
			}
			s.level, s.num = cmp.Or(s.level, b.level), cmp.Or(s.num, b.num)
			at = base[at]
		}
		out[id] = s
	}
	return out
}

// docxNumbering reads which levels of which lists are numbered: by list and
// depth.
func docxNumbering(root *element) map[string]string {
	root = root.child("numbering")
	formats, out := map[string]map[string]string{}, map[string]string{}
	root.each("abstractNum", func(e *element) {
		levels := map[string]string{}
		e.each("lvl", func(l *element) { levels[l.get("ilvl")] = l.child("numFmt").get("val") })
		formats[e.get("abstractNumId")] = levels
	})
	root.each("num", func(e *element) {
		for depth, format := range formats[e.child("abstractNumId").get("val")] {
			out[e.get("numId")+"/"+depth] = format
		}
	})
	return out
}

// docxWriter writes the text of a document.
type docxWriter struct {
	builder
	styles  map[string]docxStyle
	formats map[string]string
	notes   map[string]*element
	counts  map[string][]int // of items so far, by list and depth
	title   string
}

// blocks writes the paragraphs and tables below an element.
func (w *docxWriter) blocks(e *element) {
	if e == nil {
		return
	}
	for _, k := range e.kids {
		switch k.name {
		case "p":
			w.para(k)
		case "tbl":
			w.table(w.rows(k))
			w.writeNotes()
		case "sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag":
			w.blocks(k)
		}
	}
}

func (w *docxWriter) para(p *element) {
	style := w.styles[p.child("pPr", "pStyle").get("val")]
	if n, err := strconv.Atoi(p.child("pPr", "outlineLvl").get("val")); err == nil && n < 9 {
		style.level = n + 1
	}
	var b strings.Builder
	w.runs(p, &b)
	text := strings.TrimSpace(b.String())
	num := cmp.Or(p.child("pPr", "numPr", "numId").get("val"), style.num)
	switch {
	case text == "":
	case style.title && w.title == "" && len(w.builder.blocks) == 0:
		w.title = strings.Join(strings.Fields(text), " ")
		w.heading(1, text)
	case style.level > 0:
		w.heading(style.level, text)
	case num != "" && num != "0":
		depth := style.depth
		if n, err := strconv.Atoi(p.child("pPr", "numPr", "ilvl").get("val")); err == nil {
			depth = max(0, min(n, 8))
		}
		w.item(depth, w.marker(num, depth), text)
	default:
		w.paragraph(text)
	}
	w.writeNotes()
	p.each("txbxContent", func(box *element) { w.blocks(box) })
}

// marker counts the items of a list.
func (w *docxWriter) marker(num string, depth int) string {
	format := w.formats[num+"/"+strconv.Itoa(depth)]
	counts := append(w.counts[num], make([]int, 9)...)[:9]
	counts[depth]++
	clear(counts[depth+1:])
	w.counts[num] = counts
	if format == "" || format == "bullet" || format == "none" {
		return "-"
	}
	return strconv.Itoa(counts[depth]) + "."
}

// runs writes the text of a paragraph.
func (w *docxWriter) runs(e *element, b *strings.Builder) {
	for _, k := range e.kids {
		switch k.name {
		case "t":
			b.WriteString(strings.Map(officeRune, k.words()))
		case "tab", "ptab":
			b.WriteByte('\t')
		case "br", "cr":
			b.WriteByte('\n')
		case "noBreakHyphen":
			b.WriteByte('-')
		case "sym":
			b.WriteString("•")
		case "footnoteReference", "endnoteReference":
			if note := w.notes[strings.TrimSuffix(k.name, "Reference")+k.get("id")]; note != nil {
				var text strings.Builder
				delete(w.notes, strings.TrimSuffix(k.name, "Reference")+k.get("id")) // a note that refers to itself
				note.each("p", func(p *element) { w.runs(p, &text); text.WriteByte(' ') })
				w.note(text.String())
			}
		case "r":
			if v := k.child("rPr", "vanish"); v == nil || v.get("val") == "0" || v.get("val") == "false" {
				w.runs(k, b)
			}
		case "", "pPr", "rPr", "del", "moveFrom", "instrText", "delText", "txbxContent", "Fallback", "pict", "object":
		default: // hyperlinks, fields, insertions, structured tags, drawings and formulas
			w.runs(k, b)
		}
	}
}

// rows are the cells of a table. One inside another is text of its cell.
func (w *docxWriter) rows(table *element) [][]string {
	var out [][]string
	for _, r := range unwrapped(table, "tr") {
		var row []string
		for _, c := range unwrapped(r, "tc") {
			var b strings.Builder
			c.each("p", func(p *element) { w.runs(p, &b); b.WriteByte(' ') })
			row = append(row, b.String())
		}
		out = append(out, row)
	}
	return filled(out)
}

// unwrapped are the elements of a name right below e, also in what marks
// insertions and controls.
func unwrapped(e *element, name string) (out []*element) {
	for _, k := range e.kids {
		switch k.name {
		case name:
			out = append(out, k)
		case "sdt", "sdtContent", "ins", "customXml":
			out = append(out, unwrapped(k, name)...)
		}
	}
	return out
}
