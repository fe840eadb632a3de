package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// takePDF sets the text of a PDF and what is known of it.
func (d *Document) takePDF(file *pdfFile) error {
	dropFurniture(file.pages)
	lines := slices.Concat(file.pages...)
	if len(lines) == 0 {
		switch n := len(file.pages); {
		case n == 0:
			return fmt.Errorf("%w: it has no pages", ErrNoText)
		case file.pictures > 0:
			return fmt.Errorf("%w: %s; recognise the text in them (OCR) first", ErrNoText, pictures(file.pictures, n))
		default:
			return fmt.Errorf("%w: %s", ErrNoText, plural(n, "empty page"))
		}
	}
	if file.pictures > 0 {
		d.Warnings = append(d.Warnings, pictures(file.pictures, len(file.pages))+" without text; recognise the text in them (OCR) to have it found")
	}
	w := layout{look: lookOf(lines), outline: file.outline}
	d.Text, d.blocks, d.pages = w.write(lines, len(file.pages))
	d.Meta, d.Title = file.fields, cmp.Or(file.title, largestOf(file.pages, w.look), titleOf(d.blocks))
	return nil
}

func pictures(n, of int) string {
	if n == of {
		return plural(n, "page") + ", all of them pictures"
	}
	return fmt.Sprintf("%s of %d that hold pictures", plural(n, "page"), of)
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// layout makes text of lines: paragraphs on a line of their own, headings as in
// Markdown, page by page.
type layout struct {
	look    look
	outline []bookmark

	out    strings.Builder
	blocks []block
	starts []int // where pages begin
}

// Joints between two lines.
type joint int

const (
	apart  joint = iota // another paragraph
	below               // the next line of the same paragraph, as it stands: lists, tables, addresses
	joined              // the same sentence
	glued               // the same word
)

func (w *layout) write(lines []pdfLine, pages int) (string, []block, []int) {
	rows(lines)
	levels := w.levels(lines)
	codeLines(lines, levels, w.look)
	for i := 0; i < len(lines); {
		if lines[i].code {
			i += w.code(lines[i:])
			continue
		}
		j := apart
		if i > 0 && levels[i] == levels[i-1] && !lines[i-1].code {
			j = w.joint(lines[i-1], lines[i], levels[i] > 0, rightEdge(lines, i-1))
		}
		w.line(lines[i], levels[i], j)
		i++
	}
	for len(w.starts) < pages {
		w.starts = append(w.starts, w.out.Len())
	}
	w.out.WriteByte('\n')
	text := w.out.String()
	for i := range w.blocks {
		b := &w.blocks[i]
		b.end = len(text)
		if i+1 < len(w.blocks) {
			b.end = w.blocks[i+1].start
		}
		if b.level > 0 {
			b.heading = strings.TrimSpace(strings.TrimLeft(text[b.start:b.end], "#"))
		}
	}
	return text, w.blocks, w.starts
}

// line writes a line with the joint before it.
func (w *layout) line(l pdfLine, level int, j joint) {
	b := block{kind: kindText, level: level}
	if level == 0 && l.row {
		b.kind = kindTable
	}
	if j == joined && cjkBetween(w.out.String(), l.text) {
		j = glued
	}
	if w.begin(j, l.page, b) && level > 0 {
		w.out.WriteString(strings.Repeat("#", level) + " ")
	}
	if !l.row || level > 0 {
		w.out.WriteString(l.text)
		return
	}
	w.row(l, j == apart)
}

// begin writes what stands before a line, and reports whether it begins a block.
func (w *layout) begin(j joint, page int, b block) bool {
	switch {
	case w.out.Len() == 0:
	case j == apart:
		w.out.WriteString("\n\n")
	case j == below:
		w.out.WriteByte('\n')
	case j == joined:
		w.out.WriteByte(' ')
	}
	w.page(page)
	if j != apart && len(w.blocks) > 0 {
		return false
	}
	b.start = w.out.Len()
	w.blocks = append(w.blocks, b)
	return true
}

// page notes where a page begins, and those without text before it.
func (w *layout) page(n int) {
	for len(w.starts) <= n {
		w.starts = append(w.starts, w.out.Len())
	}
}

// cjkBetween reports whether two lines meet in scripts that put no space
// between words.
func cjkBetween(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return unspaced(a) && unspaced(b)
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60
}

// joint says how a line continues the one before it; edge is how far right the
// column of the first one reaches.
func (w *layout) joint(a, b pdfLine, heading bool, edge float64) joint {
	if a.hyphen {
		if r, _ := utf8.DecodeRuneInString(b.text); unicode.IsLower(r) {
			return glued
		}
	}
	gap := a.base - b.base
	samePage := a.page == b.page
	moved := !samePage || gap < 0 // into the next column or page
	full := a.hyphen || isFull(a, b, edge)
	switch {
	case a.row && b.row && !moved:
		return below
	case a.row || b.row:
		return apart
	case !similar(a.size, b.size) || a.bold != b.bold && !full:
		return apart
	case heading:
		if moved || gap > 2*max(w.look.lead, a.size) {
			return apart
		}
		return joined
	case isItem(b.text):
		if moved || gap > 1.7*w.look.lead {
			return apart
		}
		return below
	case samePage && math.Abs(gap) < 0.3*a.size: // on one line
		return joined
	case tabular(a) && tabular(b):
		return below
	case moved && full && !endsSentence(a.text):
		return joined
	case moved || gap > 1.35*max(w.look.lead, 1.1*a.size):
		return apart
	case !full && endsSentence(a.text):
		return apart
	case !full:
		return below
	case endsSentence(a.text) && b.left-a.left > 0.7*a.size && !isItem(a.text):
		return apart // the first line of a paragraph is indented
	}
	return joined
}

func similar(a, b float64) bool { return math.Abs(a-b) <= 0.12*max(a, b) }

// isFull reports whether the first word of the next line would not have fitted
// on a line: it was broken, it did not end.
func isFull(a, b pdfLine, edge float64) bool {
	runes := utf8.RuneCountInString(a.text)
	if runes < 2 || a.right <= a.left {
		return false
	}
	word, _, _ := strings.Cut(b.text, " ")
	width := (a.right - a.left) / float64(runes)
	return a.right+width*float64(min(utf8.RuneCountInString(word), 24)+1) > edge
}

// rightEdge is how far right the lines near lines[i] reach that begin about
// where it does.
func rightEdge(lines []pdfLine, i int) float64 {
	edge := lines[i].right
	for k := max(0, i-nearLines); k < min(len(lines), i+nearLines); k++ {
		l := lines[k]
		if l.page == lines[i].page && similar(l.size, lines[i].size) && math.Abs(l.left-lines[i].left) < 3*l.size {
			edge = max(edge, l.right)
		}
	}
	return edge
}

// nearLines is how many lines before and behind make a column's neighbourhood.
const nearLines = 12

// endsSentence reports whether a line ends where a sentence does.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, `"'”’»)]`)
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?:;。！？…", r)
}

// isItem reports whether a line begins an item of a list.
func isItem(s string) bool {
	first, rest, _ := strings.Cut(s, " ")
	if rest == "" || len(first) > 6 {
		return false
	}
	switch first {
	case "•", "-", "–", "—", "*", "◦", "▪", "■", "●", "○", "·", "►", "➢", "✓", "o":
		return true
	}
	bare := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(first, "("), "."), ")")
	if bare == first || bare == "" {
		return strings.HasPrefix(first, "[") && strings.HasSuffix(first, "]") && strings.Trim(first[1:len(first)-1], "0123456789") == ""
	}
	return strings.Trim(bare, "0123456789.") == "" || len(bare) == 1 && unicode.IsLetter(rune(bare[0]))
}
