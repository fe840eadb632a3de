package pdf_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/ocr"
)

// TestTesseract reads a scanned page with the real program; scripts/ocr installs it. The second
// page of the file is a scan, and the third lies on its side.
func TestTesseract(t *testing.T) {
	cache := t.TempDir()
	r, err := ocr.Find("eng", cache)
	if errors.Is(err, ocr.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "scan.pdf")
	doc, err := load.Load(t.Context(), folder.File{Source: "scan.pdf", Path: path}, load.Limits{OCR: r})
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(doc.Text, "(recognised text)\n")
	for _, want := range []string{"The main valve is turned off with the blue key.", "The key hangs beside the door of the pump"} {
		if !strings.Contains(after, want) {
			t.Errorf("%q was not recognised in:\n%s", want, doc.Text)
		}
	}
	if len(doc.Warnings) > 0 || len(doc.Notes) != 1 {
		t.Errorf("warnings %q, notes %q", doc.Warnings, doc.Notes)
	}
	if kept, _ := filepath.Glob(filepath.Join(cache, "*.json")); len(kept) != 1 {
		t.Errorf("%d pages are kept, want 1", len(kept))
	}
}
