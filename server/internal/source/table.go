package source

import (
	"cmp"
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
)

const (
	rowsAround  = 30  // rows shown before and after those of a passage
	maxRows     = 200 // rows shown
	maxColumns  = 200 // of a table
	nearestRows = 2   // rows that share a column make a table, in documents that are none
)

// Table is a table, or the rows of one around a passage.
type Table struct {
	Caption string   // the heading above it, such as the name of a sheet; "" without one
	Columns []string // their names; "" for a column without a name
	Rows    []Row
	Before  bool // there are more rows above
	After   bool // there are more rows below
}

// Row is a row of a table. It has at most one cell for each column.
type Row struct {
	Number int // of its line in the file, or of its row in the sheet; 0 if it has none
	Cells  [][]Span
	Marked bool // the passage has a part of it
}

// record is a row of data in the text, "column: value; column: value".
type record struct {
	line  int // of the text, from 0
	names []string
	cells []span // the values, in the text
}

// table returns the rows around a passage; nil if the passage is in no table, or the table has too many columns. A document of the form FormTable is one,
// but for its headings; elsewhere a table is several rows with the same columns.
func (t *text) table(m span) *Table {
	if len(t.starts) == 0 {
		return nil
	}
	all := t.form() == FormTable
	first, last := t.lineAt(m.start), t.lineAt(max(m.start, m.end-1))
	for all && first < len(t.starts)-1 && !t.isData(first) { // a heading above the first row
		first++
	}
	last = max(first, last)
	rows := []record{}
	named := func(r record) bool {
		return all || len(r.cells) > 1 && !slices.Contains(r.names, "")
	}
	add := func(from, step, most int) (more bool) {
		for i := from; i >= 0 && i < len(t.starts); i += step {
			b := t.bounds(i)
			if b.start == b.end {
				continue
			}
			r := t.record(i)
			if !t.isData(i) || !named(r) || !all && len(rows) > 0 && !related(rows[len(rows)-1], r) {
				return false
			}
			if most--; most < 0 {
				return true
			}
			rows = append(rows, r)
		}
		return false
	}
	before := add(first-1, -1, rowsAround)
	slices.Reverse(rows)
	above := len(rows)
	after := add(first, 1, min(last-first+1, maxRows)+rowsAround)
	if len(rows) == above || !all && len(rows) < nearestRows {
		return nil
	}
	columns := columnsOf(rows)
	if len(columns) > maxColumns {
		return nil
	}
	out := t.layOut(rows, columns, m)
	out.Before, out.After, out.Caption = before, after, t.caption(rows[0].line)
	return out
}

// isData reports whether a line of the text is neither empty nor a heading.
func (t *text) isData(line int) bool {
	b := t.bounds(line)
	return b.start < b.end && t.heading(line) == ""
}

// heading returns the text of a line that is a heading; "" for others. CSV files have none.
func (t *text) heading(line int) string {
	b := t.bounds(line)
	s := t.Text.Text[b.start:b.end]
	if rest := strings.TrimLeft(s, "#"); t.Kind != document.Table && len(rest) < len(s) && strings.HasPrefix(rest, " ") {
		return visible(strings.TrimSpace(rest))
	}
	return ""
}

// caption returns the heading above a line; "" without one.
func (t *text) caption(line int) string {
	for i := line - 1; i >= 0; i-- {
		if h := t.heading(i); h != "" {
			return h
		}
	}
	return ""
}

// related reports whether two records have a column in common.
func related(a, b record) bool {
	return slices.ContainsFunc(a.names, func(n string) bool { return slices.Contains(b.names, n) })
}

// record reads a line of data. A part without a name belongs to the value before it; before the first name it is a
// cell without one, such as a section.
func (t *text) record(line int) record {
	b, r := t.bounds(line), record{line: line}
	at := b.start
	for part := range strings.SplitSeq(t.Text.Text[b.start:b.end], "; ") {
		end := at + len(part)
		name, value, _ := strings.Cut(part, ": ")
		switch last := len(r.cells) - 1; {
		case name != "" && value != "":
			r.names, r.cells = append(r.names, name), append(r.cells, span{end - len(value), end})
		case last >= 0:
			r.cells[last].end = end
		default:
			r.names, r.cells = append(r.names, ""), append(r.cells, span{at, end})
		}
		at = end + len("; ")
	}
	return r
}

// layOut puts the cells of records below the names of their columns. Empty cells are not in the text: values of
// columns with the same name, or without one, share a cell.
func (t *text) layOut(rows []record, columns []string, m span) *Table {
	out := &Table{Columns: columns}
	for _, r := range rows {
		row := Row{Cells: make([][]Span, len(out.Columns))}
		if t.Lines != nil {
			row.Number = t.Lines[r.line]
		}
		b := t.bounds(r.line)
		row.Marked = max(b.start, m.start) < min(b.end, m.end)
		for i, name := range r.names {
			cell := &row.Cells[slices.Index(out.Columns, name)]
			if *cell != nil {
				*cell = append(*cell, Span{Text: "; "})
			}
			for _, s := range t.segments(r.cells[i], m) {
				*cell = append(*cell, Span{Text: s.Text, Marked: s.Marked})
			}
		}
		out.Rows = append(out.Rows, row)
	}
	for i, name := range out.Columns {
		out.Columns[i] = visible(name)
	}
	return out
}

// columnsOf returns the names of the columns of some rows, in their order; of more than maxColumns only some.
func columnsOf(rows []record) (out []string) {
	byLength := slices.Clone(rows)
	slices.SortStableFunc(byLength, func(a, b record) int { return cmp.Compare(len(b.cells), len(a.cells)) })
	for _, r := range byLength {
		at := 0 // behind the column before
		for _, name := range r.names {
			i := slices.Index(out, name)
			if i < 0 {
				i = at
				out = slices.Insert(out, at, name)
			}
			at = i + 1
		}
		if len(out) > maxColumns {
			break
		}
	}
	return out
}

// markedTable returns the first table of Markdown that the passage has a part of; nil without one.
func markedTable(blocks []Block) *Table {
	for _, b := range blocks {
		if b.Table != nil && slices.ContainsFunc(b.Table.Rows, func(r Row) bool { return r.Marked }) {
			return b.Table
		}
		if t := markedTable(b.Blocks); t != nil {
			return t
		}
	}
	return nil
}
