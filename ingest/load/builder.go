package load

import (
	"fmt"
	"strings"
)

// maxMade bounds, in bytes, the text that is made of one file.
const maxMade = 64 << 20

// builder makes the text of a document of parts, and keeps what is known of
// them. Parts stand apart by a blank line.
type builder struct {
	out    strings.Builder
	blocks []block
	places []linePlace
}

// begin opens a block; end and the spans of its parts are set by finish.
func (w *builder) begin(b block) *block {
	if w.out.Len() > 0 {
		w.out.WriteString("\n\n")
	}
	b.start = w.out.Len()
	w.blocks = append(w.blocks, b)
	return &w.blocks[len(w.blocks)-1]
}

// paragraph writes a block of text; a blank one is left out.
func (w *builder) paragraph(text string) {
	if text = strings.TrimSpace(text); text != "" {
		w.begin(block{kind: kindText})
		w.out.WriteString(text)
	}
}

// heading writes a heading as Markdown does.
func (w *builder) heading(level int, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return
	}
	w.begin(block{kind: kindText, level: level, heading: text})
	w.out.WriteString(strings.Repeat("#", min(level, 6)) + " " + text)
}

// item writes an item of a list, into the list before it where one is open.
func (w *builder) item(depth int, marker, text string, open bool) {
	var b *block
	if n := len(w.blocks); open && n > 0 && w.blocks[n-1].kind == kindList {
		b = &w.blocks[n-1]
		w.out.WriteByte('\n')
	} else {
		b = w.begin(block{kind: kindList})
	}
	b.parts = append(b.parts, block{start: w.out.Len(), kind: kindList})
	indent := strings.Repeat("  ", min(depth, maxIndentDepth))
	w.out.WriteString(indent + marker + " " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent+"  "))
}

// table writes rows as Markdown does; the first one is the head.
func (w *builder) table(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	w.begin(block{kind: kindTable})
	for i, row := range rows {
		if i > 0 {
			w.out.WriteByte('\n')
		}
		w.out.WriteByte('|')
		for _, cell := range row {
			w.out.WriteString(" " + strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`) + " |")
		}
		if i == 0 {
			w.out.WriteString("\n|" + strings.Repeat(" --- |", len(row)))
		}
	}
}

// at notes the line of the file that what is written next comes from.
func (w *builder) at(line int) {
	w.places = append(w.places, linePlace{w.out.Len(), line})
}

// full is an error once more was written than a document may hold.
func (w *builder) full() error {
	if len(w.blocks) > maxRecords {
		return fmt.Errorf("%w: more than %d parts", ErrTooLarge, maxRecords)
	}
	if w.out.Len() > maxMade {
		return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(maxMade))
	}
	return nil
}

// finish sets the text of d and what is known of it.
func (w *builder) finish(d *Document) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
	}
	d.Text, d.blocks, d.places, d.Converted, d.Body = w.out.String(), w.blocks, w.places, true, 0
	for i := range d.blocks {
		b := &d.blocks[i]
		b.end = len(d.Text)
		if i+1 < len(d.blocks) {
			b.end = d.blocks[i+1].start
		}
		for j := range b.parts {
			b.parts[j].end = b.end
			if j+1 < len(b.parts) {
				b.parts[j].end = b.parts[j+1].start
			}
		}
		if len(b.parts) == 1 {
			b.parts = nil // it is the block; split by sentences
		}
	}
}
