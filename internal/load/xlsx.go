package load

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"example.com/ragflow/internal/document"
)

const (
	maxCells  = 16_384  // of a row, as in Excel
	maxInHeap = 1 << 20 // bytes of a sheet or of the texts; larger ones go to a temporary file
)

// readXLSX reads a workbook: a part for each sheet, with a line for each row that names its values. Dates are as
// in 2006-01-02. Formulas have their stored values. Hidden parts are marked. Its lines are the rows of a sheet.
func (d *draft) readXLSX(a *archive, w *builder) error {
	checks, err := a.checkBook(d.size)
	if err != nil {
		return err
	}
	book, err := excelize.OpenReader(bytes.NewReader(a.data), excelize.Options{
		UnzipSizeLimit: a.most, UnzipXMLSizeLimit: maxInHeap,
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return unreadableBook(err)
	}
	defer func() { _ = book.Close() }() // only read from
	isoDates(book)
	headings, parts := 0, a.sheetParts()
	for _, sheet := range book.GetSheetList() {
		headings++
		notes, err := a.comments(parts[sheet])
		if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("the comments of sheet %q were left out: %s", sheet, document.Short(err.Error())))
		}
		if err := w.readSheet(book, sheet, checks[parts[sheet]], notes); errors.Is(err, ErrTooLarge) {
			return err
		} else if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("sheet %q was not read to its end: %s", sheet, document.Short(err.Error())))
		}
	}
	formulas := 0
	for _, check := range checks {
		formulas += check.formulas
	}
	d.warnFormulas(formulas)
	charts := 0
	for name := range a.files {
		if strings.HasPrefix(name, "xl/charts/chart") {
			charts++
		}
	}
	d.warnUnread(charts, "chart")
	if len(w.places) == headings {
		return fmt.Errorf("%w: no sheet of it has values", ErrNoText)
	}
	return nil
}

func (d *draft) warnFormulas(n int) {
	if n > 0 {
		d.Warnings = append(d.Warnings, plural(n, "formula")+" without a stored value: left out; open the file in a spreadsheet and save it again")
	}
}

// checkBook unpacks a workbook once without keeping it. It refuses workbooks that would take much memory,
// because the library decodes each row, each text and the styles at once. It counts the formulas without a
// stored value, and finds the merged cells and hidden columns, by the part of the sheet.
func (a *archive) checkBook(size int) (map[string]*bookCheck, error) {
	checks := map[string]*bookCheck{}
	others := budgetOf(size).text // bytes that the library keeps in memory
	for name, f := range a.files {
		switch large := f.UncompressedSize64 > maxPart; {
		case name == "xl/sharedStrings.xml", strings.HasPrefix(name, "xl/worksheets/") && path.Ext(name) == ".xml":
			check := &bookCheck{most: budgetOf(size).blocks}
			if err := a.stream(name, check); err != nil && !errors.Is(err, ErrBroken) {
				return nil, err
			}
			slices.SortStableFunc(check.spans, func(a, b span) int { return cmp.Compare(a.top, b.top) })
			checks[name] = check
			continue
		case large && (name == "xl/styles.xml" || name == "xl/workbook.xml" || strings.HasSuffix(name, ".rels") || name == "[Content_Types].xml"):
			return nil, fmt.Errorf("%w: %s has more than %s", ErrTooLarge, name, inBytes(maxPart))
		}
		if others -= int(min(f.UncompressedSize64, 1<<40)); others < 0 { //nolint:gosec // fits
			return nil, fmt.Errorf("%w: it unpacks to more than %s beside its sheets", ErrTooLarge, inBytes(int64(budgetOf(size).text)))
		}
	}
	return checks, nil
}

// bookCheck counts the texts of a workbook, the cells of a row, and the formulas without a value.
type bookCheck struct {
	most, texts, cells, run, formulas int

	spans   []span   // at most so many
	columns [][2]int // that are hidden: first and last, from 1

	formula, inValue, value bool // of the cell
}

