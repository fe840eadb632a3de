package load

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Limits of workbooks.
const (
	headRows  = 20      // first rows of a sheet that may name the columns
	maxCells  = 16_384  // of a row, as in Excel
	maxInHeap = 1 << 20 // bytes of a sheet or of the texts; larger ones go to a temporary file
)

// readXLSX reads a workbook: a part for each visible sheet, with a line for each row that names its values.
// Dates are as in 2006-01-02. Formulas have their stored values. Its lines are the rows of a sheet.
func (d *draft) readXLSX(data []byte) error {
	d.Encoding = "xlsx"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	formulas, err := a.checkBook(d.size)
	if err != nil {
		return err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: a.most, UnzipXMLSizeLimit: maxInHeap,
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return unreadableBook(err)
	}
	defer func() { _ = book.Close() }() // only read from
	w, headings := d.builder(), 0
	for _, sheet := range book.GetSheetList() {
		if visible, err := book.GetSheetVisible(sheet); err == nil && !visible {
			d.Warnings = append(d.Warnings, fmt.Sprintf("sheet %q is hidden and was left out", sheet))
			continue
		}
		headings++
		if err := w.sheet(book, sheet); errors.Is(err, ErrTooLarge) {
			return err
		} else if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("sheet %q was not read to its end: %s", sheet, shortText(err.Error())))
		}
	}
	if formulas > 0 {
		d.Warnings = append(d.Warnings, plural(formulas, "formula")+" without a stored value: left out; open the file in a spreadsheet and save it again")
	}
	if n := a.count("xl/charts/chart"); n > 0 {
		d.Warnings = append(d.Warnings, plural(n, "chart")+" in it: not read")
	}
	if len(w.places) == headings {
		return fmt.Errorf("%w: no visible sheet of it has values", ErrNoText)
	}
	w.finish(d)
	d.about(a, "docProps/core.xml")
	return nil
}

// checkBook unpacks a workbook once without keeping it. It refuses workbooks that would take much memory,
// because the library decodes each row, each text and the styles at once. It counts the formulas without a
// stored value.
func (a *archive) checkBook(size int) (formulas int, err error) {
	others := budgetOf(size).text // bytes that the library keeps in memory
	for name, f := range a.files {
		switch large := f.UncompressedSize64 > maxPart; {
		case name == "xl/sharedStrings.xml", strings.HasPrefix(name, "xl/worksheets/") && path.Ext(name) == ".xml":
			check := &bookCheck{most: budgetOf(size).blocks}
			if err := a.stream(name, check); err != nil && !errors.Is(err, ErrBroken) {
				return 0, err
			}
			formulas += check.formulas
			continue
		case large && (name == "xl/styles.xml" || name == "xl/workbook.xml" || strings.HasSuffix(name, ".rels") || name == "[Content_Types].xml"):
			return 0, fmt.Errorf("%w: %s has more than %s", ErrTooLarge, name, inBytes(maxPart))
		}
		if others -= int(min(f.UncompressedSize64, 1<<40)); others < 0 { //nolint:gosec // fits
			return 0, fmt.Errorf("%w: it unpacks to more than %s beside its sheets", ErrTooLarge, inBytes(int64(budgetOf(size).text)))
		}
	}
	return formulas, nil
}

// bookCheck counts the texts of a workbook, the cells of a row, and the formulas without a value.
type bookCheck struct {
	most, texts, cells, run, formulas int

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
	}
	c.run++
	return true
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

// count returns the number of files with a name prefix.
func (a *archive) count(prefix string) (n int) {
	for name := range a.files {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
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
	return fmt.Errorf("%w: %s", ErrBroken, shortText(err.Error()))
}

// sheet writes the rows of a sheet below its name.
func (w *builder) sheet(book *excelize.File, name string) error {
	rows, err := book.Rows(name)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // only read from
	w.at(1)
	w.heading(1, name)
	table := tableWriter{builder: w}
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns()
		if err != nil {
			return err
		}
		if table.head == nil && n <= headRows && isHead(cells) {
			table.head = cells
			continue
		}
		if err := table.row(cells, n); err != nil {
			return err
		}
	}
	table.end()
	return rows.Error()
}
