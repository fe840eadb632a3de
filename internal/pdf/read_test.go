package pdf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/pdf/pdftest"
)

// checkChunks checks that the chunks of a document are slices of its text.
func checkChunks(tb testing.TB, doc document.Document) {
	tb.Helper()
	end := 0
	for _, c := range chunk.Cut(doc, chunk.Options{Size: 32}) {
		if c.Start < end || c.End > len(doc.Text) || c.Start >= c.End || c.Text != doc.Text[c.Start:c.End] {
			tb.Fatalf("chunk %d is not the text at %d to %d of %d, behind %d", c.Ordinal, c.Start, c.End, len(doc.Text), end)
		}
		end = c.End
	}
}

func TestRead(t *testing.T) {
	head := func(n int) string {
		return pdftest.Line("F", 8, 72, 800, "Staff handbook") + pdftest.Line("F", 8, 300, 30, fmt.Sprintf("Page %d of 4", n))
	}
	data := pdftest.With("/Info 100 0 R", []string{"<</Title(Microsoft Word - x.doc)/Author(A. Author)>>"},
		head(1)+pdftest.Line("B", 20, 72, 750, "Handbook")+
			pdftest.Column(72, 700, "Each of us has twenty-six days of leave a year, and whoever has worked for more", "than ten years has thirty. Leave that was not taken ends in the fol-", "lowing March."),
		head(2)+pdftest.Line("B", 14, 72, 750, "Travel")+
			pdftest.Column(72, 720, "The left column tells of trains, and it goes", "down to its end before the right one be-")+
			pdftest.Column(320, 720, "gins, which tells of planes and nothing else", "that could be of any use."),
		head(3)+pdftest.Column(72, 700, "City      ")+pdftest.Column(200, 700, "Rate")+pdftest.Column(300, 700, "Nights")+
			pdftest.Column(72, 688, "Hanoi")+pdftest.Column(200, 688, "45")+pdftest.Column(300, 688, "3")+
			pdftest.Line("F", 10, 72, 650, "A sentence may begin on one page and run on until it comes to")+"",
		head(4)+pdftest.Column(72, 720, "its end on the next."),
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
	golden.Assert(t, filepath.Join("testdata", "handbook.golden"), []byte(b.String()))
}

// TestIndex checks that the index at the end of a book is left out.
func TestIndex(t *testing.T) {
	var entries []string
	for i := range 20 {
		entries = append(entries, fmt.Sprintf("part %c, %d, %d", 'a'+i, i+1, i+30))
	}
	doc, err := load.Parse(t.Context(), "book.pdf", pdftest.With("", nil, pdftest.Column(72, 700, "Text of the book."), pdftest.Column(72, 700, entries...)))
	if err != nil || doc.Text != "Text of the book.\n" {
		t.Errorf("text %q, %v", doc.Text, err)
	}
}

// TestCode checks that monospaced lines are code, with their indentation, and that a monospaced name
// within a sentence is not.
func TestCode(t *testing.T) {
	code := func(x, y int, text string) string { return pdftest.Line("C", 10, x, y, text) }
	data := pdftest.With("", nil,
		pdftest.Line("F", 8, 72, 800, "Loops and calls 1")+
			pdftest.Column(72, 700, "A loop goes over the numbers and prints each one of them on a line of its own:")+
			code(96, 680, "for i in range(3):")+code(120, 668, "print\\(i\\)")+code(96, 644, "print\\('done'\\)")+
			pdftest.Column(72, 620, "It is shown by the command below, which is made for that, and by none of the")+
			code(72, 608, "--other-flags-of-the-program-that-there-are-and-fill-a-line")+
			pdftest.Column(72, 596, "that a sentence has in its midst."),
		pdftest.Line("F", 8, 72, 800, "Loops and calls 2")+pdftest.Column(72, 700, "Run this:"),
		pdftest.Line("F", 8, 72, 800, "Loops and calls 3")+pdftest.Column(72, 700, "The end."),
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

// TestJustified checks that the wide spaces of a justified paragraph do not make a table, and that the
// table of contents is left out.
func TestJustified(t *testing.T) {
	const words = "nnnnn nnnnn nnnnn nnnnn nnnnn" // 150 points wide
	stretched := pdftest.Line("F", 10, 72, 688, "mmmmm") + pdftest.Line("F", 10, 140, 688, "nnnnn") + pdftest.Line("F", 10, 194, 688, "nnnnn")
	pages := []string{
		pdftest.Line("B", 24, 72, 760, "The Good") + pdftest.Line("B", 24, 72, 720, "Title") +
			pdftest.Column(72, 700, words) + stretched + pdftest.Column(72, 676, words, words),
		pdftest.Column(72, 700, "Loops . . . . . . . . . . 7", "Price . . . . . . . 4.50"),
	}
	for range 10 {
		pages = append(pages, pdftest.Column(72, 700, "Some text."))
	}
	doc, err := load.Parse(t.Context(), "a.pdf", pdftest.With("", nil, pages...))
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

func TestTrouble(t *testing.T) {
	picture := "q 500 0 0 800 0 0 cm /I Do Q"
	text := pdftest.Column(72, 700, "Words of a page.")
	for _, tt := range []struct {
		name string
		data []byte
		is   error
		want string
	}{
		{"scanned", pdftest.With("", nil, picture, picture), load.ErrNoText, "2 pages, all of them pictures; recognise the text in them (OCR) first"},
		{"blank", pdftest.With("", nil, ""), load.ErrNoText, "1 empty page"},
		{"few pages", pdftest.Blank(3), load.ErrNoText, "3 empty pages"},
		{"too many pages", pdftest.Blank(20_001), load.ErrTooLarge, "20001 pages, the limit is 20000"},
		{"encrypted", pdftest.With("/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O("+strings.Repeat("o", 32)+")/U("+strings.Repeat("u", 32)+")>>", nil, text), load.ErrEncrypted, "save a copy without a password"},
		{"no PDF", []byte("hello"), load.ErrBroken, "it is no PDF that can be read"},
		{"cut short", pdftest.With("", nil, text)[:300], load.ErrBroken, ""},
		{"a NUL", []byte("%PDF-1.4\x00"), load.ErrBroken, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load.Parse(t.Context(), "a.pdf", tt.data)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %v … %s", err, tt.is, tt.want)
			}
		})
	}
	doc, err := load.Parse(t.Context(), "a.pdf", pdftest.With("", nil, text, picture))
	if err != nil || doc.Text != "Words of a page.\n" {
		t.Fatalf("%q, %v", doc.Text, err)
	}
	if d := cmp.Diff([]string{"1 page of 2 that hold pictures without text; recognise the text in them (OCR) to have it found"}, doc.Warnings); d != "" {
		t.Error(d)
	}
}

// TestSlow checks that a document that takes too long is abandoned, and that the next one is read.
func TestSlow(t *testing.T) {
	var page strings.Builder
	for i := range 60_000 {
		page.WriteString(pdftest.Line("F", 10, 72+i%400, 800-i%700, "words words words"))
	}
	path := filepath.Join(t.TempDir(), "slow.pdf")
	if err := os.WriteFile(path, pdftest.With("", nil, page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := load.Load(t.Context(), folder.File{Source: "slow.pdf", Path: path}, load.Limits{MaxTime: 200 * time.Millisecond})
	if !errors.Is(err, load.ErrBroken) || !strings.Contains(err.Error(), "took longer than 200ms") {
		t.Errorf("err = %v after %v", err, time.Since(begun))
	}
	for range 6 { // more than are read at a time
		if doc, err := load.Parse(t.Context(), "a.pdf", pdftest.With("", nil, pdftest.Column(72, 700, "Words."))); err != nil || doc.Text != "Words.\n" {
			t.Errorf("afterwards: %q, %v", doc.Text, err)
		}
	}
}

// TestTitle checks that a title is that of the metadata, else the largest line of the first page, else the
// name of the file.
func TestTitle(t *testing.T) {
	head := func(size int, text string) string { return pdftest.Line("B", size, 72, 750, text) }
	body := pdftest.Column(72, 700, "The tower is cleaned each May by two people, and nobody else may", "climb it without a rope.")
	for _, tt := range []struct {
		name, meta, want string
		pages            []string
	}{
		{"metadata", "<</Title(The tower)>>", "The tower", []string{head(16, "Preface") + body}},
		{"program", "<</Title(\\(anonymous\\))>>", "a", []string{body}},
		{"largest", "<</Title(untitled)>>", "Guide", []string{pdftest.Line("F", 13, 72, 800, "Town of Ash") + head(20, "Guide") + body, head(16, "Preface") + body}},
		{"chapters", "<<>>", "a", []string{head(16, "Preface") + body, head(16, "Cleaning") + body}},
		{"first of its size", "<<>>", "How to clean", []string{head(16, "How to clean") + body, head(16, "Alarms") + body}},
		{"later page", "<<>>", "a", []string{head(14, "Preface") + body, head(20, "Part one") + body}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.pdf", pdftest.With("/Info 100 0 R", []string{tt.meta}, tt.pages...))
			if err != nil || doc.Title != tt.want {
				t.Errorf("title %q, %v, want %q", doc.Title, err, tt.want)
			}
		})
	}
}

// TestFiles reads PDFs of a real program, with and without tables; testdata/make.py says what is in them.
func TestFiles(t *testing.T) {
	for _, name := range []string{"stations", "offer", "turned", "prose", "figures"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
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

// TestManyLines checks that pages of very many ruling lines or columns are read in seconds.
func TestManyLines(t *testing.T) {
	var grid, cells, frames strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&grid, "0 %d.%d m 595 %d.%d l S %d.%d 0 m %d.%d 842 l S\n", i/4, i%4*25, i/4, i%4*25, i/6, i%6*15, i/6, i%6*15)
		fmt.Fprintf(&frames, "%d %d 6 6 re S\n", i%60*9, i/60*9)
	}
	for i := range 20_000 {
		cells.WriteString(pdftest.Line("F", 1, i%200*3, 800-i/200*3, "7"))
	}
	for name, page := range map[string]string{"grid": grid.String(), "frames": frames.String(), "none": ""} {
		begun := time.Now()
		if _, err := load.Parse(t.Context(), "a.pdf", pdftest.With("", nil, cells.String()+page)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := time.Since(begun); d > 20*time.Second {
			t.Errorf("%s: read in %v", name, d)
		}
	}
}

// FuzzRead changes real and generated PDFs. Each run takes milliseconds, most of them in the sandbox.
func FuzzRead(f *testing.F) {
	f.Add(pdftest.With("", nil, pdftest.Column(72, 700, "One line", "and another.")+pdftest.Line("B", 20, 72, 750, "Head")))
	f.Add(pdftest.With("/Info 100 0 R", []string{"<</Title(T)>>", "<</First 101 0 R>>"}, pdftest.Column(72, 700, "A    b    c", "d    e    f")))
	table := pdftest.Column(72, 700, "Town", "Ulm", "Rom", "Bonn") + pdftest.Column(200, 700, "Rate", "4.50", "7", "9") + pdftest.Column(300, 700, "Nights", "3", "-", "11")
	f.Add(pdftest.With("", nil, table, "0 1 -1 0 700 0 cm "+table))
	f.Add(pdftest.With("", nil, table+"60 650 120 65 re S 180 650 100 65 re S 280 650 90 65 re S 60 697 m 370 697 l S 60 685 m 370 685 l S"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 256<<10 {
			return
		}
		doc, err := load.Parse(t.Context(), "a.pdf", data)
		if err != nil {
			return
		}
		checkChunks(t, doc)
		for _, c := range chunk.Cut(doc, chunk.Options{}) {
			if c.Page < 1 || c.PageAt(c.End-1) < c.Page {
				t.Fatalf("pages %d to %d", c.Page, c.PageAt(c.End-1))
			}
		}
	})
}