func (c *bookCheck) start(e xml.StartElement) bool {
	switch e.Name.Local {
	case "si":
		c.texts++
		c.run = 0
	case "row":
		c.cells = 0
	case "c":
		c.cells++
		c.run = 0
		c.formula, c.value = false, false
	case "f":
		c.formula = true
	case "v":
		c.inValue = true
	case "col":
		first, _ := strconv.Atoi(attribute(e, "min")) // 0 is no column
		last, _ := strconv.Atoi(attribute(e, "max"))
		if hidden := attribute(e, "hidden"); (hidden == "1" || hidden == "true") && len(c.columns) < maxCells {
			c.columns = append(c.columns, [2]int{first, last})
		}
	case "hyperlink":
		c.run = 0
	case "mergeCell":
		c.run = 0
		from, to, _ := strings.Cut(attribute(e, "ref"), ":")
		left, top, err := excelize.CellNameToCoordinates(from)
		right, bottom, err2 := excelize.CellNameToCoordinates(to)
		if err == nil && err2 == nil && len(c.spans) < c.most {
			c.spans = append(c.spans, span{top: top, left: left - 1, bottom: bottom, right: right - 1})
		}
	}
	c.run++
	return true
}

// hidden reports whether a column, from 0, is hidden.
func (c *bookCheck) hidden(column int) bool {
	return slices.ContainsFunc(c.columns, func(r [2]int) bool { return r[0] <= column+1 && column+1 <= r[1] })
}

func (c *bookCheck) text(string) { c.value = c.value || c.inValue }

func (c *bookCheck) end(name string) error {
	switch {
	case name == "v":
		c.inValue = false
	case name == "c" && c.formula && !c.value:
		c.formulas++
	}
	switch {
	case c.texts > c.most:
		return fmt.Errorf("%w: more than %d different texts", ErrTooLarge, c.most)
	case c.cells > maxCells:
		return fmt.Errorf("%w: a row of more than %d cells", ErrTooLarge, maxCells)
	case c.run > maxCells:
		return fmt.Errorf("%w: a cell of more than %d parts", ErrTooLarge, maxCells)
	}
	return nil
}

// unreadableBook says why a workbook cannot be opened.
func unreadableBook(err error) error {
	switch {
	case errors.Is(err, excelize.ErrWorkbookPassword), errors.Is(err, excelize.ErrWorkbookFileFormat):
		return fmt.Errorf("%w, or of another format: save a copy without a password as .xlsx", ErrEncrypted)
	case strings.Contains(err.Error(), "unzip size exceeds"):
		return fmt.Errorf("%w: it unpacks to too many bytes", ErrTooLarge)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: there is no workbook in it", ErrBroken)
	}
	return fmt.Errorf("%w: %s", ErrBroken, document.Short(err.Error()))
}

// readSheet writes the rows of a sheet below its name; check may be nil.
func (w *builder) readSheet(book *excelize.File, name string, check *bookCheck, notes map[int][]sheetNote) error {
	rows, err := book.Rows(name)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // only read from
	visible, err := book.GetSheetVisible(name)
	sheet := hiddenMark(err == nil && !visible, "sheet")
	w.at(1)
	w.heading(1, name+sheet)
	if check == nil {
		check = &bookCheck{}
	}
	g := grid{builder: w, spans: check.spans, hidden: check.hidden, unvalued: check.formulas > 0}
	for n := 1; rows.Next(); n++ {
		hidden := cmp.Or(sheet, hiddenMark(rows.GetRowOpts().Hidden, "row"))
		texts, err := rows.Columns()
		if err == nil {
			err = g.add(gridRow{line: n, cells: withNotes(withDates(textCells(texts)), notes[n]), hidden: hidden})
		}
		if err != nil {
			_ = g.end() // what was read so far
			return err
		}
		delete(notes, n)
	}
	for _, n := range slices.Sorted(maps.Keys(notes)) {
		if err := g.add(gridRow{line: n, cells: withNotes(nil, notes[n]), hidden: sheet}); err != nil {
			return err
		}
	}
	return cmp.Or(g.end(), rows.Error())
}
