package corpus

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// together puts lines into one that stand beside each other: an index or an
// exponent ends a line for PDFium.
func together(lines []pdfLine) []pdfLine {
	var out []pdfLine
	for _, l := range lines {
		if n := len(out); n > 0 && beside(out[n-1], l) {
			a := &out[n-1]
			gap := l.left - a.right
			if gap >= wideGap*l.size {
				a.gaps = append(a.gaps, len(a.text))
			}
			if gap > 0.15*l.size {
				a.text += " "
			}
			for _, g := range l.gaps {
				a.gaps = append(a.gaps, len(a.text)+g)
			}
			a.text, a.right, a.hyphen = a.text+l.text, l.right, l.hyphen
			continue
		}
		out = append(out, l)
	}
	return out
}

// beside reports whether b goes on to the right of a, and no further off than a
// cell of a table.
func beside(a, b pdfLine) bool {
	size := min(a.size, b.size)
	return !a.hyphen && size > 0 && math.Abs(a.base-b.base) < 0.35*size && b.left >= a.right-0.3*size && b.left-a.right < 12*size
}

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
	d.Meta, d.Title = file.fields, cmp.Or(file.title, titleOf(d.blocks))
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

// titleOf is what a document's headings say of its title: the one it begins with,
// else the first of the highest level. A numbered one is that of a section.
func titleOf(blocks []block) string {
	best := block{level: math.MaxInt}
	for i, b := range blocks {
		if b.level == 0 || b.heading == "" || numbered(b.heading) {
			continue
		}
		if i == 0 {
			return b.heading
		}
		if b.level < best.level {
			best = b
		}
	}
	return best.heading
}

const (
	edgeLines = 3 // lines at the top and at the bottom of a page that may be furniture
	leastSeen = 3 // pages that a line of furniture stands on
)

// dropFurniture takes out what stands at the top or the bottom of many pages:
// running heads, page numbers.
func dropFurniture(pages [][]pdfLine) {
	seen := map[string]int{}
	for _, lines := range pages {
		once := map[string]bool{}
		for _, i := range edges(lines) {
			if key := furnitureKey(lines[i].text); !once[key] {
				once[key] = true
				seen[key]++
			}
		}
	}
	for p, lines := range pages {
		drop := map[int]bool{}
		for _, i := range edges(lines) {
			n := seen[furnitureKey(lines[i].text)]
			drop[i] = n >= leastSeen && 4*n >= len(pages) // left and right pages may have their own, chapters too
		}
		kept := lines[:0]
		for i, l := range lines {
			if !drop[i] {
				kept = append(kept, l)
			}
		}
		pages[p] = kept
	}
}

// edges are the indexes of the uppermost and the lowest lines of a page.
func edges(lines []pdfLine) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].base, lines[a].base) })
	if len(order) > 2*edgeLines {
		order = append(order[:edgeLines:edgeLines], order[len(order)-edgeLines:]...)
	}
	return order
}

