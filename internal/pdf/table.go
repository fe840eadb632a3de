package pdf

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type table struct {
	rows          []tableRow
	edges         []float64 // where columns begin
	ruled         bool      // ruling lines part its cells
	before, after []string  // its title and notes
	line          int       // the first of the page's lines that it holds
}

// tableRow is a row, with the cells that begin in it from left to right.
type tableRow struct {
	cells  []tableCell
	base   float64 // of its first line
	end    float64 // base of its last line
	height float64
	bold   bool
	rule   bool // a ruling line stands below it
}

// tableCell is a cell. It covers columns first to last, and rows below.
type tableCell struct {
	lines       []wordRow
	text        string
	first, last int
	down        int
	left        float64
}

// tidy sets the texts of cells, leaves out empty rows and columns, joins wrapped lines and reports whether a
// table is left.
func (t *table) tidy() bool {
	t.compact()
	t.joinWrapped()
	t.trim()
	multi, letters := 0, false
	for _, r := range t.rows {
		if len(r.cells) > 1 {
			multi++
		}
		for _, c := range r.cells {
			letters = letters || strings.ContainsFunc(c.text, unicode.IsLetter)
		}
	}
	return multi >= 2 && len(t.edges) >= 2 && (t.ruled || letters)
}

// compact sets the texts of cells and leaves out empty rows and columns.
func (t *table) compact() {
	t.line = math.MaxInt
	begins := make([]bool, len(t.edges))
	for _, r := range t.rows {
		for _, c := range r.cells {
			begins[c.first] = true
		}
	}
	column := make([]int, len(t.edges)) // its number among the kept ones
	var edges []float64
	for c, b := range begins {
		if b {
			edges = append(edges, t.edges[c])
		}
		column[c] = max(0, len(edges)-1)
	}
	t.edges = edges
	var rows []tableRow
	for i, r := range t.rows {
		if len(r.cells) == 0 {
			continue
		}
		r.bold = true
		for k := range r.cells {
			c := &r.cells[k]
			c.first, c.last = column[c.first], column[c.last]
			for _, below := range t.rows[i+1 : min(len(t.rows), i+1+c.down)] {
				if len(below.cells) == 0 {
					c.down--
				}
			}
			var words []string
			for _, l := range c.lines {
				for _, w := range l.words {
					words = append(words, w.text)
					r.bold = r.bold && w.bold
					t.line = min(t.line, w.line)
				}
				r.height = max(r.height, l.height)
			}
			c.text, c.left = strings.Join(words, " "), c.lines[0].words[0].left
			if top := c.lines[0].base; k == 0 || top > r.base {
				r.base = top
			}
			if end := c.lines[len(c.lines)-1].base; k == 0 || end < r.end {
				r.end = end
			}
			c.lines = nil
		}
		rows = append(rows, r)
	}
	t.rows = rows
}

// tightest returns the distance of the lines of a cell, if a third of the rows are clearly farther apart; else 0.
func (t *table) tightest() float64 {
	least, far := math.Inf(1), 0
	for i, r := range t.rows[1:] {
		least = min(least, t.rows[i].base-r.base)
	}
	for i, r := range t.rows[1:] {
		if t.rows[i].base-r.base > 1.2*least {
			far++
		}
	}
	if 3*far < len(t.rows) {
		return 0
	}
	return 1.1 * least
}

// joinWrapped joins a line of text to the near row above that has the same columns.
func (t *table) joinWrapped() {
	if t.ruled {
		return
	}
	tight := t.tightest()
	rows := t.rows[:1]
	for _, r := range t.rows[1:] {
		above := &rows[len(rows)-1]
		distance := above.end - r.base
		wrapped := !above.rule && (distance <= tight && len(r.cells) < len(above.cells) || r.cells[0].first > 0 && distance < 1.35*max(r.height, above.height))
		for _, c := range r.cells {
			wrapped = wrapped && !isNumber(c.text) && slices.ContainsFunc(above.cells, func(a tableCell) bool { return a.first == c.first && a.last == c.last })
		}
		if !wrapped {
			rows = append(rows, r)
			continue
		}
		for _, c := range r.cells {
			for k := range above.cells {
				if a := &above.cells[k]; a.first == c.first {
					a.text += " " + c.text
				}
			}
		}
		above.end, above.rule = r.end, r.rule
	}
	t.rows = rows
}

