package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
)

// pdfWith returns a PDF of pages, each given as the content of its stream, with Helvetica as /F, Helvetica
// Bold as /B and Courier as /C. extra adds entries of the trailer, and objects from number 100 on.
func pdfWith(trailer string, extra []string, pages ...string) []byte {
	var b bytes.Buffer
	offsets := map[int]int{}
	object := func(n int, body string) {
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	b.WriteString("%PDF-1.7\n")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 10+2*i))
	}
	object(1, "<</Type/Catalog/Pages 2 0 R/Outlines 101 0 R>>")
	object(2, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids)))
	object(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	object(4, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>")
	object(5, "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>\nstream\nx\nendstream")
	object(6, "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>")
	for i, p := range pages {
		object(10+2*i, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R/B 4 0 R/C 6 0 R>>/XObject<</I 5 0 R>>>>>>", 11+2*i))
		object(11+2*i, fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(p), p))
	}
	for i, e := range extra {
		object(100+i, e)
	}
	start := b.Len()
	b.WriteString("xref\n0 1\n0000000000 65535 f \n")
	for n := 1; n < 100+len(extra); n++ {
		if at, ok := offsets[n]; ok {
			fmt.Fprintf(&b, "%d 1\n%010d 00000 n \n", n, at)
		}
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", 100+len(extra), trailer, start)
	return b.Bytes()
}

// pdfOf returns a PDF of so many empty pages.
func pdfOf(pages int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var offsets []int
	for i, body := range []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Repeat("3 0 R ", pages), pages),
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	start := b.Len()
	b.WriteString("xref\n0 4\n0000000000 65535 f \n")
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}

// line is a content stream that shows text at a position.
func line(font string, size, x, y int, text string) string {
	return fmt.Sprintf("BT /%s %d Tf %d %d Td (%s) Tj ET\n", font, size, x, y, text)
}

// column shows lines of body type below each other.
func column(x, y int, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(line("F", 10, x, y-12*i, l))
	}
	return b.String()
}

