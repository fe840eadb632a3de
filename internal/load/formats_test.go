package load_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
)

// zipped packs files, given as alternating names and contents.
func zipped(tb testing.TB, files ...string) []byte {
	tb.Helper()
	return packed(tb, zip.Deflate, files...)
}

// packed makes an archive by a method of compression.
func packed(tb testing.TB, method uint16, files ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestFormats reads testdata/formats/files.txtar, and files of real programs in testdata/office, and compares
// the documents. A folder a.docx, a.odt or a.epub is packed first.
func TestFormats(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "formats", "files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	packed := map[string][]string{}
	var names []string
	files := map[string][]byte{}
	for _, f := range archive.Files {
		folder, name, in := strings.Cut(f.Name, "/")
		if !in {
			files[f.Name], names = f.Data, append(names, f.Name)
			continue
		}
		if packed[folder] == nil {
			names = append(names, folder)
		}
		packed[folder] = append(packed[folder], name, string(f.Data))
	}
	for name, content := range packed {
		files[name] = zipped(t, content...)
	}
	for _, name := range officeFiles(t) {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(name))
	}
	var b strings.Builder
	for _, name := range names {
		doc, err := load.Parse(t.Context(), name, files[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fmt.Fprintf(&b, "== %s: %s, %q %v %q\n", name, doc.Kind, doc.Title, doc.Meta, doc.Warnings)
		checkChunks(t, doc)
		for _, c := range chunk.Cut(doc, chunk.Options{Min: -1}) {
			fmt.Fprintf(&b, "-- %s, lines %d-%d %v, %q%s\n%s\n", c.Kind, c.StartLine, c.EndLine, c.Lines, c.Headings, pageOf(c.Page), c.Text)
		}
	}
	golden.Assert(t, filepath.Join("testdata", "formats", "files.golden"), []byte(b.String()))
}

func pageOf(page int) string {
	if page == 0 {
		return ""
	}
	return fmt.Sprintf(", page %d", page)
}

// officeFiles are files that office and mail programs wrote.
func officeFiles(tb testing.TB) []string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "office", "*"))
	if err != nil || len(names) == 0 {
		tb.Fatal("no office files: ", err)
	}
	return names
}

// checkChunks checks the promises of every document.
func checkChunks(tb testing.TB, doc document.Document) {
	tb.Helper()
	lines := 1 + strings.Count(doc.Text, "\n")
	end := 0
	for _, c := range chunk.Cut(doc, chunk.Options{Size: 32}) {
		switch {
		case c.Start < end || c.End > len(doc.Text) || c.Start >= c.End || c.Text != doc.Text[c.Start:c.End]:
			tb.Fatalf("chunk %d is not the text at %d to %d of %d, behind %d", c.Ordinal, c.Start, c.End, len(doc.Text), end)
		case c.StartLine > c.EndLine || c.StartLine < 0 || !doc.Converted && c.EndLine > lines:
			tb.Fatalf("chunk %d has lines %d to %d of %d", c.Ordinal, c.StartLine, c.EndLine, lines)
		case len(c.Lines) > 0 && len(c.Lines) != 1+strings.Count(c.Text, "\n"):
			tb.Fatalf("chunk %d has %d lines in its list and %d in its text", c.Ordinal, len(c.Lines), 1+strings.Count(c.Text, "\n"))
		}
		end = c.End
	}
}

