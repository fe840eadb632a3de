package source_test

import (
	"bytes"
	"errors"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/pdf/pdftest"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/server/internal/source"
)

// TestPicture draws pages once, at two sizes, and marks the passage on its page.
func TestPicture(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "eval/field/office2a/verkauf/preisliste-2026.pdf", "eval/tables/docs/orders.csv", "testdata/formats/handbook.pdf")
	source.Warm()
	const name = "preisliste-2026.pdf"
	quick, err := s.Picture(s.ctx, s.id(name), 1, source.Quick)
	if err != nil {
		t.Fatal(err)
	}
	sharp, err := s.Picture(s.ctx, s.id(name), 1, source.Sharp)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*source.Picture{quick, sharp} {
		c, err := png.DecodeConfig(bytes.NewReader(p.PNG))
		if err != nil || c.Width != p.Width || c.Height != p.Height {
			t.Errorf("%+v, not %d × %d, %v", c, p.Width, p.Height, err)
		}
	}
	if quick.Width != 794 || sharp.Width != 1241 {
		t.Errorf("%d and %d dots wide", quick.Width, sharp.Width)
	}
	if again, err := s.Picture(s.ctx, s.id(name), 1, source.Quick); err != nil || again != quick {
		t.Errorf("the page was drawn again: %v", err)
	}
	for _, tt := range []struct {
		name      string
		page, dpi int
		want      error
	}{
		{name, 0, source.Quick, source.ErrNoPicture},
		{name, 99, source.Quick, source.ErrNoPicture},
		{name, 1, 1200, source.ErrNoPicture},
		{"orders.csv", 1, source.Quick, source.ErrNoPicture},
		{"none.pdf", 1, source.Quick, ingest.ErrNoDocument},
	} {
		if _, err := s.Picture(s.ctx, s.id(tt.name), tt.page, tt.dpi); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
		if _, err := s.Marks(s.ctx, s.id(tt.name), source.Passage{}, tt.page); tt.dpi == source.Quick && !errors.Is(err, tt.want) {
			t.Errorf("marks of %+v: %v", tt, err)
		}
	}
	v := s.cited(t, name, "Sorte: Hafen (Filter)")
	if v.Form != source.FormPDF || v.Pages.Count != 1 || v.Pages.First != 1 || v.Pages.Last != 1 || v.Table == nil || v.Blocks == nil {
		t.Errorf("%+v, pages %+v", v, v.Pages)
	}
}

// TestMarks are there only if text and page agree.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "eval/field/office2a/verkauf/preisliste-2026.pdf")
	const name = "preisliste-2026.pdf"
	text := s.indexed(t, name)
	at := strings.Index(text, "Art.-Nr.: EH-HAF-250")
	row := passage(t, text, text[at:at+strings.Index(text[at:], "\n")])
	got, err := s.Marks(s.ctx, s.id(name), row, 1)
	if err != nil || !got.Exact || len(got.Rects) != 6 {
		t.Errorf("%q: %+v, %v", row.Quote, got, err)
	}
	for _, p := range []source.Passage{{}, {Start: row.Start, End: row.End, Quote: "something else"}} {
		if got, err := s.Marks(s.ctx, s.id(name), p, 1); err != nil || got.Exact || got.Rects != nil {
			t.Errorf("%+v: %+v, %v", p, got, err)
		}
	}
}

// TestPictureBroken has an error for a damaged PDF, and remembers it until the file changes.
func TestPictureBroken(t *testing.T) {
	t.Parallel()
	good := string(pdftest.With("", nil, pdftest.Column(72, 700, "A page with some text.")))
	s := open(t, map[string]string{"a.pdf": good})
	p := passage(t, s.indexed(t, "a.pdf"), "some text")
	s.write(t, "a.pdf", "%PDF-1.7\nnothing of it is left")
	for range 2 {
		if _, err := s.Picture(s.ctx, s.id("a.pdf"), 1, source.Quick); !errors.Is(err, document.ErrBroken) {
			t.Error(err)
		}
	}
	if _, err := s.View(s.ctx, s.id("a.pdf"), p); !errors.Is(err, document.ErrBroken) || strings.Contains(err.Error(), s.dir) {
		t.Error(err)
	}
	if got, err := s.Preview(s.ctx, s.id("a.pdf")); err != nil || len(got.Problems) == 0 || got.Lines != nil {
		t.Errorf("%+v, %v", got, err)
	}
	s.write(t, "a.pdf", good)
	if _, err := s.Picture(s.ctx, s.id("a.pdf"), 1, source.Quick); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "a.pdf")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Picture(s.ctx, s.id("a.pdf"), 1, source.Quick); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), s.dir) {
		t.Error(err)
	}
}

