package load

import (
	"slices"
	"strings"
	"unicode"
)

// Limits of the search for tables in a sheet.
const (
	windowRows  = 20      // rows that are read before the columns of a table are named
	windowCells = 1 << 16 // of these rows
	maxSpan     = 1 << 10 // columns of a merged cell behind the end of a row
	maxHeads    = 3       // rows that name the columns of one table
	maxSection  = 80      // bytes of a row that is repeated before the rows below it
)

// cell is a cell of a sheet as a person sees it.
type cell struct {
	text       string // without spaces around it; "" for an empty cell
	note       string // the comment
	over       string // the text of the merged cell that covers this one
	number     bool   // or a date
	wide, tall bool   // part of a merged cell of several columns, of several rows
}

type gridRow struct {
	line   int // from 1
	cells  []cell
	hidden string // says that it is hidden, behind its values; "" for others
	joined bool   // no line is empty between the row above and this one
}

// span is a merged cell; rows count from 1, columns from 0, ends are included.
type span struct {
	top, left, bottom, right int

	text string // once its first row was read
}

// grid finds the tables of a sheet while its rows are read, and writes their rows. An empty row, or two empty
// columns, end a table.
type grid struct {
	*builder
	spans  []span // that begin below, in the order of their first rows
	open   []span // of the current row
	hidden func(column int) bool

	records  bool // it may be one table, whose first row is the widest and names the columns
	single   bool // it is
	unvalued bool // values are missing, so a row of one text is a row like others

	window []gridRow // the first rows of the tables, until these are decided
	cells  int       // of the window
	last   int       // line of the last row with a text
	tables []*gridTable
	before []*gridTable // those above, whose names may be those of the rows below too
}

// add reads a row; rows without text may be left out. The grid keeps and changes the cells.
func (g *grid) add(row gridRow) error {
	if !slices.ContainsFunc(row.cells, cell.filled) {
		return nil
	}
	if g.records {
		if g.window = append(g.window, row); len(g.window) < windowRows {
			return nil
		}
		return g.decideRecords()
	}
	row.cells = g.merge(row)
	if row.line > g.last+1 && !row.joined && !g.single {
		if err := g.endTables(); err != nil {
			return err
		}
	}
	g.last = row.line
	if g.tables != nil {
		return g.write(row)
	}
	g.window = append(g.window, row)
	if g.cells += len(row.cells); len(g.window) < windowRows && g.cells < windowCells {
		return nil
	}
	return g.decide()
}

// merge marks the cells of a row that are part of merged ones, and returns it with those behind its end.
func (g *grid) merge(row gridRow) []cell {
	cells := row.cells
	columns := 0 // that merged cells cover
	g.open = slices.DeleteFunc(g.open, func(s span) bool { return s.bottom < row.line })
	for _, s := range g.open {
		columns += s.right - s.left + 1
	}
	for len(g.spans) > 0 && g.spans[0].top <= row.line {
		s := g.spans[0]
		g.spans = g.spans[1:]
		if columns += s.right - s.left + 1; s.top == row.line && s.left < len(cells) && columns <= 2*maxCells { // they never overlap
			s.text = cells[s.left].text
			g.open = append(g.open, s)
		}
	}
	for _, s := range g.open {
		if end := min(s.right+1, s.left+maxSpan); len(cells) < end {
			cells = append(cells, make([]cell, end-len(cells))...)
		}
		for i := s.left; i <= s.right && i < len(cells); i++ {
			c := &cells[i]
			c.wide, c.tall = s.right > s.left, s.bottom > s.top
			if c.text == "" {
				c.over = s.text
			}
		}
	}
	return cells
}

// decide finds the tables beside each other in the window, and writes its rows.
func (g *grid) decide() error {
	rows := g.window
	g.window, g.cells = nil, 0
	for i, from := range columnsApart(rows) {
		t := g.table(from)
		if i > 0 {
			g.tables[i-1].to = from
			t.builder = &builder{most: g.most} // written below the first table
		}
		g.tables = append(g.tables, t)
	}
	for _, t := range g.tables {
		var own []gridRow
		for _, row := range rows {
			if row.cells = t.own(row.cells); slices.ContainsFunc(row.cells, cell.filled) {
				own = append(own, row)
			}
		}
		if err := t.begin(own, g.before); err != nil {
			return err
		}
	}
	return nil
}

