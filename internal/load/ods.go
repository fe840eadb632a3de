package load

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const maxRepeats = 1000 // times that a row or cell with a text is read that a file says to repeat

var odsRoles = map[string]string{
	"p": isParagraph, "s": " ", "tab": " ", "line-break": " ", "tracked-changes": isSkipped, "title": isSkipped, "desc": isSkipped,
}

// readODS reads an OpenDocument spreadsheet as readXLSX reads a workbook.
func (d *draft) readODS(a *archive, out *builder) error {
	w := odsReader{officeReader: officeReader{builder: out, roles: odsRoles, direct: true}, unseen: map[string]bool{}}
	w.more, w.ended, w.write = w.element, w.elementEnd, w.paragraphEnd
	if err := a.stream("content.xml", &w); err != nil {
		return err
	}
	if len(w.places) == w.sheets {
		return fmt.Errorf("%w: no sheet of it has values", ErrNoText)
	}
	d.warnFormulas(w.formulas)
	if w.cut > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s repeated more than %d times: not read to the end", plural(w.cut, "row"), maxRepeats))
	}
	d.warnUnread(w.charts, "chart")
	return nil
}

type odsReader struct {
	officeReader
	unseen map[string]bool // styles of hidden sheets
	style  string          // that is being read
	err    error           // the first one

	grid      *grid  // of the open sheet
	columns   []bool // which columns of the sheet are hidden
	sheetMark string // says that the sheet is hidden

	line    int    // of the row
	repeat  int    // of the row
	rowMark string // says that the row is hidden
	cells   []cell // of the row
	blanks  int    // empty cells since the last one in cells
	pending int    // bytes of the row

	value  xml.StartElement // of the cell
	inCell bool
	said   strings.Builder // the text of the cell
	noted  strings.Builder // the comment

	sheets, charts int
	formulas       int // without a value
	cut            int // rows repeated too often
}

// isUnseen reports whether a row or column is hidden.
func isUnseen(e xml.StartElement) bool {
	v := attribute(e, "visibility")
	return v == "collapse" || v == "filter"
}

// repeats returns a number of an attribute, at least 1.
func repeats(e xml.StartElement, name string) int {
	n, err := strconv.Atoi(attribute(e, name))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1<<21)
}

func (w *odsReader) element(e xml.StartElement) bool {
	switch e.Name.Local {
	case "style":
		w.style = attribute(e, "name")
	case "table-properties":
		if attribute(e, "display") == "false" {
			w.unseen[w.style] = true
		}
	case "table":
		name := attribute(e, "name")
		if strings.HasPrefix(name, "'file:") { // values of another file
			return false
		}
		w.sheets++
		w.at(1)
		w.sheetMark = hiddenMark(w.unseen[attribute(e, "style-name")], "sheet")
		w.heading(1, name+w.sheetMark)
		w.columns, w.line = nil, 1
		w.grid = &grid{builder: w.builder, hidden: func(column int) bool { return column < len(w.columns) && w.columns[column] }}
	case "table-column":
		for n := min(repeats(e, "number-columns-repeated"), maxCells-len(w.columns)); n > 0; n-- {
			w.columns = append(w.columns, isUnseen(e))
		}
	case "table-row":
		w.cells, w.blanks = nil, 0
		w.repeat, w.rowMark = repeats(e, "number-rows-repeated"), hiddenMark(isUnseen(e), "row")
	case "table-cell", "covered-table-cell":
		w.inCell, w.value = true, e.Copy()
	case "annotation":
		w.aside = &w.noted
	case "creator", "date", "creation-date-string":
		return false
	case "object":
		w.charts++
	}
	return true
}

// paragraphEnd adds a paragraph to the cell.
func (w *odsReader) paragraphEnd(p *officeParagraph) {
	text := p.text.String()
	w.pending += len(text)
	if w.inCell {
		w.said.WriteString(text + " ")
	} else {
		w.paragraph(text)
	}
}

func (w *odsReader) elementEnd(name string) {
	switch name {
	case "annotation":
		w.aside = nil
	case "table-cell", "covered-table-cell":
		w.inCell = false
		w.cellEnd()
	case "table-row":
		w.rowEnd()
	case "table":
		if w.grid != nil {
			w.err = cmp.Or(w.err, w.grid.end())
		}
		w.grid = nil
	}
}

func (w *odsReader) cellEnd() {
	this := cell{text: oneLine(w.said.String()), note: oneLine(w.noted.String())}
	w.said.Reset()
	w.noted.Reset()
	kind, number := attribute(w.value, "value-type"), attribute(w.value, "value")
	switch {
	case kind == "date":
		this.text = dateText(attribute(w.value, "date-value"), this.text)
	case kind == "float":
		this.text = numberText(number, this.text)
	case this.text == "":
		this.text = strings.TrimSpace(number + attribute(w.value, "string-value"))
	}
	if this.text == "" && attribute(w.value, "formula") != "" {
		w.formulas++
		if w.grid != nil {
			w.grid.unvalued = true
		}
	}
	this.number = kind == "date" || looksNumeric(this.text)
	n := repeats(w.value, "number-columns-repeated")
	if !this.filled() {
		w.blanks += n
		return
	}
	at := len(w.cells) + w.blanks
	if at >= maxCells {
		w.err = cmp.Or(w.err, fmt.Errorf("%w: a row of more than %d cells", ErrTooLarge, maxCells))
		return
	}
	w.cells = append(w.cells, make([]cell, w.blanks)...)
	w.cells = append(w.cells, slices.Repeat([]cell{this}, min(n, maxRepeats, maxCells-at))...)
	w.blanks = max(n-maxRepeats, 0)
	across, down := repeats(w.value, "number-columns-spanned"), repeats(w.value, "number-rows-spanned")
	if (across > 1 || down > 1) && w.grid != nil {
		w.grid.spans = append(w.grid.spans, span{top: w.line, left: at, bottom: w.line + down - 1, right: at + across - 1})
	}
}

// rowEnd gives the row to the sheet, as often as it is repeated.
func (w *odsReader) rowEnd() {
	w.pending = 0
	if n := min(w.repeat, maxRepeats); len(w.cells) > 0 && w.grid != nil {
		if w.repeat > n {
			w.cut++
		}
		for i := 0; i < n && w.err == nil; i++ {
			w.err = cmp.Or(w.err, w.grid.add(gridRow{line: w.line + i, cells: slices.Clone(w.cells), hidden: cmp.Or(w.sheetMark, w.rowMark)}))
		}
	}
	w.line += w.repeat
}

func (w *odsReader) end(name string) error {
	if err := w.officeReader.end(name); err != nil {
		return err
	}
	return cmp.Or(w.err, w.overfull(w.held+w.pending))
}

// dateText returns a date of a spreadsheet as in 2006-01-02 15:04, with its form in the sheet if that names
// the month or the day of the week.
func dateText(value, shown string) string {
	day, time, _ := strings.Cut(value, "T")
	if strings.Contains(shown, ":") && len(time) >= len("15:04") {
		day += " " + time[:len("15:04")]
	}
	if strings.ContainsFunc(shown, unicode.IsLetter) {
		day += " (" + shown + ")"
	}
	return day
}

// numberText returns a number as the sheet shows it, but with a decimal point.
func numberText(value, shown string) string {
	if shown == "" {
		return value
	}
	point := strings.Replace(shown, ",", ".", 1)
	_, decimals, _ := strings.Cut(point, ".")
	n, err := strconv.ParseFloat(value, 64)
	if err == nil && strconv.FormatFloat(n, 'f', len(decimals), 64) == point {
		return point
	}
	return shown
}