// furnitureKey is a line without its numbers: "12", and "Chapter # · page #".
func furnitureKey(s string) string {
	var b strings.Builder
	digits := false
	for _, r := range strings.ToLower(s) {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	key := strings.TrimSpace(b.String())
	if strings.Trim(key, "ivxlc") == "" { // a Roman numeral alone
		return "#"
	}
	return key
}

// look is what most of a document looks like.
type look struct {
	size    float64   // of the body's type
	lead    float64   // from line to line
	larger  []float64 // sizes that headings have, largest first
	hasBold bool      // bold lines stand out: the body is not bold
}

const (
	longestHeadline = 160  // runes
	largerType      = 1.12 // times the body's size: at least so large is the type of a heading
)

// lookOf finds the size that most letters have, and the distance that most
// lines of it keep.
func lookOf(lines []pdfLine) look {
	letters, gaps := map[float64]int{}, map[float64]int{}
	bold, all := 0, 0
	for i, l := range lines {
		n := utf8.RuneCountInString(l.text)
		letters[rounded(l.size)] += n
		all += n
		if l.bold {
			bold += n
		}
		if i > 0 && lines[i-1].page == l.page && rounded(lines[i-1].size) == rounded(l.size) {
			if gap := lines[i-1].base - l.base; gap > 0.5*l.size && gap < 4*l.size {
				gaps[rounded(gap)]++
			}
		}
	}
	lk := look{size: most(letters), lead: most(gaps), hasBold: 2*bold < all}
	if lk.lead < lk.size {
		lk.lead = 1.2 * lk.size
	}
	for size := range letters {
		if size > largerType*lk.size {
			lk.larger = append(lk.larger, size)
		}
	}
	slices.SortFunc(lk.larger, func(a, b float64) int { return cmp.Compare(b, a) })
	return lk
}

func rounded(x float64) float64 { return math.Round(2*x) / 2 }

// most is the key with the greatest count, the smallest of them.
func most(counts map[float64]int) float64 {
	best, n := 0.0, 0
	for k, c := range counts {
		if c > n || c == n && k < best {
			best, n = k, c
		}
	}
	return best
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
	for i, l := range lines {
		j := apart
		if i > 0 && levels[i] == levels[i-1] {
			j = w.joint(lines[i-1], l, levels[i] > 0, rightEdge(lines, i-1))
		}
		w.line(l, levels[i], j)
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
	switch {
	case w.out.Len() == 0:
	case j == apart:
		w.out.WriteString("\n\n")
	case j == below:
		w.out.WriteByte('\n')
	case j == joined && !cjkBetween(w.out.String(), l.text):
		w.out.WriteByte(' ')
	}
	for len(w.starts) <= l.page {
		w.starts = append(w.starts, w.out.Len())
	}
	if j == apart || len(w.blocks) == 0 {
		b := block{start: w.out.Len(), kind: kindText, level: level}
		if level == 0 && l.row {
			b.kind = kindTable
		}
		w.blocks = append(w.blocks, b)
		if level > 0 {
			w.out.WriteString(strings.Repeat("#", level) + " ")
		}
	}
	if !l.row || level > 0 {
		w.out.WriteString(l.text)
		return
	}
	w.row(l, j == apart)
}

// row writes a row of a table as Markdown does; the first one is its head.
func (w *layout) row(l pdfLine, first bool) {
	from := 0
	w.out.WriteByte('|')
	for _, gap := range append(slices.Clone(l.gaps), len(l.text)) {
		w.out.WriteString(" " + strings.ReplaceAll(strings.TrimSpace(l.text[from:gap]), "|", `\|`) + " |")
		from = gap
	}
	if first {
		w.out.WriteString("\n|" + strings.Repeat(" --- |", len(l.gaps)+1))
	}
}

// rows finds the lines that are rows of a table: with two wide gaps, or with one
// beside another such line.
func rows(lines []pdfLine) {
	for i := range lines {
		l := &lines[i]
		gapped := func(k int) bool {
			return k >= 0 && k < len(lines) && lines[k].page == l.page && len(lines[k].gaps) > 0
		}
		l.row = len(l.gaps) > 1 || len(l.gaps) == 1 && !numbered(l.text) && (gapped(i-1) || gapped(i+1))
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

// levels finds the headings: those of the outline where it names lines of the
// text, else lines in a larger or a bolder type.
func (w *layout) levels(lines []pdfLine) []int {
	titles := map[string]bool{} // the same ones come again where an outline goes round in circles
	for _, mark := range w.outline {
		titles[mark.title] = true
	}
	if levels, found := w.byOutline(lines); 2*found >= len(titles) && found > 0 {
		return levels
	}
	out := make([]int, len(lines))
	for i, l := range lines {
		if utf8.RuneCountInString(l.text) > longestHeadline || l.row || !hasLetters(l.text) {
			continue
		}
		switch at := slices.Index(w.look.larger, rounded(l.size)); {
		case at >= 0:
			out[i] = min(at+1, 5)
		case w.look.hasBold && l.bold && rounded(l.size) >= w.look.size && w.standsAlone(lines, i):
			out[i] = min(len(w.look.larger)+1, 6)
		}
	}
	return out
}

// byOutline finds the titles of the outline among the lines, in order. The page
// of contents does not count: its lines end in numbers of pages.
func (w *layout) byOutline(lines []pdfLine) (levels []int, found int) {
	levels = make([]int, len(lines))
	from := 0
	for _, mark := range w.outline {
		want := bareWords(mark.title)
		if want == "" {
			continue
		}
		for i := from; i < len(lines); i++ {
			if n := w.matches(lines[i:], want); n > 0 {
				for k := range n {
					levels[i+k] = min(mark.level, 6)
				}
				from = i + n
				found++
				break
			}
		}
	}
	return levels, found
}

// matches returns how many lines, three at most, make up a title; 0 where they
// do not. The number of a section may stand in one and not in the other.
func (*layout) matches(lines []pdfLine, want string) int {
	var have string // of three lines at most
	for n := range min(3, len(lines)) {
		have = strings.Join([]string{have, bareWords(lines[n].text)}, "")
		if have == want || strings.TrimLeft(have, "0123456789") == strings.TrimLeft(want, "0123456789") && have != "" {
			return n + 1
		}
		if len(have) > len(want)+8 {
			break
		}
	}
	return 0
}

// bareWords is a text in lower case without all but letters and digits.
func bareWords(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func hasLetters(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n >= 2
}

// standsAlone reports whether a bold line is a heading and not the beginning of
// a bold paragraph or of a list item: the line below is not bold or further off,
// and it does not end like a sentence.
func (w *layout) standsAlone(lines []pdfLine, i int) bool {
	l := lines[i]
	if strings.HasSuffix(l.text, ".") || strings.HasSuffix(l.text, ",") || strings.HasSuffix(l.text, ";") || isItem(l.text) && !numbered(l.text) {
		return false
	}
	if i+1 < len(lines) {
		next := lines[i+1]
		near := next.page == l.page && math.Abs(l.base-next.base) < 0.5*l.size // a cell of the same row
		if near || next.bold && w.joint(l, next, false, rightEdge(lines, i)) >= joined {
			return false
		}
	}
	return i == 0 || lines[i-1].page != l.page || lines[i-1].base-l.base > 0.5*l.size || lines[i-1].base < l.base
}

// numbered reports whether a line begins with the number of a section.
func numbered(s string) bool {
	first, rest, _ := strings.Cut(s, " ")
	return rest != "" && strings.Trim(first, "0123456789.") == "" && strings.Trim(first, ".") != ""
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

// tabular reports whether a line looks like a row of a table: mostly figures.
func tabular(l pdfLine) bool {
	words := strings.Fields(l.text)
	figures := 0
	for _, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			figures++
		}
	}
	return len(words) >= 3 && 2*figures >= len(words)
}