func TestPDF(t *testing.T) {
	head := func(n int) string {
		return line("F", 8, 72, 800, "Staff handbook") + line("F", 8, 300, 30, fmt.Sprintf("Page %d of 4", n))
	}
	data := pdfWith("/Info 100 0 R", []string{"<</Title(Microsoft Word - x.doc)/Author(A. Author)>>"},
		head(1)+line("B", 20, 72, 750, "Handbook")+
			column(72, 700, "Each of us has twenty-six days of leave a year, and whoever has worked for more", "than ten years has thirty. Leave that was not taken ends in the fol-", "lowing March."),
		head(2)+line("B", 14, 72, 750, "Travel")+
			column(72, 720, "The left column tells of trains, and it goes", "down to its end before the right one be-")+
			column(320, 720, "gins, which tells of planes and nothing else", "that could be of any use."),
		head(3)+column(72, 700, "City      ")+column(200, 700, "Rate")+column(300, 700, "Nights")+
			column(72, 688, "Hanoi")+column(200, 688, "45")+column(300, 688, "3")+
			line("F", 10, 72, 650, "A sentence may begin on one page and run on until it comes to")+"",
		head(4)+column(72, 720, "its end on the next."),
	)
	doc, err := load.Parse(t.Context(), "a/handbook.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "title %s, %s\n", doc.Title, doc.Meta["author"])
	for _, c := range chunk.Cut(doc, chunk.Options{Min: -1}) {
		if c.Text != doc.Text[c.Start:c.End] || c.StartLine != 0 || c.Lines != nil {
			t.Errorf("chunk %+v is no slice, or has lines", c)
		}
		fmt.Fprintf(&b, "-- page %d to %d, %q\n%s\n", c.Page, c.PageAt(c.End-1), c.Headings, c.Text)
	}
	golden.Assert(t, filepath.Join("testdata", "pdf.golden"), []byte(b.String()))
}

// TestPDFIndex checks that the index at the end of a book is left out.
func TestPDFIndex(t *testing.T) {
	var entries []string
	for i := range 20 {
		entries = append(entries, fmt.Sprintf("part %c, %d, %d", 'a'+i, i+1, i+30))
	}
	doc, err := load.Parse(t.Context(), "book.pdf", pdfWith("", nil, column(72, 700, "Text of the book."), column(72, 700, entries...)))
	if err != nil || doc.Text != "Text of the book.\n" {
		t.Errorf("text %q, %v", doc.Text, err)
	}
}

// TestPDFCode checks that monospaced lines are code, with their indentation, and that a monospaced name
// within a sentence is not.
func TestPDFCode(t *testing.T) {
	code := func(x, y int, text string) string { return line("C", 10, x, y, text) }
	data := pdfWith("", nil,
		line("F", 8, 72, 800, "Loops and calls 1")+
			column(72, 700, "A loop goes over the numbers and prints each one of them on a line of its own:")+
			code(96, 680, "for i in range(3):")+code(120, 668, "print\\(i\\)")+code(96, 644, "print\\('done'\\)")+
			column(72, 620, "It is shown by the command below, which is made for that, and by none of the")+
			code(72, 608, "--other-flags-of-the-program-that-there-are-and-fill-a-line")+
			column(72, 596, "that a sentence has in its midst."),
		line("F", 8, 72, 800, "Loops and calls 2")+column(72, 700, "Run this:"),
		line("F", 8, 72, 800, "Loops and calls 3")+column(72, 700, "The end."),
	)
	doc, err := load.Parse(t.Context(), "a.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	want := `A loop goes over the numbers and prints each one of them on a line of its own:

` + "```" + `
for i in range(3):
    print(i)

print('done')
` + "```" + `

It is shown by the command below, which is made for that, and by none of the --other-flags-of-the-program-that-there-are-and-fill-a-line that a sentence has in its midst.

Run this:

The end.
`
	if d := cmp.Diff(want, doc.Text); d != "" {
		t.Error(d)
	}
}

// TestPDFJustified checks that the wide spaces of a justified paragraph do not make a table, and that the
// table of contents is left out.
func TestPDFJustified(t *testing.T) {
	const words = "nnnnn nnnnn nnnnn nnnnn nnnnn" // 150 points wide
	stretched := line("F", 10, 72, 688, "mmmmm") + line("F", 10, 140, 688, "nnnnn") + line("F", 10, 194, 688, "nnnnn")
	pages := []string{
		line("B", 24, 72, 760, "The Good") + line("B", 24, 72, 720, "Title") +
			column(72, 700, words) + stretched + column(72, 676, words, words),
		column(72, 700, "Loops . . . . . . . . . . 7", "Price . . . . . . . 4.50"),
	}
	for range 10 {
		pages = append(pages, column(72, 700, "Some text."))
	}
	doc, err := load.Parse(t.Context(), "a.pdf", pdfWith("", nil, pages...))
	if err != nil {
		t.Fatal(err)
	}
	if want := words + " mmmmm nnnnn nnnnn " + words; !strings.Contains(doc.Text, want) || strings.Contains(doc.Text, "Loops") || !strings.Contains(doc.Text, "4.50") {
		t.Errorf("no %q, or the table of contents, in\n%s", want, doc.Text)
	}
	if doc.Title != "The Good Title" {
		t.Errorf("title %q", doc.Title)
	}
}

func TestPDFTrouble(t *testing.T) {
	picture := "q 500 0 0 800 0 0 cm /I Do Q"
	text := column(72, 700, "Words of a page.")
	for _, tt := range []struct {
		name string
		data []byte
		is   error
		want string
	}{
		{"scanned", pdfWith("", nil, picture, picture), load.ErrNoText, "2 pages, all of them pictures; recognise the text in them (OCR) first"},
		{"blank", pdfWith("", nil, ""), load.ErrNoText, "1 empty page"},
		{"few pages", pdfOf(3), load.ErrNoText, "3 empty pages"},
		{"too many pages", pdfOf(20_001), load.ErrTooLarge, "20001 pages, the limit is 20000"},
		{"encrypted", pdfWith("/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O("+strings.Repeat("o", 32)+")/U("+strings.Repeat("u", 32)+")>>", nil, text), load.ErrEncrypted, "save a copy without a password"},
		{"no PDF", []byte("hello"), load.ErrBroken, "it is no PDF that can be read"},
		{"cut short", pdfWith("", nil, text)[:300], load.ErrBroken, ""},
		{"a NUL", []byte("%PDF-1.4\x00"), load.ErrBroken, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load.Parse(t.Context(), "a.pdf", tt.data)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %v … %s", err, tt.is, tt.want)
			}
		})
	}
	doc, err := load.Parse(t.Context(), "a.pdf", pdfWith("", nil, text, picture))
	if err != nil || doc.Text != "Words of a page.\n" {
		t.Fatalf("%q, %v", doc.Text, err)
	}
	if d := cmp.Diff([]string{"1 page of 2 that hold pictures without text; recognise the text in them (OCR) to have it found"}, doc.Warnings); d != "" {
		t.Error(d)
	}
}

// TestPDFSlow checks that a document that takes too long is abandoned, and that the next one is read.
func TestPDFSlow(t *testing.T) {
	var page strings.Builder
	for i := range 60_000 {
		page.WriteString(line("F", 10, 72+i%400, 800-i%700, "words words words"))
	}
	path := filepath.Join(t.TempDir(), "slow.pdf")
	if err := os.WriteFile(path, pdfWith("", nil, page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := load.Load(t.Context(), load.File{Source: "slow.pdf", Path: path}, load.Limits{MaxTime: 200 * time.Millisecond})
	if !errors.Is(err, load.ErrBroken) || !strings.Contains(err.Error(), "took longer than 200ms") {
		t.Errorf("err = %v after %v", err, time.Since(begun))
	}
	for range 6 { // more than are read at a time
		if doc, err := load.Parse(t.Context(), "a.pdf", pdfWith("", nil, column(72, 700, "Words."))); err != nil || doc.Text != "Words.\n" {
			t.Errorf("afterwards: %q, %v", doc.Text, err)
		}
	}
}

// TestPDFTitle checks that a title is that of the metadata, else the largest line of the first page, else the
// name of the file.
func TestPDFTitle(t *testing.T) {
	head := func(size int, text string) string { return line("B", size, 72, 750, text) }
	body := column(72, 700, "The tower is cleaned each May by two people, and nobody else may", "climb it without a rope.")
	for _, tt := range []struct {
		name, meta, want string
		pages            []string
	}{
		{"metadata", "<</Title(The tower)>>", "The tower", []string{head(16, "Preface") + body}},
		{"program", "<</Title(\\(anonymous\\))>>", "a", []string{body}},
		{"largest", "<</Title(untitled)>>", "Guide", []string{line("F", 13, 72, 800, "Town of Ash") + head(20, "Guide") + body, head(16, "Preface") + body}},
		{"chapters", "<<>>", "a", []string{head(16, "Preface") + body, head(16, "Cleaning") + body}},
		{"first of its size", "<<>>", "How to clean", []string{head(16, "How to clean") + body, head(16, "Alarms") + body}},
		{"later page", "<<>>", "a", []string{head(14, "Preface") + body, head(20, "Part one") + body}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.pdf", pdfWith("/Info 100 0 R", []string{tt.meta}, tt.pages...))
			if err != nil || doc.Title != tt.want {
				t.Errorf("title %q, %v, want %q", doc.Title, err, tt.want)
			}
		})
	}
}

// TestPDFFiles reads PDFs of a real program, with and without tables; testdata/pdf/make.py says what is in them.
func TestPDFFiles(t *testing.T) {
	for _, name := range []string{"stations", "offer", "turned", "prose", "figures"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "pdf", name)
			data, err := os.ReadFile(path + ".pdf")
			if err != nil {
				t.Fatal(err)
			}
			doc, err := load.Parse(t.Context(), name+".pdf", data)
			if err != nil {
				t.Fatal(err)
			}
			checkChunks(t, doc)
			golden.Assert(t, path+".golden", fmt.Appendf(nil, "title %s, page labels %q\n\n%s", doc.Title, doc.Labels, doc.Text))
		})
	}
}

// TestPDFManyLines checks that pages of very many ruling lines or columns are read in seconds.
func TestPDFManyLines(t *testing.T) {
	var grid, cells, frames strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&grid, "0 %d.%d m 595 %d.%d l S %d.%d 0 m %d.%d 842 l S\n", i/4, i%4*25, i/4, i%4*25, i/6, i%6*15, i/6, i%6*15)
		fmt.Fprintf(&frames, "%d %d 6 6 re S\n", i%60*9, i/60*9)
	}
	for i := range 20_000 {
		cells.WriteString(line("F", 1, i%200*3, 800-i/200*3, "7"))
	}
	for name, page := range map[string]string{"grid": grid.String(), "frames": frames.String(), "none": ""} {
		begun := time.Now()
		if _, err := load.Parse(t.Context(), "a.pdf", pdfWith("", nil, cells.String()+page)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(begun); d > 20*time.Second {
			t.Errorf("%s: read in %v", name, d)
		}
	}
}
