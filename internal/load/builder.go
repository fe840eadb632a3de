package load

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
)

const maxLevel = 6 // the deepest level of a heading

// builder writes the text of a document as Markdown, whose blocks are found later. A blank line separates
// parts.
type builder struct {
	out    strings.Builder
	places []document.Place
	notes  []string                // footnotes and comments of the current paragraph
	noted  int                     // footnotes so far
	rows   int                     // of the current table
	list   bool                    // the last part is an item of a list
	quote  string                  // mark before each line of the next item
	marks  [maxIndentDepth + 1]int // bytes of the marks of the items that the next one may be inside
	parts  int                     // blocks and items so far
	most   budget                  // of the file
}

// builder returns a builder with the budget of the file.
func (d *draft) builder() *builder { return &builder{most: budgetOf(d.size)} }

func (w *builder) begin() {
	if w.out.Len() > 0 {
		w.out.WriteString("\n\n")
	}
	w.parts++
	w.list = false
}

// paragraph writes a part of text; a blank one is left out.
func (w *builder) paragraph(text string) {
	if text = strings.TrimSpace(text); text != "" {
		w.begin()
		w.out.WriteString(text)
	}
}

func (w *builder) heading(level int, text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		w.paragraph(strings.Repeat("#", min(level, maxLevel)) + " " + text)
	}
}

// item writes an item of a list, into the preceding list if nothing came between. depth counts from 0.
func (w *builder) item(depth int, text string) { w.marked(depth, bullet, text) }

// marked writes an item with its mark, inside the last item of a smaller depth.
func (w *builder) marked(depth int, mark, text string) {
	depth = min(depth, maxIndentDepth)
	if outer := w.marks[:depth+1]; !slices.ContainsFunc(outer, func(width int) bool { return width > 0 }) {
		w.list = false // the preceding list is deeper, and belongs to a clause
	}
	w.beginItem()
	clear(w.marks[depth:])
	w.listLine(depth, mark+" "+text, len(mark)+1)
	w.marks[depth] = len(mark) + 1
}

// continued writes a further part of the last item of a depth.
func (w *builder) continued(depth int, text string) {
	w.beginItem()
	w.listLine(min(depth, maxIndentDepth)+1, text, 0)
}

// beginItem begins a line of the preceding list, or a list.
func (w *builder) beginItem() {
	if w.parts++; w.list {
		w.out.WriteByte('\n')
	} else {
		w.begin()
		clear(w.marks[:])
	}
	w.list = true
}

// listLine writes a text inside the last item of a smaller depth. Further lines of it are indented by more
// spaces.
func (w *builder) listLine(depth int, text string, more int) {
	indent := 0
	for _, width := range w.marks[:depth] {
		indent += width
	}
	begin := strings.Repeat(" ", indent) + w.quote
	w.out.WriteString(begin)
	w.out.WriteString(strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+begin+strings.Repeat(" ", more)))
}

// note keeps a footnote for writeNotes.
func (w *builder) note(text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		w.noted++
		w.notes = append(w.notes, fmt.Sprintf("Footnote %d: %s", w.noted, text))
	}
}

// comment keeps a comment for writeNotes. The author may be unknown.
func (w *builder) comment(author, text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		w.notes = append(w.notes, strings.TrimSuffix("Comment by "+document.Short(author), "by ")+": "+text)
	}
}

// writeNotes writes the notes and comments of the last paragraph.
func (w *builder) writeNotes() {
	for _, note := range w.notes {
		w.paragraph(note)
	}
	w.notes = nil
}

// tableRow writes a row of a table; the first one is the header. A blank row is left out. endTable ends the
// table.
func (w *builder) tableRow(row []string) {
	if strings.TrimSpace(strings.Join(row, "")) == "" {
		return
	}
	if w.rows++; w.rows == 1 {
		w.begin()
	} else {
		w.out.WriteByte('\n')
	}
	w.out.WriteByte('|')
	for _, cell := range row {
		w.out.WriteString(" " + strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`) + " |")
	}
	if w.rows == 1 {
		w.out.WriteString("\n|" + strings.Repeat(" --- |", len(row)))
	}
}

func (w *builder) endTable() { w.rows = 0 }

// at records the line of the file that the next text comes from.
func (w *builder) at(line int) {
	w.places = append(w.places, document.Place{Offset: w.out.Len(), Line: line})
}

// append adds the parts of another builder.
func (w *builder) append(other *builder) {
	if other.out.Len() == 0 {
		return
	}
	parts := w.parts + other.parts
	w.begin()
	for _, p := range other.places {
		w.places = append(w.places, document.Place{Offset: w.out.Len() + p.Offset, Line: p.Line})
	}
	w.out.WriteString(other.out.String())
	w.parts = parts
}

// full returns an error once more was written than the budget of the file allows.
func (w *builder) full() error { return w.overfull(0) }

// overfull is full with some more bytes held back.
func (w *builder) overfull(held int) error {
	if w.parts > w.most.blocks {
		return fmt.Errorf("%w: more than %d parts", ErrTooLarge, w.most.blocks)
	}
	if w.out.Len()+held > w.most.text {
		return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(int64(w.most.text)))
	}
	return nil
}

// finish sets the text and metadata of d.
func (w *builder) finish(d *draft) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	d.Text, d.Places, d.Converted, d.Body = w.out.String(), w.places, true, 0
	d.readMarkdown()
}

// titleOf returns the heading at the beginning of a document, else the first one of the highest level. A
// numbered heading belongs to a section.
func titleOf(blocks []document.Block) string {
	best := document.Block{Level: math.MaxInt}
	for i, b := range blocks {
		if b.Level == 0 || b.Heading == "" || numbered(b.Heading) {
			continue
		}
		if i == 0 {
			return b.Heading
		}
		if b.Level < best.Level {
			best = b
		}
	}
	return best.Heading
}

// numbered reports whether a line begins with the number of a section.
func numbered(s string) bool {
	first, rest, _ := strings.Cut(s, " ")
	return rest != "" && strings.Trim(first, "0123456789.") == "" && strings.Trim(first, ".") != ""
}

// programTitle returns a title, or "" if a program has written a file name there.
func programTitle(title string) string {
	lower := strings.ToLower(title)
	for _, mark := range []string{"microsoft word - ", "microsoft powerpoint - ", "microsoft excel - ", "untitled", "(anonymous)", "powerpoint presentation"} {
		if strings.HasPrefix(lower, mark) {
			return ""
		}
	}
	for end := range strings.FieldsSeq(".doc .docx .dvi .tex .pdf .odt .rtf .indd .qxd .ppt .pptx .xls .xlsx .txt .htm .html") {
		if strings.HasSuffix(lower, end) {
			return ""
		}
	}
	return title
}
