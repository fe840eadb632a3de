package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/ragflow/internal/document"
)

const maxData = 32 << 20 // bytes of a CSV or TSV file

// readTable writes a part for each row of a CSV or TSV file. The first row names the columns if it is as wide as
// those below; else the tables are found as in a sheet.
func (d *draft) readTable() error {
	s := d.Text[d.Body:]
	if len(s) > maxData {
		return fmt.Errorf("%w: %s of data, the limit is %s", ErrTooLarge, inBytes(int64(len(s))), inBytes(maxData))
	}
	r := csv.NewReader(strings.NewReader(s))
	r.Comma = separator(d.Source, s)
	for line := range strings.Lines(s) {
		if strings.Count(line, string(r.Comma)) > maxCells {
			return fmt.Errorf("%w: a row of more than %d cells", ErrTooLarge, maxCells)
		}
	}
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord, r.TrimLeadingSpace = -1, true, true, true
	w := d.builder()
	g := grid{builder: w, records: true, hidden: func(int) bool { return false }}
	for end := 0; ; {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue
		}
		line, _ := r.FieldPos(0)
		joined := line == end+1 // the row above may have several lines
		end, _ = r.FieldPos(len(row) - 1)
		end += strings.Count(row[len(row)-1], "\n")
		if err := g.add(gridRow{line: line, cells: textCells(row), joined: joined}); err != nil {
			return err
		}
	}
	if err := g.end(); err != nil {
		return err
	}
	w.finish(d)
	return nil
}

// part writes a separate part from a line of the file.
func (w *builder) part(text string, line int) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	w.begin()
	w.at(line)
	w.out.WriteString(text)
}

// tableWriter writes rows of data as "column: value", separated by semicolons, so that every part names its
// values.
type tableWriter struct {
	*builder
	head    []string // names of the columns; nil without
	headAt  int      // line of the names
	section string   // of the rows: stands before their values
	rows    int      // below head
}

func (t *tableWriter) row(row []string, line int) error {
	t.rows++
	t.part(document.Record(t.section, t.head, row), line)
	return t.full()
}

// end writes the names of the columns if no row followed.
func (t *tableWriter) end() {
	if t.rows == 0 {
		t.part(strings.Join(t.head, "; "), t.headAt)
	}
}

// oneLine returns valid text with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ") }

// textCells returns the cells of a row by their texts.
func textCells(texts []string) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		text = oneLine(text)
		cells[i] = cell{text: text, number: looksNumeric(text)}
	}
	return cells
}

// separator returns the character between cells: a tab in .tsv files, else the most frequent candidate in the
// first lines.
func separator(source, s string) rune {
	if strings.HasSuffix(strings.ToLower(source), ".tsv") {
		return '\t'
	}
	sample := s[:min(len(s), 8<<10)]
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		if n := strings.Count(sample, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// isHead reports whether a first row names the columns: all cells differ, and none is a number.
func isHead(row []string) bool {
	seen := map[string]bool{}
	for _, cell := range row {
		cell = strings.TrimSpace(cell)
		if _, err := strconv.ParseFloat(cell, 64); err == nil || seen[cell] && cell != "" {
			return false
		}
		seen[cell] = true
	}
	return len(row) > 1 && strings.TrimSpace(strings.Join(row, "")) != ""
}
