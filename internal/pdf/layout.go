package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/text"
)

const (
	edgeLines       = 3    // lines at the top and at the bottom of a page that may be furniture
	minSeen         = 3    // pages that repeat a line of furniture
	leadersFrom     = 10   // least pages of a document with a table of contents
	largerType      = 1.12 // least size of a heading, relative to the body
	maxHeadingRunes = 160  // runes of a heading
	nearLines       = 12   // lines before and after that show the right edge of a column
)

var (
	digits  = regexp.MustCompile(`\d+|^[ivxlc]+$`)
	leaders = regexp.MustCompile(`((\. ?){4,}|…( ?…)+)\s*(\d+|[ivxlc]+)$`)
	entry   = regexp.MustCompile(`, *\d{1,4}((, ?| ?[-–] ?)\d{1,4})*$`) // of the index of a book
)

// dropFurniture removes the lines at the top or the bottom of many pages, ignoring numbers, the lines of a
// table of contents, which end in dots and a page number, and pages of an index, whose lines end in page
// numbers.
func dropFurniture(pages [][]textLine) {
	key := func(l textLine) string { return digits.ReplaceAllString(strings.ToLower(l.text), "#") }
	counts := map[string]int{}
	for _, lines := range pages {
		once := map[string]bool{}
		for _, i := range edges(lines) {
			if k := key(lines[i]); !once[k] && lines[i].table == nil {
				once[k] = true
				counts[k]++
			}
		}
	}
	for p, lines := range pages {
		drop := map[int]bool{}
		for _, i := range edges(lines) {
			k := key(lines[i])
			numbered := strings.HasPrefix(k, "#") || strings.HasSuffix(k, "#") // the heading of a chapter
			drop[i] = lines[i].table == nil && counts[k] >= minSeen && (numbered || 4*counts[k] >= len(pages))
		}
		kept := lines[:0]
		index := isIndex(lines)
		for i, l := range lines {
			if !index && !drop[i] && (len(pages) < leadersFrom || !leaders.MatchString(l.text)) {
				kept = append(kept, l)
			}
		}
		pages[p] = kept
	}
}

// isIndex reports whether most lines of a page are entries of an index.
func isIndex(lines []textLine) bool {
	const least = 12
	entries := 0
	for _, l := range lines {
		if entry.MatchString(l.text) {
			entries++
		}
	}
	return entries >= least && 5*entries >= 3*len(lines)
}

