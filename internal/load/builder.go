package load

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/search/text"
)

// builder makes the text of a document as Markdown, which has the blocks then. A blank line
// separates parts.
type builder struct {
	out    strings.Builder
	places []document.Place
	notes  []string // of the paragraph that is written
	noted  int
	rows   int    // of the table that is written
	list   bool   // an item of a list was written last
	parts  int    // blocks and items so far
	most   budget // of the file
}

// builder returns one with the budget of the file.
func (d *draft) builder() builder { return builder{most: budgetOf(d.size)} }

// begin begins a part.
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

// heading writes a heading.
func (w *builder) heading(level int, text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		w.paragraph(strings.Repeat("#", min(level, 6)) + " " + text)
	}
}

// item writes an item of a list, into the list before it where nothing came since.
func (w *builder) item(depth int, text string) {
	if w.parts++; w.list {
		w.out.WriteByte('\n')
	} else {
		w.begin()
	}
	w.list = true
	indent := strings.Repeat("  ", min(depth, maxIndentDepth))
	w.out.WriteString(indent + "- " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent+"  "))
}

// fenced is a text as a block of code.
func fenced(text, language string) string {
	const longest = 64
	mark := "```"
	for strings.Contains(text, mark) && len(mark) < longest {
		mark += "`"
	}
	return mark + language + "\n" + text + "\n" + mark
}

// visibleRune is a character as it goes into the text: white space as a space, and -1 for
// what cannot be seen.
func visibleRune(c rune) rune {
	switch {
	case unicode.IsSpace(c):
		return ' '
	case c == 0xF0B7 || c == 0xF0A7 || c == 0xF076: // bullets of the Symbol and Wingdings fonts
		return '•'
	case text.Hidden(c), c >= 0xE000 && c <= 0xF8FF, c >= 0xFFF0 && c <= 0xFFFF, unicode.Is(unicode.Noncharacter_Code_Point, c):
		return -1
	}
	return c
}

// note keeps a footnote for writeNotes.
func (w *builder) note(text string) {
	if strings.TrimSpace(text) != "" {
		w.notes = append(w.notes, text)
	}
}

// writeNotes writes the notes of the paragraph before.
func (w *builder) writeNotes() {
	for _, note := range w.notes {
		w.noted++
		w.paragraph(fmt.Sprintf("Footnote %d: %s", w.noted, strings.Join(strings.Fields(note), " ")))
	}
	w.notes = nil
}

// tableRow writes a row of a table; the first one is the head. A blank one is
// left out. endTable ends the table.
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

// at notes the line of the file that what is written next comes from.
func (w *builder) at(line int) {
	w.places = append(w.places, document.Place{Offset: w.out.Len(), Line: line})
}

// full is an error once more was written than the budget of the file allows.
func (w *builder) full() error { return w.overfull(0) }

// overfull is full where so many bytes more are held.
func (w *builder) overfull(held int) error {
	if w.parts > w.most.blocks {
		return fmt.Errorf("%w: more than %d parts", ErrTooLarge, w.most.blocks)
	}
	if w.out.Len()+held > w.most.text {
		return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(int64(w.most.text)))
	}
	return nil
}

// finish sets the text of d and what is known of it.
func (w *builder) finish(d *draft) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	d.Text, d.Places, d.Converted, d.Body = w.out.String(), w.places, true, 0
	d.readMarkdown()
}

// titleOf is the heading that a document begins with, else the first one of the highest level.
// A numbered one is that of a section.
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

// programTitle is a title, or "" where a program wrote the name of a file there.
func programTitle(title string) string {
	lower := strings.ToLower(title)
	for _, mark := range []string{"microsoft word - ", "microsoft powerpoint - ", "untitled", "powerpoint presentation"} {
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
