package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/pdf"
	"example.com/ragflow/internal/pdf/pdftest"
)

// draw draws a page and decodes it.
func draw(t *testing.T, data []byte, page, dpi int) image.Image {
	t.Helper()
	p, err := pdf.Draw(t.Context(), data, page, dpi)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(p.PNG))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != p.Width || size.Y != p.Height {
		t.Errorf("the picture has %v, not %d × %d", size, p.Width, p.Height)
	}
	return picture
}

// ink is the smallest rectangle around all dark dots.
func ink(picture image.Image) (r image.Rectangle) {
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if red, _, _, _ := picture.At(x, y).RGBA(); red < 0x8000 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// TestFind finds the dots of a line on a page that is upright, turned or cropped.
func TestFind(t *testing.T) {
	t.Parallel()
	const line = "Each of us has twenty-six days of leave."
	upright := pdftest.With("", nil, pdftest.Column(72, 700, line))
	turned := strings.Replace(string(upright), "/MediaBox[0 0 595 842]", "/MediaBox[0 0 595 842]/Rotate 90", 1)
	cropped := strings.Replace(string(upright), "/MediaBox[0 0 595 842]", "/MediaBox[0 0 595 842]/CropBox[50 600 500 800]", 1)
	for name, data := range map[string][]byte{"upright": upright, "turned": []byte(turned), "cropped": []byte(cropped)} {
		rects, err := pdf.Find(t.Context(), data, 1, line+"\n", 0, len(line))
		if err != nil || len(rects) != 1 {
			t.Fatalf("%s: %v, %v", name, rects, err)
		}
		picture := draw(t, data, 1, 96)
		w, h := float64(picture.Bounds().Dx()), float64(picture.Bounds().Dy())
		r := rects[0]
		got := image.Rect(int(r.Left*w), int(r.Top*h), int((r.Left+r.Width)*w)+1, int((r.Top+r.Height)*h)+1)
		dots := ink(picture)
		if dots.Empty() || !dots.In(got.Inset(-2)) || got.Dx() > dots.Dx()+8 || got.Dy() > dots.Dy()+8 {
			t.Errorf("%s: found at %v, the dots are at %v", name, got, dots)
		}
	}
}

// row shows the cells of a row of a table.
func row(y int, a, b, c string) string {
	return pdftest.Column(72, y, a) + pdftest.Column(200, y, b) + pdftest.Column(300, y, c)
}

// TestFindInText finds passages of the text that was read: paragraphs, headings, words that occur again, and rows.
func TestFindInText(t *testing.T) {
	t.Parallel()
	data := pdftest.With("", nil,
		pdftest.Line("B", 20, 72, 750, "Handbook")+
			pdftest.Column(72, 700, "Each of us has twenty-six days of leave a year, and whoever has worked for more", "than ten years has thirty. Leave that was not taken ends in the fol-", "lowing March.")+
			row(600, "City      ", "Rate", "Nights")+row(588, "Hanoi", "45", "3")+row(576, "Hue", "45", "31"),
		"BT /F 10 Tf 72 700 Td (A picture follows.) Tj ET")
	doc, err := load.Parse(t.Context(), "a.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	text := doc.Text[:doc.Pages[1]]
	for _, tt := range []struct {
		quote string
		nth   int // occurrence in the text, from 0
		lines int // rectangles; 0: its place is not certain
	}{
		{"# Handbook", 0, 1},
		{"Each of us has twenty-six days", 0, 1},
		{"Leave that was not taken ends in the following March.", 0, 2},
		{"leave", 0, 1},
		{"years has thirty", 0, 1},
		{"City: Hanoi; Rate: 45; Nights: 3\n\nCity: Hue; Rate: 45; Nights: 31", 0, 6},
		{"City: Hue", 0, 0}, // too short a value to be sure of
		{"Rate: 45", 1, 0},
	} {
		at := -1
		for range tt.nth + 1 {
			i := strings.Index(text[at+1:], tt.quote)
			if i < 0 {
				t.Fatalf("%q is not in %q", tt.quote, text)
			}
			at += 1 + i
		}
		rects, err := pdf.Find(t.Context(), data, 1, text, at, at+len(tt.quote))
		if err != nil || len(rects) != tt.lines {
			t.Errorf("%q: %v, %v", tt.quote, rects, err)
		}
	}
	for _, tt := range []struct {
		text       string
		start, end int
	}{{text, 5, 5}, {text, -1, 4}, {text, 3, len(text) + 1}, {"words of a scan", 0, 5}, {"", 0, 0}} {
		if rects, err := pdf.Find(t.Context(), data, 1, tt.text, tt.start, tt.end); rects != nil || err != nil {
			t.Errorf("%q %d to %d: %v, %v", tt.text, tt.start, tt.end, rects, err)
		}
	}
}

// TestFindAll finds nearly all lines of real documents.
func TestFindAll(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"eval/field/office2a/verkauf/preisliste-2026.pdf", "eval/field/office2b/personal/instrukcja-bhp.pdf", "eval/tables/docs/price-list.pdf", "testdata/formats/handbook.pdf"} {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := load.Parse(t.Context(), name, data)
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range doc.Pages {
			text := doc.Text[from:]
			if i+1 < len(doc.Pages) {
				text = doc.Text[from:doc.Pages[i+1]]
			}
			for at := 0; at < len(text); at = document.LineEnd(text, at) {
				end := document.LineEnd(text, at)
				if rects, err := pdf.Find(t.Context(), data, i+1, text, at, end); err != nil || rects == nil && !document.IsBlank(text[at:end]) {
					t.Errorf("%s page %d: %q: %v, %v", name, i+1, text[at:end], rects, err)
				}
			}
		}
	}
}

// TestDrawOnce starts the engine once for all pages and documents.
func TestDrawOnce(t *testing.T) {
	t.Parallel()
	if err := pdf.Warm(); err != nil {
		t.Fatal(err)
	}
	first := pdf.Engine()
	data := pdftest.With("", nil, pdftest.Column(72, 700, "One."), pdftest.Column(72, 700, "Two."))
	a, b := draw(t, data, 1, 96), draw(t, data, 2, 150)
	if a.Bounds().Dx() != 794 || b.Bounds().Dx() != 1240 {
		t.Errorf("%v at 96, %v at 150 dots an inch", a.Bounds(), b.Bounds())
	}
	if pdf.Engine() != first {
		t.Error("the engine was started again")
	}
}

// bomb is a page whose forms draw each other, ten times each, so that it is never finished.
func bomb() []byte {
	var forms []string
	for i := range 12 {
		next := 101 + i
		content := strings.Repeat("/N Do ", 10)
		if i == 11 {
			content = "0 0 100 100 re f"
		}
		forms = append(forms, fmt.Sprintf("<</Type/XObject/Subtype/Form/BBox[0 0 600 900]/Resources<</XObject<</N %d 0 R>>>>/Length %d>>\nstream\n%s\nendstream", next, len(content), content))
	}
	return bytes.Replace(pdftest.With("", forms, "/N Do"), []byte("/XObject<</I 5 0 R>>"), []byte("/XObject<</N 100 0 R>>"), 1)
}

// TestDrawHostile ends with an error, and soon, whatever the file is.
func TestDrawHostile(t *testing.T) {
	t.Parallel()
	good := pdftest.With("", nil, pdftest.Column(72, 700, "One."))
	sized := func(box string) []byte {
		return bytes.Replace(good, []byte("[0 0 595 842]"), []byte(box), 1)
	}
	for name, tt := range map[string]struct {
		data []byte
		page int
		want error // nil: drawn, or an error
	}{
		"empty": {nil, 1, document.ErrBroken}, "no PDF": {[]byte("%PDF-1.7\nnothing"), 1, document.ErrBroken},
		"cut": {good[:len(good)/2], 1, document.ErrBroken}, "page 0": {good, 0, pdf.ErrNoPage}, "page 2": {good, 2, pdf.ErrNoPage},
		"huge": {sized("[0 0 1e9 1e9]"), 1, nil}, "long": {sized("[0 0 1 1e7]"), 1, nil}, "none": {sized("[0 0 0 0]"), 1, nil}, "reversed": {sized("[595 842 0 0]"), 1, nil},
	} {
		_, err := pdf.Draw(t.Context(), tt.data, tt.page, 150)
		if tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := pdf.Find(t.Context(), tt.data, tt.page, "One.", 0, 4); tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("find, %s: %v", name, err)
		}
	}
	if _, err := pdf.Draw(t.Context(), bomb(), 1, 96); err == nil {
		t.Error("the bomb was drawn")
	}
	// Drawing all of this page would take minutes.
	slow := pdftest.Packed([]byte(strings.Repeat("0 0 595 842 re f\n", 100_000)))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := pdf.Draw(ctx, slow, 1, 150); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	draw(t, good, 1, 96) // others are drawn
}