// nestedMail is a mail whose parts contain each other.
func nestedMail(depth int) []byte {
	b := []byte("Subject: x\n")
	for i := range depth {
		b = fmt.Appendf(b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	return append(b, "Content-Type: text/plain\n\ntext\n"...)
}

// TestFormulasWithoutValues checks that values which no program has computed are reported as missing.
func TestFormulasWithoutValues(t *testing.T) {
	rows := `<row><c t="inlineStr"><is><t>Planned</t></is></c><c t="inlineStr"><is><t>Actual</t></is></c></row>` +
		`<row><c><v>1200</v></c><c><f>A2*2</f><v></v></c></row><row><c><v>3</v></c><c><f>A3*2</f></c></row><row><c><v>4</v></c><c><f>A4*2</f><v>8</v></c></row>`
	doc, err := load.Parse(t.Context(), "a.xlsx", workbook(t, "", []byte(rows)))
	if err != nil || len(doc.Warnings) != 1 || !strings.HasPrefix(doc.Warnings[0], "2 formulas without a stored value") {
		t.Errorf("warnings %q, %v", doc.Warnings, err)
	}
}

// openSheet returns an OpenDocument spreadsheet with a sheet S.
func openSheet(tb testing.TB, rows string) []byte {
	tb.Helper()
	return zipped(tb, "content.xml", `<document-content><body><spreadsheet><table name="S">`+rows+"</table></spreadsheet></body></document-content>")
}

func TestFormatTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("large files; nothing of it runs side by side")
	}
	bomb := strings.Repeat("<p/>", 6<<20)
	deep := strings.Repeat("<w:p>", 10_000)
	entities := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>`
	for _, tt := range []struct {
		name, source string
		data         []byte
		is           error
		want         string
	}{
		{"zip bomb", "a.docx", zipped(t, "word/document.xml", bomb), load.ErrTooLarge, "unpacks to more than"},
		{"nested XML", "a.docx", zipped(t, "word/document.xml", deep), load.ErrTooLarge, "nested deeper than"},
		{"no document", "a.docx", zipped(t, "x", "y"), load.ErrBroken, "word/document.xml is missing"},
		{"no archive", "a.docx", []byte("PK\x03\x04 and no more"), load.ErrBroken, "no ZIP archive"},
		{"encrypted", "a.docx", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), load.ErrEncrypted, "without a password"},
		{"empty", "a.docx", zipped(t, "word/document.xml", "<w:document><w:body/></w:document>"), load.ErrNoText, "empty, or made of pictures"},
		{"too many files", "a.odt", zipped(t, strings.Split(strings.Repeat("f,,", 20_001), ",")[:40_002]...), load.ErrTooLarge, "files in the archive"},
		{"book without chapters", "a.epub", zipped(t, "META-INF/container.xml", `<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>`, "p.opf", "<package/>"), load.ErrNoText, "no chapter"},
		{"book whose contents are gone", "a.epub", zipped(t, "META-INF/container.xml", `<container><rootfiles><rootfile full-path="../../p.opf"/></rootfiles></container>`), load.ErrBroken, "p.opf is missing in it"},
		{"zip bomb", "a.pptx", zipped(t, "ppt/presentation.xml", bomb), load.ErrTooLarge, "has more than 1 MiB"},
		{"zip bomb", "a.xlsx", zipped(t, "xl/workbook.xml", "<workbook/>", "xl/worksheets/sheet1.xml", bomb), load.ErrTooLarge, "a cell of more than"},
		{"many texts", "a.xlsx", zipped(t, "xl/sharedStrings.xml", strings.Repeat("<si/>", 700_000)), load.ErrTooLarge, "different texts"},
		{"no workbook", "a.xlsx", zipped(t, "x", "y"), load.ErrBroken, "no workbook in it"},
		{"encrypted", "a.xlsx", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), load.ErrEncrypted, "without a password"},
		{"no content", "a.ods", zipped(t, "x", "y"), load.ErrBroken, "content.xml is missing"},
		{"encrypted", "a.ods", zipped(t, "META-INF/manifest.xml", "<manifest><file-entry><encryption-data/></file-entry></manifest>"), load.ErrEncrypted, "without a password"},
		{"no values", "a.ods", openSheet(t, ""), load.ErrNoText, "no sheet of it has values"},
		{"zip bomb", "a.ods", openSheet(t, bomb), load.ErrTooLarge, "more than"},
		{"a cell far to the right", "a.ods", openSheet(t, `<table-row><table-cell number-columns-repeated="16384"/><table-cell><p>x</p></table-cell></table-row>`), load.ErrTooLarge, "a row of more than 16384 cells"},
		{"broken XML", "a.ods", openSheet(t, "<table-row><<"), load.ErrBroken, "content.xml: XML"},
		{"no slides", "a.odp", zipped(t, "content.xml", "<document-content/>"), load.ErrNoText, "it is empty, or made of pictures"},
		{"no slides", "a.pptx", zipped(t, "ppt/presentation.xml", "<p:presentation/>"), load.ErrNoText, "it is empty, or made of pictures"},
		{"no mail", "a.eml", []byte("just text\n"), load.ErrBroken, "no mail"},
		{"parts in parts", "a.eml", nestedMail(40), load.ErrTooLarge, "nested deeper"},
		{"broken notebook", "a.ipynb", []byte("{"), load.ErrBroken, "JSON"},
		{"empty notebook", "a.ipynb", []byte(`{"cells": []}`), load.ErrNoText, "no cells"},
		{"no RTF", "a.rtf", []byte("just text"), load.ErrBroken, "no RTF"},
		{"groups in groups", "a.rtf", []byte(`{\rtf1 ` + strings.Repeat("{", 20_000)), load.ErrTooLarge, "groups in one another"},
		{"RTF without text", "a.rtf", []byte(`{\rtf1{\pict 00}}`), load.ErrNoText, "empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load.Parse(t.Context(), tt.source, tt.data)
			if !errors.Is(err, tt.is) || errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), tt.is.Error()) != 1 || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("err = %v, want %v with %q", err, tt.is, tt.want)
			}
		})
	}
	// Entities defined by a document are not expanded.
	doc, err := load.Parse(t.Context(), "a.docx", zipped(t, "word/document.xml", entities+"<w:document><w:body><w:p><w:r><w:t>&c; and text</w:t></w:r></w:p></w:body></w:document>"))
	if err != nil || doc.Text != "&c; and text\n" {
		t.Errorf("entities: %q, %v", doc.Text, err)
	}
}
