package table

import (
	"path"
	"slices"
	"strings"

	"example.com/ragflow/internal/quantity"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// table is a table of a document, read back from the text of its chunks.
type table struct {
	chunks  []state.Chunk     // of the document
	names   []string          // of the columns
	columns []phrase          // these names
	values  []phrase          // of each column, each once
	numbers []quantity.Column // of each column; without values if they cannot be added up or compared
	rows    []row
	totals  []row    // rows that hold sums of others
	title   []string // words of the heading above it, and of the names of a document that is little but the table
	doubt   bool     // rows are hidden or incomplete, or name columns once more
}

// phrase is the name or a value of a column, in words as they are compared.
type phrase struct {
	words  []string
	column int
}

type row struct {
	cells      []string // by column
	keys       []string // their words as they are compared
	start, end int      // in the document
}

// read returns the tables of a document, given all its chunks.
func read(chunks []state.Chunk) (out []*table) {
	var whole strings.Builder
	first := chunks[0]
	for _, c := range chunks {
		gap := c.Start - first.Start - whole.Len()
		whole.WriteString(strings.Repeat("\n", max(0, gap)))       // only blank space is between chunks
		whole.WriteString(c.Text[min(len(c.Text), max(0, -gap)):]) // some chunkers let them overlap
	}
	s, title, at := whole.String(), "", 0
	var t *table        // the one of the line before
	var header []string // of the Markdown table of the line before; nil: none
	var before string   // the line before
	var fence text.Fence
	for line := range strings.Lines(s) {
		start, body := at, strings.TrimLeft(strings.TrimRight(line, " \t\r\n"), "> \t")
		at += len(line)
		var names, cells []string
		opened, opens := text.OpenFence(body)
		isRow := strings.HasPrefix(body, "|")
		if !isRow {
			header = nil
		}
		switch {
		case fence != (text.Fence{}):
			if fence.Closes(body) {
				fence = text.Fence{}
			}
		case opens:
			fence = opened
		case body == "" && !strings.HasPrefix(before, "|"): // between lines of data
			continue
		case strings.HasPrefix(body, "#"):
			title = body
		case isRow && header == nil && strings.HasPrefix(before, "|") && strings.Trim(body, "|-: \t") == "":
			header = rowCells(before)
		case isRow && header != nil:
			names, cells = header, rowCells(body)
		case !isRow:
			names, cells = lineCells(body)
			if t != nil && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.names, n) }) {
				t = nil // another table
			}
		}
		before = body
		if cells == nil || t == nil && len(cells) < 2 {
			t = nil
			continue
		}
		if t == nil {
			t = &table{chunks: chunks, title: wordsOf(title)}
			out = append(out, t)
		}
		t.doubt = t.doubt || strings.Contains(title+body, "(hidden ") // as package load says
		t.add(names, row{cells: cells, start: first.Start + start, end: first.Start + start + len(strings.TrimRight(line, " \t\r\n"))})
	}
	for _, t := range out {
		t.finish(len(s))
	}
	return out
}

// lineCells returns the names and values of a line of data, "column: value; column: value". A part without a name
// belongs to the value before it; the first one is a section, which is left out.
func lineCells(line string) (names, cells []string) {
	for part := range strings.SplitSeq(line, "; ") {
		name, value, _ := strings.Cut(part, ": ")
		switch {
		case name != "" && value != "":
			names, cells = append(names, name), append(cells, value)
		case len(cells) > 0:
			cells[len(cells)-1] += "; " + part
		}
	}
	return names, cells
}

// rowCells returns the cells of a row of Markdown.
func rowCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimLeft(line, "> \t"), "|"), "|")
	cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, c := range cells {
		cells[i] = readable.Line(strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|")))
	}
	return cells
}

// add adds a row whose cells have names, and the columns that are new. Rows with totals are set apart.
func (t *table) add(names []string, r row) {
	t.doubt = t.doubt || len(names) != len(r.cells)
	given := r.cells
	r.cells = make([]string, len(t.names))
	for n, name := range names[:min(len(names), len(given))] {
		i := slices.Index(t.names, name)
		if i < 0 {
			i = len(t.names)
			label, _, _ := strings.Cut(name, "(") // the unit may follow
			t.names, t.columns, r.cells = append(t.names, name), append(t.columns, phrase{wordsOf(label), i}), append(r.cells, "")
		}
		t.doubt = t.doubt || r.cells[i] != "" // two columns of one name
		r.cells[i] = given[n]
	}
	if label := wordsOf(r.cells[0]); len(label) > 0 && totalWords[label[0]] {
		t.doubt = t.doubt || len(label) > 1 && !totalWords[label[1]] // a name, or a part
		t.totals = append(t.totals, r)
	} else {
		t.rows = append(t.rows, r)
	}
}

// finish collects the words and numbers of the table. length is that of the document.
func (t *table) finish(length int) {
	c := t.chunks[0]
	if n := len(t.rows) - 1; n > 0 && 2*(t.rows[n].end-t.rows[0].start) > length {
		t.title = append(t.title, wordsOf(c.Title+" "+strings.Join(text.NameWords(path.Base(c.Source)), " "))...)
	}
	for i, name := range t.names {
		var texts []string
		seen := map[string]bool{}
		for n := range t.rows {
			r := &t.rows[n]
			r.cells = append(r.cells, make([]string, len(t.names)-len(r.cells))...)
			cell := r.cells[i]
			words := wordsOf(cell)
			key := strings.Join(words, " ")
			texts, r.keys = append(texts, cell), append(r.keys, key)
			t.doubt = t.doubt || i == 0 && key == "" || key != "" && cell == name || totalWords[key]
			if !seen[key] {
				seen[key] = true
				t.values = append(t.values, phrase{words, i})
			}
		}
		numbers, _ := quantity.New(texts)
		codes := slices.ContainsFunc(t.columns[i].words, func(w string) bool { return codeWords[w] })
		if numbers.Years || codes || i == 0 && numbers.Unit == "" && numbers.Places == 0 {
			numbers.Values = nil
		}
		t.numbers = append(t.numbers, numbers)
		units := slices.ContainsFunc(t.columns[i].words, func(w string) bool { return unitWords[w] })
		t.doubt = t.doubt || units && len(seen) > 1
	}
}