// TestPreview shows the beginning of what was read, and why the rest was not.
func TestPreview(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{
		"prices.csv": "Name,Price\nBolt,3\nNut,4\n", "empty.md": "", "bad.pdf": "%PDF-1.7\nnothing", "mail.eml": "From: a@b.example\nSubject: Hi\n\nHello.\n",
	})
	if got, err := s.Preview(s.ctx, s.id("prices.csv")); err != nil || got.Status.Status != ingest.StatusIndexed || len(got.Table.Rows) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Preview(s.ctx, s.id("mail.eml")); err != nil || len(got.Mail.Fields) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"empty.md", "bad.pdf"} {
		got, err := s.Preview(s.ctx, s.id(name))
		if err != nil || got.Lines != nil || len(got.Problems) != 1 || got.Source != name || got.Title == "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := s.Preview(s.ctx, s.id("none.md")); !errors.Is(err, ingest.ErrNoDocument) {
		t.Error(err)
	}
}

// TestRanges marks exactly the bytes of a passage, in all views, and takes any numbers.
func TestRanges(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "README.md", "ARCHITECTURE.md", "eval/tables/docs/rechnungen.csv", "eval/tables/docs/hoa-don.xlsx", "eval/tables/docs/thiet-bi.md",
		"eval/tables/docs/nhan-vien.html", "eval/field/office2a/mail/roath-lane.mbox", "eval/tables/docs/price-list.pdf", "eval/tables/docs/courses.docx",
		"internal/load/testdata/office/talk.pptx", "graph/graph.go", "internal/load/testdata/office/offer.msg")
	files, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Name()] = s.indexed(t, f.Name())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		name := files[random.IntN(len(files))].Name()
		text := texts[name]
		start := random.IntN(len(text))
		p := source.Passage{Start: start, End: start + random.IntN(600)}
		if random.IntN(4) == 0 { // any numbers, as in an address
			p = source.Passage{Start: random.Int() - random.Int(), End: random.Int() - random.Int(), From: random.IntN(9000) - 10, To: random.IntN(9000) - 10}
			if random.IntN(2) == 0 {
				p.Quote = "a"
			}
			s.view(t, name, p)
			continue
		}
		p.End = min(p.End, len(text))
		for p.Start > 0 && text[p.Start]&0xC0 == 0x80 {
			p.Start--
		}
		for p.End < len(text) && text[p.End]&0xC0 == 0x80 {
			p.End++
		}
		p.Quote = text[p.Start:p.End]
		v := s.view(t, name, p)
		if got, want := joined(marked(v.Lines)), joined(sanitize.Visible(p.Quote)); got != want {
			t.Fatalf("%s %d to %d: marked %q, want %q", name, p.Start, p.End, got, want)
		}
		if v.Table != nil && p.End > p.Start && strings.TrimSpace(p.Quote) != "" {
			checkCells(t, v.Table, p.Quote)
		}
	}
}

// joined returns a text without white space.
func joined(s string) string { return strings.Join(strings.Fields(s), "") }

// checkCells checks that what is marked of a table is a part of the passage.
func checkCells(t *testing.T, table *source.Table, quote string) {
	t.Helper()
	for _, row := range table.Rows {
		for _, cell := range row.Cells {
			i := slices.IndexFunc(cell, func(s source.Span) bool { return s.Marked })
			if i >= 0 && !strings.Contains(joined(sanitize.Visible(quote)), joined(cell[i].Text)) {
				t.Fatalf("%q is marked, the passage is %q", cell[i].Text, quote)
			}
		}
	}
}
