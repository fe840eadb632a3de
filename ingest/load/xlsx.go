package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"example.com/ragflow/ingest/document"
)

// headRows is among how many rows of a sheet the one is looked for that names the columns.
const headRows = 20

// readXLSX makes the text of a workbook: a part for each visible sheet, with a line for each
// row that says what its values are. Dates are as in 2006-01-02. Formulas have the values that
// were stored with them. Its lines are the rows of a sheet.
func (d *draft) readXLSX(data []byte) error {
	d.Encoding = "xlsx"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	if texts, err := a.read("xl/sharedStrings.xml"); err == nil && bytes.Count(texts, []byte("<si")) > maxRecords {
		return fmt.Errorf("%w: more than %d different texts", ErrTooLarge, maxRecords)
	} else if errors.Is(err, ErrTooLarge) {
		return err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked, // with equal limits nothing goes to a file
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return unreadableBook(err)
	}
	defer func() { _ = book.Close() }() // only read from
	var w builder
	for _, sheet := range book.GetSheetList() {
		if visible, err := book.GetSheetVisible(sheet); err == nil && !visible {
			d.Warnings = append(d.Warnings, fmt.Sprintf("sheet %q is hidden and was left out", sheet))
			continue
		}
		if err := w.sheet(book, sheet); errors.Is(err, ErrTooLarge) {
			return err
		} else if err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("sheet %q was not read to its end: %s", sheet, shortText(err.Error())))
		}
	}
	if n := a.count("xl/charts/chart"); n > 0 {
		d.Warnings = append(d.Warnings, plural(n, "chart")+" in it: not read")
	}
	if !slices.ContainsFunc(w.blocks, func(b document.Block) bool { return b.Level == 0 }) {
		return fmt.Errorf("%w: no visible sheet of it has values", ErrNoText)
	}
	w.finish(d)
	d.Meta, d.Title = officeMeta(a.optional("docProps/core.xml").child("coreProperties"))
	return nil
}

// unreadableBook says why a workbook cannot be opened.
func unreadableBook(err error) error {
	switch {
	case errors.Is(err, excelize.ErrWorkbookPassword), errors.Is(err, excelize.ErrWorkbookFileFormat):
		return fmt.Errorf("%w, or of another format: save a copy without a password as .xlsx", ErrEncrypted)
	case strings.Contains(err.Error(), "unzip size exceeds"):
		return fmt.Errorf("%w: it unpacks to more than %s", ErrTooLarge, inBytes(maxUnpacked))
	}
	if errors.Is(err, io.EOF) {
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
		if n > maxRecords {
			return fmt.Errorf("%w: more than %d rows", ErrTooLarge, maxRecords)
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