// decideRecords finds out whether the first row names the columns of all others.
func (g *grid) decideRecords() error {
	rows := g.window
	g.window, g.records = nil, false
	most, _, _ := count(rows[0].cells)
	g.single = nameColumns(rows[0].cells, false) && !slices.ContainsFunc(rows, func(r gridRow) bool {
		texts, _, _ := count(r.cells)
		return texts > most
	})
	if g.single {
		t := g.table(0)
		t.head, t.headAt = t.joined(rows[:1]), rows[0].line
		g.tables, rows = append(g.tables, t), rows[1:]
	}
	for _, row := range rows {
		if err := g.add(row); err != nil {
			return err
		}
	}
	return nil
}

func (g *grid) table(from int) *gridTable {
	return &gridTable{tableWriter: tableWriter{builder: g.builder}, from: from, hidden: g.hidden, unvalued: g.unvalued}
}

func (g *grid) write(row gridRow) error {
	for _, t := range g.tables {
		own := row
		own.cells = t.own(row.cells)
		if err := t.data(own); err != nil {
			return err
		}
	}
	return nil
}

// endTables ends the tables of the rows so far.
func (g *grid) endTables() error {
	if g.window != nil {
		if err := g.decide(); err != nil {
			return err
		}
	}
	for i, t := range g.tables {
		t.endSection()
		if i > 0 {
			g.append(t.builder)
			t.builder = g.builder
		}
	}
	if g.single || slices.ContainsFunc(g.tables, func(t *gridTable) bool { return t.width > 1 }) { // else a title or a note
		g.endNames()
		g.before = g.tables
	}
	g.tables = nil
	return g.full()
}

// endNames writes the names of tables that no row followed.
func (g *grid) endNames() {
	for _, t := range g.before {
		t.end()
	}
}

func (g *grid) end() error {
	if g.records && g.window != nil {
		if err := g.decideRecords(); err != nil {
			return err
		}
	}
	err := g.endTables()
	g.endNames()
	return err
}

// columnsApart returns the first columns of tables beside each other. Two empty columns part them, if each
// has at least two columns.
func columnsApart(rows []gridRow) []int {
	width := 0
	for _, row := range rows {
		width = max(width, len(row.cells))
	}
	used := make([]bool, width)
	for _, row := range rows {
		for i, c := range row.cells {
			used[i] = used[i] || c.filled()
		}
	}
	var starts []int
	columns, gap := 0, width // of the table, and since its last column
	for i := range used {
		switch {
		case !used[i]:
			gap++
			continue
		case starts == nil, gap >= 2 && columns >= 2 && i+1 < width && used[i+1]:
			starts, columns = append(starts, i), 0
		}
		columns++
		gap = 0
	}
	return starts
}

// hiddenMark says behind a text that a part of a document is hidden.
func hiddenMark(hidden bool, part string) string {
	if !hidden {
		return ""
	}
	return " (hidden " + part + ")"
}

func (c cell) filled() bool { return c.text != "" || c.note != "" }

// shown returns the text of a cell, or of the merged one that covers it.
func (c cell) shown() string {
	if c.text == "" {
		return c.over
	}
	return c.text
}

// count returns the numbers of cells with a text, of those that show one, and of numbers.
func count(cells []cell) (texts, shown, numbers int) {
	for _, c := range cells {
		if c.filled() {
			texts++
		}
		if c.shown() != "" {
			shown++
		}
		if c.number {
			numbers++
		}
	}
	return texts, shown, numbers
}

// isData reports whether a row holds values: half of its texts or more are numbers, but not only years or
// dates, which may name columns.
func isData(cells []cell) bool {
	texts, _, numbers := count(cells)
	return texts > 1 && 2*numbers >= texts && !isCalendar(cells)
}

// isCalendar reports whether all numbers of a row are years or dates.
func isCalendar(cells []cell) bool {
	return !slices.ContainsFunc(cells, func(c cell) bool {
		isYear := len(c.text) == 4 && c.text >= "1900" && c.text <= "2100"
		isDate := len(c.text) >= len("2006-01-02") && c.text[4] == '-'
		return c.number && !isYear && !isDate
	})
}

// looksNumeric reports whether a text is a number, an amount or a date, perhaps with a short unit.
func looksNumeric(s string) bool {
	if number, unit, ok := strings.Cut(s, " "); ok && len(unit) <= 3 && !strings.ContainsFunc(unit, unicode.IsDigit) {
		s = number
	}
	return strings.ContainsFunc(s, unicode.IsDigit) && !strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsDigit(c) && !unicode.IsSpace(c) && !unicode.Is(unicode.Sc, c) && !strings.ContainsRune(".,:;'’+-−–()/%‰", c)
	})
}
