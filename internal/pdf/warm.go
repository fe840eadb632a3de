package pdf

import (
	"context"
	_ "embed" // of the specimen

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
)

// specimen is a page with text in a font of its own, a line, an area and a picture, made by testdata/specimen.py.
//
//go:embed specimen.pdf
var specimen []byte

// warm reads and draws the specimen before there are two readers. When PDFium first calls back a function of a type,
// wazero notes that type without a lock, so that two readers at once would race. The specimen has all types that the
// tests know.
func warm(pool pdfium.Pool) error {
	r, err := newReader(context.Background(), func() (pdfium.Pool, error) { return pool, nil }, len(specimen))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // frees memory
	if err := r.open(specimen); err != nil {
		return err
	}
	if _, err := r.page(0); err != nil {
		return err
	}
	loaded, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: 0})
	if err != nil {
		return err
	}
	_, err = r.draw(requests.Page{ByReference: &loaded.Page}, 99, 99)
	return err
}