// trim removes title and notes: rows above and below a table with one cell over several columns.
func (t *table) trim() {
	wide := func(r tableRow, columns int) bool {
		return len(r.cells) == 1 && r.cells[0].last-r.cells[0].first+1 >= columns && r.cells[0].down == 0
	}
	for len(t.rows) > 0 && wide(t.rows[0], max(2, len(t.edges)-1)) && t.rows[0].cells[0].first == 0 {
		t.before = append(t.before, t.rows[0].cells[0].text)
		t.rows = t.rows[1:]
	}
	for n := len(t.rows) - 1; n >= 0 && wide(t.rows[n], 2); n-- {
		t.after = append([]string{t.rows[n].cells[0].text}, t.after...)
		t.rows = t.rows[:n]
	}
}

var listMark = regexp.MustCompile(`^([•–—*◦▪■●○·►➢✓o-]|\[?\(?(\d{1,3}|[A-Za-z])(\.\d{1,3})*[.)]?\]?)$`)

// plausible reports whether a table without ruling lines is one, not prose, a list or contents.
func (t *table) plausible() bool {
	letters, numbers, cells, multi := 0, 0, 0, 0
	listed, columns := true, len(t.edges) // listed: the first column only numbers the others
	for _, r := range t.rows {
		if len(r.cells) > 1 {
			multi++
		}
		for _, c := range r.cells {
			if c.first == 0 {
				listed = listed && c.last == 0 && listMark.MatchString(c.text)
			}
		}
	}
	for _, r := range t.rows {
		for _, c := range r.cells {
			if listed && c.first == 0 {
				continue
			}
			cells++
			letters += utf8.RuneCountInString(c.text)
			if isNumber(c.text) {
				numbers++
			}
		}
	}
	if listed {
		columns--
	}
	switch {
	case letters > 28*cells && 4*numbers < cells, multi == 2 && numbers == 0, t.contents():
		return false
	case 100*numbers < 15*cells:
		return columns >= 3 && multi >= 4
	case columns == 2:
		return 4*numbers >= cells
	}
	return columns > 1 || 2*numbers >= cells
}

func (t *table) size() (cells, text int) {
	for _, r := range t.rows {
		for _, c := range r.cells {
			cells++
			text += len(c.text)
		}
	}
	return cells, text
}

// contents reports whether the last column is the numbers of pages or of formulas.
func (t *table) contents() bool {
	last, before, entries, bracketed := len(t.edges)-1, 0, 0, true
	for _, r := range t.rows {
		c := r.cells[len(r.cells)-1]
		if c.last < last {
			continue
		}
		n, err := strconv.Atoi(strings.Trim(c.text, "()"))
		if err != nil || n < before {
			return false
		}
		before, bracketed = n, bracketed && c.text[0] == '('
		entries++
	}
	return (bracketed || entries >= 5) && before < maxPages
}

var noValue = regexp.MustCompile(`^([-–—.…*†‡/]+|[nN]\.?/?[aA]\.?)$`)

// isNumber reports whether a cell is a number, an amount, a date, or a sign that there is none.
func isNumber(s string) bool {
	digits, letters, word := 0, 0, false
	for _, c := range s {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c):
			word = word || digits+letters == 0
			letters++
		}
	}
	if word { // Q1 and Quay 4 are names, K-310 and EUR 20.00 are not
		digits--
	}
	return digits > 0 && digits >= letters && (!word || letters <= 4) || noValue.MatchString(s)
}
