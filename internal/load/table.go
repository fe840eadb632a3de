package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxData is the maximum size of a CSV or TSV file in bytes.
const maxData = 32 << 20

// readTable writes a part for each row of a CSV or TSV file.
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
	table := tableWriter{builder: &w}
	for n := 0; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if n == 0 && isHead(row) {
			table.head = slices.Clone(row)
			continue
		}
		line, _ := r.FieldPos(0)
		if err := table.row(row, line); err != nil {
			return err
		}
	}
	table.end()
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
	head []string // names of the columns; nil without
	rows int      // below head
}

func (t *tableWriter) row(row []string, line int) error {
	var cells []string
	for i, cell := range row {
		cell = strings.Join(strings.Fields(strings.ToValidUTF8(cell, "?")), " ")
		if cell == "" {
			continue
		}
		if i < len(t.head) && strings.TrimSpace(t.head[i]) != "" {
			cell = strings.TrimSpace(t.head[i]) + ": " + cell
		}
		cells = append(cells, cell)
	}
	t.rows++
	t.part(strings.Join(cells, "; "), line)
	return t.full()
}

// end writes the names of the columns if no row followed.
func (t *tableWriter) end() {
	if t.rows == 0 {
		t.part(strings.Join(t.head, "; "), 1)
	}
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