// edges returns the indexes of the first and the last lines of a page.
func edges(lines []textLine) []int {
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

// file writes the text of the pages.
func (r *fileReader) file() File {
	dropFurniture(r.pages)
	r.markRecognised()
	lines := slices.Concat(r.pages...)
	w := layout{full: 6<<20 + 2*r.size}
	w.measure(lines)
	w.write(lines)
	w.page(len(r.pages) - 1)
	f := r.found
	f.Text, f.Pages, f.Pictures = w.out.String(), w.starts, len(r.scans)
	return f
}

// layout converts lines into text: a paragraph becomes one line, headings are as in Markdown.
type layout struct {
	out    strings.Builder
	full   int       // bytes of text after which rows do not name their values
	size   float64   // font size of the body
	lead   float64   // line distance of the body
	larger []float64 // font sizes of headings, largest first
	bold   bool      // the body is bold, so bold lines are not headings
	fixed  bool      // the body is monospaced, so it is not code
	starts []int     // where pages begin

	edges   []float64 // where the columns of the last table begin
	head    []string  // their names, after one for the section
	section tableCell // of its last rows
}

// measure finds the font size of most letters, and the distance between most lines.
func (w *layout) measure(lines []textLine) {
	letters, gaps := map[float64]int{}, map[float64]int{}
	bold, fixed, all := 0, 0, 0
	for i, l := range lines {
		if l.table != nil {
			_, n := l.table.size()
			letters[rounded(l.size)] += n
			continue
		}
		n := utf8.RuneCountInString(l.text)
		letters[rounded(l.size)] += n
		if all += n; l.bold {
			bold += n
		}
		if l.fixed {
			fixed += n
		}
		if i > 0 && lines[i-1].page == l.page && rounded(lines[i-1].size) == rounded(l.size) {
			if gap := lines[i-1].base - l.base; gap > 0.5*l.size && gap < 4*l.size {
				gaps[rounded(gap)]++
			}
		}
	}
	w.size, w.lead, w.bold, w.fixed = most(letters), most(gaps), 2*bold > all, 2*fixed > all
	if w.lead < w.size {
		w.lead = 1.2 * w.size
	}
	for size := range letters {
		if size > largerType*w.size {
			w.larger = append(w.larger, size)
		}
	}
	slices.SortFunc(w.larger, func(a, b float64) int { return cmp.Compare(b, a) })
}

func rounded(x float64) float64 { return math.Round(2*x) / 2 }

// most returns the key with the greatest count, the smallest among equals.
func most(counts map[float64]int) float64 {
	best, n := 0.0, 0
	for k, c := range counts {
		if c > n || c == n && k < best {
			best, n = k, c
		}
	}
	return best
}

func (w *layout) begin() {
	if w.out.Len() > 0 {
		w.out.WriteString(apart)
	}
}

func (w *layout) paragraph(text string) {
	w.begin()
	w.out.WriteString(text)
}

func (w *layout) write(lines []textLine) {
	levels := w.levels(lines)
	plain := false // the previous line is text
	for i := 0; i < len(lines); i++ {
		if end := w.codeEnd(lines, levels, i); end > i {
			w.code(lines[i:end])
			i, plain = end-1, false
			continue
		}
		l, joint := lines[i], apart
		if l.table != nil {
			plain = false
			w.page(l.page)
			w.table(l.table, i > 0 && lines[i-1].table != nil && lines[i-1].page == l.page-1)
			continue
		}
		if plain && levels[i] == levels[i-1] {
			joint = w.joint(lines[i-1], l, levels[i] > 0, rightEdge(lines, i-1))
		}
		plain = true
		if joint == apart {
			w.begin()
			w.page(l.page)
			if levels[i] > 0 {
				w.out.WriteString(strings.Repeat("#", levels[i]) + " ")
			}
		} else {
			w.out.WriteString(joint)
			w.page(l.page)
		}
		w.out.WriteString(l.text)
	}
}

// page records the start of a page, and of those before it without text.
func (w *layout) page(n int) {
	for len(w.starts) <= n {
		w.starts = append(w.starts, w.out.Len())
	}
}

// levels finds the headings: lines in larger type, and bold lines that end no sentence.
func (w *layout) levels(lines []textLine) []int {
	levels := make([]int, len(lines))
	for i, l := range lines {
		if utf8.RuneCountInString(l.text) > maxHeadingRunes || strings.IndexFunc(l.text, unicode.IsLetter) < 0 {
			continue
		}
		follows := i+1 < len(lines) && lines[i+1].bold && similar(l.size, lines[i+1].size)
		switch at := slices.Index(w.larger, rounded(l.size)); {
		case at >= 0:
			levels[i] = min(at+1, 5)
		case l.bold && !w.bold && rounded(l.size) >= w.size && !follows && !document.IsItem(l.text) &&
			!strings.ContainsAny(l.text[len(l.text)-1:], ".,;:"):
			levels[i] = min(len(w.larger)+1, 6)
		}
	}
	return levels
}

const maxCodeIndent = 64 // spaces before a line of code

// codeEnd returns the end of the code on one page that begins with lines[from]: two or more monospaced lines;
// from without code.
func (w *layout) codeEnd(lines []textLine, levels []int, from int) int {
	to := from
	for to < len(lines) && lines[to].fixed && !w.fixed && levels[to] == 0 && lines[to].page == lines[from].page {
		to++
	}
	if to == from+1 {
		return from
	}
	return to
}

// code writes the lines of a program as a block, indented as on the page.
func (w *layout) code(lines []textLine) {
	left, width := lines[0].left, 0.01 // of a letter
	for _, l := range lines {
		left, width = min(left, l.left), max(width, (l.right-l.left)/float64(utf8.RuneCountInString(l.text)))
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 && lines[i-1].base-l.base > 1.9*l.size {
			b.WriteByte('\n') // an empty line
		}
		b.WriteString(strings.Repeat(" ", min(int(math.Round((l.left-left)/width)), maxCodeIndent)) + l.text + "\n")
	}
	w.begin()
	w.page(lines[0].page)
	w.out.WriteString(document.Fenced(strings.TrimRight(b.String(), "\n"), ""))
}

const apart = "\n\n"

// joint returns the text between two lines: nothing within a word, a space within a paragraph, a line feed
// between separate lines, or [apart]. edge is the right edge of the column.
func (w *layout) joint(a, b textLine, heading bool, edge float64) string {
	first, _ := utf8.DecodeRuneInString(b.text)
	last, _ := utf8.DecodeLastRuneInString(a.text)
	joined := " "
	if text.Spaceless(first) && text.Spaceless(last) {
		joined = ""
	}
	gap := a.base - b.base
	moved := a.page != b.page || gap < 0 // into the next column or page
	full := a.hyphen || isFull(a, b, edge)
	switch {
	case a.hyphen && unicode.IsLower(first):
		return ""
	case !similar(a.size, b.size) || a.bold != b.bold && !full:
		return apart
	case heading && (moved || gap > 2*max(w.lead, a.size)):
		return apart
	case heading:
		return joined
	case document.IsItem(b.text) && (moved || gap > 1.7*w.lead):
		return apart
	case document.IsItem(b.text):
		return "\n"
	case moved && full && !document.EndsSentence(a.text):
		return joined
	case moved, gap > 1.35*max(w.lead, 1.1*a.size), !full && document.EndsSentence(a.text):
		return apart
	case !full:
		return "\n"
	case document.EndsSentence(a.text) && b.left-a.left > 0.7*a.size && !document.IsItem(a.text):
		return apart // the first line of a paragraph is indented
	}
	return joined
}

func similar(a, b float64) bool { return math.Abs(a-b) <= 0.12*max(a, b) }

// isFull reports whether the first word of the next line would not fit on a line, so that the paragraph
// continues.
func isFull(a, b textLine, edge float64) bool {
	runes := utf8.RuneCountInString(a.text)
	if runes < 2 || a.right <= a.left {
		return false
	}
	word, _, _ := strings.Cut(b.text, " ")
	width := (a.right - a.left) / float64(runes)
	return a.right+width*float64(min(utf8.RuneCountInString(word), 24)+1) > edge
}

// rightEdge returns the right edge of the lines near lines[i] that begin at about the same position.
func rightEdge(lines []textLine, i int) float64 {
	edge := lines[i].right
	for _, l := range lines[max(0, i-nearLines):min(len(lines), i+nearLines)] {
		if l.page == lines[i].page && similar(l.size, lines[i].size) && math.Abs(l.left-lines[i].left) < 3*l.size {
			edge = max(edge, l.right)
		}
	}
	return edge
}
