package pdf

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
)

const (
	maxHeadRows  = 3 // with a cell in the first column
	maxHeadLines = 6 // also without one: wrapped names of other columns
)

// table writes a table so that each row names its values. follows: it stands first on the page after the
// previous one, which it continues if its columns begin at the same places.
func (w *layout) table(t *table, follows bool) {
	for _, text := range t.before {
		w.paragraph(text)
	}
	n, sure := t.headRows()
	head := t.names(n)
	switch {
	case !follows || !t.continues(w.edges):
		w.head, w.section = head, tableCell{}
	case slices.Equal(head, w.head): // repeated
	case n > 0 && sure:
		w.head, w.section = head, tableCell{}
	default:
		n = 0
	}
	w.edges = t.edges
	w.rows(t, n)
	for _, text := range t.after {
		w.paragraph(text)
	}
}

// rows writes the rows of a table from a row on. A row with only a first cell is the section of the rows below, which
// is written before each of them. If they are indented, it ends before a row that is not.
func (w *layout) rows(t *table, from int) {
	indented := false
	values := t.values(from)
	for i, row := range values {
		cells := t.rows[from+i].cells
		alone := len(cells) == 1 && cells[0].first == 0 && !isNumber(row[0])
		switch last := i+1 == len(values); {
		case alone && !last && beginsLower(values[i+1][0]) && (i+2 == len(values) || !beginsLower(values[i+2][0])):
			values[i+1][0] = row[0] + " " + values[i+1][0] // a wrapped label
			continue
		case alone && !last && len(t.rows[from+i+1].cells) > 1:
			w.section, indented = tableCell{text: row[0], left: cells[0].left}, t.rows[from+i+1].cells[0].left > cells[0].left+2
			continue
		case indented && cells[0].first == 0 && cells[0].left <= w.section.left+2:
			w.section, indented = tableCell{}, false
		}
		head := w.head
		if w.out.Len() > w.full {
			head = nil
		}
		w.paragraph(document.Record(w.section.text, head, row))
	}
}

func beginsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// continues reports whether columns begin about where those of another table do.
func (t *table) continues(edges []float64) bool {
	height := t.rows[0].height
	return len(edges) == len(t.edges) && math.Abs(edges[0]-t.edges[0]) <= 0.5*height &&
		slices.EqualFunc(t.edges, edges, func(a, b float64) bool { return math.Abs(a-b) <= 2*height })
}

// headRows returns how many rows name the columns, and whether that is sure: they stand above a ruling line,
// above the first row of numbers, or in bold.
func (t *table) headRows() (n int, sure bool) {
	if n = t.ruledHead(); n > 0 && !t.ruled {
		return n, true
	}
	n = slices.IndexFunc(t.rows, func(r tableRow) bool { return r.numeric(isNumber) })
	if n >= 0 && n+1 < len(t.rows) && t.rows[n].numeric(isYear) && !t.rows[n+1].numeric(isYear) { // years name columns
		n += 1 + slices.IndexFunc(t.rows[n+1:], func(r tableRow) bool { return r.numeric(isNumber) })
	}
	for n > 0 && len(t.rows[n-1].cells) == 1 && t.rows[n-1].cells[0].first == 0 { // a section
		n--
	}
	labelled := 0
	for _, r := range t.rows[:max(0, n)] {
		if r.cells[0].first == 0 {
			labelled++
		}
	}
	if n > 0 && n <= maxHeadLines && labelled <= maxHeadRows {
		return n, true
	}
	if n = slices.IndexFunc(t.rows, func(r tableRow) bool { return !r.bold }); n > 0 && n <= maxHeadRows {
		return n, true
	}
	if (t.ruled || t.rows[0].rule) && len(t.rows) > 2 && len(t.rows[0].cells) == len(t.edges) && !slices.ContainsFunc(t.rows[0].cells, func(c tableCell) bool { return isNumber(c.text) }) {
		return 1, false
	}
	return 0, false
}

// ruledHead returns the number of rows above the first line between rows, 0 if it is not near the top or if
// many rows are ruled.
func (t *table) ruledHead() int {
	first, rules := 0, 0
	for i, r := range t.rows[:len(t.rows)-1] {
		if r.rule {
			if rules++; first == 0 {
				first = i + 1
			}
		}
	}
	if first > maxHeadLines || 3*rules > len(t.rows) && rules > 1 {
		return 0
	}
	return first
}

// numeric reports whether half of the cells beside a first one are numbers of a kind.
func (r tableRow) numeric(kind func(string) bool) bool {
	if r.cells[0].first > 0 {
		return false // it names columns
	}
	n, all := 0, 0
	for _, c := range r.cells {
		if c.first == 0 {
			continue
		}
		all++
		if kind(c.text) {
			n++
		}
	}
	return all > 0 && 2*n >= all
}

var yearOrDate = regexp.MustCompile(`^\D{0,12}((1[89]|20)\d\d([-/–](\d\d|20\d\d))?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}-\d\d-\d\d)\D{0,3}$`)

// isYear reports whether a cell is a year or a date, which may name a column.
func isYear(s string) bool { return yearOrDate.MatchString(s) }

// names joins the first rows from the top for each column.
func (t *table) names(rows int) []string {
	if rows == 0 {
		return nil
	}
	parts := make([][]string, len(t.edges))
	for _, r := range t.rows[:rows] {
		for _, c := range r.cells {
			for k := c.first; k <= c.last; k++ {
				if n := len(parts[k]); n == 0 || parts[k][n-1] != c.text {
					parts[k] = append(parts[k], c.text)
				}
			}
		}
	}
	names := make([]string, len(parts))
	for k, p := range parts {
		names[k] = document.Short(strings.Join(p, " "))
	}
	return names
}

// values returns the texts of the rows from a row on. A cell is repeated in each row that it covers; with ruling lines,
// also in each column.
func (t *table) values(from int) [][]string {
	type covering struct {
		text string
		rows int
	}
	above := make([]covering, len(t.edges))
	var values [][]string
	for _, r := range t.rows[from:] {
		row := make([]string, len(t.edges))
		for k := range above {
			if a := &above[k]; a.rows > 0 {
				row[k] = a.text
				a.rows--
			}
		}
		for _, c := range r.cells {
			last := c.first
			if t.ruled && c.first > 0 {
				last = c.last
			}
			for k := c.first; k <= last; k++ {
				row[k] = strings.TrimSpace(row[k] + " " + c.text)
				if c.down > 0 {
					above[k] = covering{c.text, c.down}
				}
			}
		}
		values = append(values, row)
	}
	return values
}
