//go:build unix

package pdf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/ocr"
	"example.com/ragflow/internal/pdf/pdftest"
)

// reader returns OCR by a shell script instead of tesseract.
func reader(t *testing.T, script string) *ocr.Reader {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tesseract"), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\ncat > /dev/null\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	r, err := ocr.Find("eng", "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// words prints the table that tesseract would write of lines; an empty one ends a paragraph.
func words(lines ...string) string {
	out := "printf 'level\\t\\n"
	paragraph := 1
	for i, l := range lines {
		if l == "" {
			paragraph++
			continue
		}
		for w, word := range strings.Fields(l) {
			out += fmt.Sprintf("5\\t1\\t1\\t%d\\t%d\\t%d\\t%d\\t9\\t99\\t30\\t90\\t%s\\n", paragraph, i, w, 100+100*w, word)
		}
	}
	return out + "'"
}

func TestRecognisedPages(t *testing.T) {
	const picture, nothing = "q 500 0 0 800 0 0 cm /I Do Q", "printf 'level\\t\\n'"
	text := pdftest.Column(72, 700, "Words of a page.")
	recognised := words("The main valve is turned off with the blue", "key, which hangs at the en-", "trance of the pump room.", "", "Ask the mayor.")
	for _, tt := range []struct {
		name, script    string
		pages           []string
		text, err       string
		notes, warnings []string
	}{
		{
			name: "between pages with text", script: recognised, pages: []string{text, picture, text},
			text:  "Words of a page.\n\n(recognised text)\n\nThe main valve is turned off with the blue key, which hangs at the entrance of the pump room.\n\nAsk the mayor.\n\nWords of a page.\n",
			notes: []string{"the text of 1 page was recognised in pictures (OCR) and may hold mistakes"},
		},
		{
			name: "all", script: `echo >> "$0.n"; set -- Ann Bob Cat Dan Eve Flo; shift $(($(wc -l < "$0.n") - 1)); ` + words("Ask '$1' first."),
			pages: []string{picture, picture, picture, picture, picture, picture},
			text: "(recognised text)\n\nAsk Ann first.\n\n(recognised text)\n\nAsk Bob first.\n\n(recognised text)\n\nAsk Cat first.\n\n" +
				"(recognised text)\n\nAsk Dan first.\n\n(recognised text)\n\nAsk Eve first.\n\n(recognised text)\n\nAsk Flo first.\n",
			notes: []string{"the text of 6 pages was recognised in pictures (OCR) and may hold mistakes"},
		},
		{
			name: "nothing in one", script: nothing, pages: []string{text, picture}, text: "Words of a page.\n",
			warnings: []string{"1 page of 2 that hold pictures without text; OCR recognised no text in them"},
		},
		{
			name: "garbage", script: "echo garbage", pages: []string{text, picture}, text: "Words of a page.\n",
			warnings: []string{"1 page of 2 that hold pictures without text; OCR could not read them: page 2: tesseract wrote no table"},
		},
		{
			name: "failure", script: "echo no language >&2; exit 1", pages: []string{text, picture}, text: "Words of a page.\n",
			warnings: []string{"1 page of 2 that hold pictures without text; recognise the text in them (OCR) to have it found: page 2: tesseract failed: no language"},
		},
		{name: "nothing at all", script: nothing, pages: []string{picture}, err: "no text in it: 1 page, all of them pictures; OCR recognised no text in them"},
		{name: "no picture", script: "touch /never/run", pages: []string{text}, text: "Words of a page.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.pdf")
			if err := os.WriteFile(path, pdftest.With("", nil, tt.pages...), 0o600); err != nil {
				t.Fatal(err)
			}
			doc, err := load.Load(t.Context(), folder.File{Source: "a.pdf", Path: path}, load.Limits{OCR: reader(t, tt.script)})
			if tt.err != "" {
				if err == nil || !strings.HasSuffix(err.Error(), tt.err) || load.NeedsOCR(err.Error()) {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]any{tt.text, tt.notes, tt.warnings}, []any{doc.Text, doc.Notes, doc.Warnings}); d != "" {
				t.Error(d)
			}
			if n := len(doc.Pages); n != len(tt.pages) {
				t.Errorf("%d pages", n)
			}
			if got := load.NeedsOCR(fmt.Sprint(doc.Warnings)); got != (tt.name == "failure") {
				t.Errorf("needs OCR: %v", got)
			}
		})
	}
}
