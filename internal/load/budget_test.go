package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/pdf/pdftest"
)

// TestBudget reads files designed to take memory, some highly compressed. Each must stay below 64 MB and
// eight times its size, a PDF below 300 MB, whether it is cut or refused.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("files of 3 MB")
	}
	fill := func(s string, size int) []byte { return bytes.Repeat([]byte(s), size/len(s)) }
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const mb, large = 1 << 20, 3 << 20
	for _, tt := range []struct {
		name, source string
		data         []byte
	}{
		{"short paragraphs", "a.md", fill("a\n\n", large)},
		{"fewer short paragraphs", "a.md", fill("a\n\n", 300<<10)},
		{"bullets", "a.md", fill("- a\n", large)},
		{"fewer bullets", "a.md", fill("- a\n", mb)},
		{"headings", "a.md", fill("# a\n\n", large)},
		{"fewer headings", "a.md", fill("# a\n\n", mb)},
		{"quotes", "a.md", fill("> > > a\n\n", large)},
		{"table", "a.md", append([]byte("|a|b|\n|-|-|\n"), fill("|a|b|\n", large)...)},
		{"ordinary paragraphs", "a.md", fill(strings.Repeat("Some words that a person wrote. ", 10)+"\n\n", large)},
		{"plain paragraphs", "a.txt", fill("a\n\n", large)},
		{"one plain line", "a.txt", fill("A b. ", large)},
		{"one shorter plain line", "a.txt", fill("A b. ", 3*mb)},
		{"one plain paragraph", "a.txt", fill("Some words.\n", large)},
		{"mail", "a.eml", append([]byte("Subject: a\n\n"), fill("a\n\n", large)...)},
		{"mail with attachments in one another", "a.eml", nestedMailOf(12, string(fill("a b.\n", mb/2)))},
		{"mail of quotes", "a.eml", append([]byte("Subject: a\n\n"), fill("> > a\nb\n\n", large)...)},
		{"mail of HTML", "a.eml", append([]byte("Subject: a\nContent-Type: text/html\n\n"), fill("<blockquote>a", mb/4)...)},
		{"mailbox", "a.mbox", fill("From a 10:00\nSubject: b\n\nc\n\n", large)},
		{"events", "a.ics", fill("BEGIN:VEVENT\nSUMMARY:a\nEND:VEVENT\n", large)},
		{"contacts", "a.vcf", fill("BEGIN:VCARD\nFN:a\nEND:VCARD\n", large)},
		{"one contact", "a.vcf", append([]byte("BEGIN:VCARD\n"), fill("TEL:1\n", large)...)},
		{"rich text", "a.rtf", append([]byte(`{\rtf1 `), fill(`a\par `, large)...)},
		{"rich text of groups", "a.rtf", append([]byte(`{\rtf1 `), fill(`{\b a}`, large)...)},
		{"rich text of notes", "a.rtf", append([]byte(`{\rtf1 `), fill(`{\footnote a}`, large)...)},
		{"page", "a.html", fill("<b>a</b>", large)},
		{"smaller page", "a.html", fill("<p>a", mb)},
		{"records", "a.jsonl", fill("{\"a\":1}\n", large)},
		{"fewer records", "a.jsonl", fill("{\"a\":1}\n", 3*mb/4)},
		{"one record", "a.json", []byte(`{"a":0` + string(fill(`,"b":1`, large)) + "}")},
		{"cells", "a.ipynb", []byte(`{"cells":[1` + string(fill(",1", large)) + "]}")},
		{"empty cells", "a.ipynb", []byte(`{"cells":[{}` + string(fill(",{}", large)) + "]}")},
		{"outputs", "a.ipynb", []byte(`{"cells":[{"outputs":[{}` + string(fill(",{}", large)) + "]}]}")},
		{"rows", "a.csv", fill("a,1\n", large)},
		{"fewer rows", "a.csv", fill("a,1\n", 400_000)},
		{"fewer records", "a.csv", append([]byte("Name,Price\n"), fill("Gasket of rubber,12.5\n", 2*mb)...)},
		{"one row", "a.csv", fill("a,", large)},
		{"sheet", "a.xlsx", workbook(t, "", fill(`<row><c t="inlineStr"><is><t>a</t></is></c></row>`, 16*mb))},
		{"smaller sheet", "a.xlsx", workbook(t, "", fill(`<row><c t="inlineStr"><is><t>a</t></is></c></row>`, 9*mb/2))},
		{"wide rows", "a.xlsx", workbook(t, "", fill(`<row><c r="XFD1" t="n"><v>1</v></c></row>`, mb/8))},
		{"one row", "a.xlsx", workbook(t, "", []byte("<row>"+string(fill(`<c><v>1</v></c>`, 3*mb))+"</row>"))},
		{"texts", "a.xlsx", workbook(t, string(fill("<si><t>a</t></si>", 3*mb)), nil)},
		{"parts of a text", "a.xlsx", workbook(t, "<si>"+string(fill("<r><t>a</t></r>", 3*mb))+"</si>", []byte(`<row><c t="s"><v>0</v></c></row>`))},
		{"styles", "a.xlsx", workbook(t, "", nil, "xl/styles.xml", "<styleSheet><cellXfs>"+string(fill("<xf/>", 3*mb))+"</cellXfs></styleSheet>")},
		{"sheet", "a.ods", openSheet(t, string(fill(`<table-row><table-cell><p>a</p></table-cell></table-row>`, 3*mb)))},
		{"repeated rows", "a.ods", openSheet(t, string(fill(`<table-row number-rows-repeated="1000000"><table-cell number-columns-repeated="9999"><p>a</p></table-cell></table-row>`, mb/8)))},
		{"one row", "a.ods", openSheet(t, "<table-row>"+string(fill(`<table-cell><p>a b</p></table-cell>`, 3*mb))+"</table-row>")},
		{"one cell", "a.ods", openSheet(t, "<table-row><table-cell>"+string(fill(`<p>a b</p>`, 3*mb))+"</table-cell></table-row>")},
		{"merged cells", "a.ods", openSheet(t, string(fill(`<table-row><table-cell number-columns-spanned="1000" number-rows-spanned="1000000"><p>a</p></table-cell></table-row>`, mb/2)))},
		{"merged cells", "a.xlsx", workbook(t, "", slices.Concat(fill(`<row><c><v>1</v></c><c><v>1</v></c></row>`, mb/2),
			[]byte("</sheetData><mergeCells>"), fill(`<mergeCell ref="A1:XFD1048576"/>`, mb), []byte("</mergeCells><sheetData>")))},
		{"slide", "a.odp", zipped(t, "content.xml", "<document-content><page><frame>"+string(fill("<p>a</p>", 4*mb))+"</frame></page></document-content>")},
		{"paragraphs", "a.docx", zipped(t, "word/document.xml", "<document><body>"+string(fill("<p><r><t>a</t></r></p>", 4*mb)))},
		{"fewer paragraphs", "a.docx", zipped(t, "word/document.xml", "<document><body>"+string(fill("<p><r><t>a</t></r></p>", 2*mb)))},
		{"one paragraph", "a.docx", zipped(t, "word/document.xml", "<document><body><p>"+string(fill("<r><t>A b. </t></r>", 4*mb))+"</p></body></document>")},
		{"one text", "a.docx", zipped(t, "word/document.xml", "<document><body><p><r><t>"+string(fill("A b. ", 4*mb))+"</t></r></p></body></document>")},
		{"one row", "a.docx", zipped(t, "word/document.xml", "<document><body><tbl><tr>"+string(fill("<tc><p><r><t>a</t></r></p></tc>", 4*mb))+"</tr></tbl></body></document>")},
		{"notes", "a.docx", zipped(t, "word/document.xml", "<document/>", "word/footnotes.xml", "<footnotes>"+string(fill("<footnote><p><t>a</t></p></footnote>", 4*mb)))},
		{"styles", "a.docx", zipped(t, "word/document.xml", "<document/>", "word/styles.xml", "<styles>"+string(fill("<style/>", 4*mb))+"</styles>")},
		{"lists", "a.docx", zipped(t, "word/document.xml", "<document/>", "word/numbering.xml", "<numbering><abstractNum abstractNumId='1'><lvl ilvl='0'/></abstractNum>"+numbered(`<num numId="%d"><abstractNumId val="1"/></num>`, 18_000)+"</numbering>")},
		{"numbers of many levels", "a.docx", zipped(t, "word/document.xml", "<document>"+string(fill(`<p><pPr><numPr><numId val="1"/></numPr></pPr><r><t>a</t></r></p>`, 4*mb))+"</document>", "word/numbering.xml",
			`<numbering><abstractNum abstractNumId="1"><lvl ilvl="0"><numFmt val="lowerLetter"/><start val="700"/><lvlText val="`+strings.Repeat("%1", 40)+`"/></lvl></abstractNum><num numId="1"><abstractNumId val="1"/></num></numbering>`)},
		{"styles of lists", "a.odt", zipped(t, "styles.xml", "<styles>"+numbered(`<list-style name="%d"/>`, 200_000)+"</styles>", "content.xml", "<document-content>"+numbered(`<list id="%d"><list-item><p>a</p></list-item></list>`, 60_000))},
		{"items", "a.odt", zipped(t, "content.xml", "<document-content><list>"+string(fill("<p>a</p>", 4*mb)))},
		{"slide", "a.pptx", zipped(t, "ppt/presentation.xml", `<p xmlns:r="r"><sldIdLst><sldId r:id="a"/></sldIdLst></p>`,
			"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Target="slide.xml"/></Relationships>`,
			"ppt/slide.xml", "<sld><sp>"+string(fill("<p><r><t>a</t></r></p>", 4*mb))+"</sp></sld>")},
		{"book of one chapter", "a.epub", book(t, fill("<p>a</p>\n", large))},
		{"book", "a.epub", book(t, fill("<p>a</p>\n", 3*mb), fill("<b>a</b>", 3*mb), fill("A b. ", 3*mb))},
		{"book of short chapters", "a.epub", book(t, slices.Repeat([][]byte{fill("<p>a</p>\n", mb/8)}, 40)...)},
		{"PDF that unpacks to much", "a.pdf", pdftest.Packed(fill("BT (a) Tj ET ", 100*mb))},
		{"PDF of lines", "a.pdf", pdftest.Packed(slices.Concat([]byte("BT /F 1 Tf "), fill("(a) Tj 0 1 Td ", 3*mb), []byte("ET")))},
	} {
		t.Run(tt.source+" of "+tt.name, func(t *testing.T) {
			limit := uint64(64<<20 + 8*len(tt.data))
			if tt.source == "a.pdf" {
				limit = 300 << 20
			}
			begun, peak := time.Now(), uint64(math.MaxUint64)
			for tries := 0; tries < 3 && peak > limit; tries++ { // on a busy machine the collector comes late
				peak = min(peak, peakHeap(func() {
					doc, err := load.Parse(t.Context(), tt.source, tt.data)
					if err != nil {
						t.Log(err)
						return
					}
					chunks := chunk.Cut(doc, chunk.Options{})
					t.Log(len(chunks), "chunks", doc.Warnings)
					for _, c := range chunks {
						if c.Text != doc.Text[c.Start:c.End] {
							t.Fatalf("chunk %d is no slice of the text", c.Ordinal)
						}
					}
				}))
			}
			t.Logf("%d KB, peak %d MB, %v", len(tt.data)>>10, peak>>20, time.Since(begun).Round(time.Millisecond))
			if peak > limit {
				t.Errorf("peak of %d MB, want at most %d", peak>>20, limit>>20)
			}
		})
	}
}

// TestTimeBudget reads a file of each binary format that takes too long: only that file fails, and the next
// one is read.
func TestTimeBudget(t *testing.T) {
	paragraphs := strings.Repeat("<p><r><t>Some words.</t></r></p>", 20_000)
	for source, data := range map[string][]byte{
		"a.docx": zipped(t, "word/document.xml", "<document><body>"+paragraphs+"</body></document>"),
		"a.odt":  zipped(t, "content.xml", "<document-content>"+paragraphs+"</document-content>"),
		"a.epub": book(t, []byte(paragraphs), []byte(paragraphs)),
		"a.xlsx": workbook(t, "", bytes.Repeat([]byte(`<row><c t="inlineStr"><is><t>a</t></is></c></row>`), 20_000)),
		"a.eml":  append([]byte("Subject: a\n\n"), bytes.Repeat([]byte("Some words.\n\n"), 40_000)...),
		"a.rtf":  append([]byte(`{\rtf1 `), bytes.Repeat([]byte(`Some words.\par `), 40_000)...),
		"a.pdf":  pdftest.Blank(2000),
	} {
		file := folder.File{Source: source, Path: filepath.Join(t.TempDir(), source)}
		if err := os.WriteFile(file.Path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := load.Load(t.Context(), file, load.Limits{MaxTime: time.Microsecond})
		if !errors.Is(err, load.ErrBroken) || !strings.Contains(err.Error(), "took longer than") {
			t.Errorf("%s: err = %v, want that it took too long", source, err)
		}
		if _, err := load.Load(t.Context(), file, load.Limits{}); err != nil && !errors.Is(err, load.ErrNoText) {
			t.Errorf("%s after one that hung: %v", source, err)
		}
	}
}

// nestedMailOf returns a mail of nested parts, each with a text and an attached file.
func nestedMailOf(depth int, text string) []byte {
	b := []byte("Subject: x\n")
	for i := range depth {
		b = fmt.Appendf(b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\nContent-Type: text/plain\n\n%s\n--b%d\n"+
			"Content-Type: application/zip\nContent-Disposition: attachment; filename=a.zip\n\n%s\n--b%d\n", i, i, text, i, text, i)
	}
	return append(b, "Content-Type: text/plain\n\ntext\n"...)
}

// peakHeap returns the growth of the live heap in bytes while f ran. It reads what each collection found
// alive, so garbage that a busy machine has not collected yet does not count.
func peakHeap(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // collect often, see more
	live := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, peak := live(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			now := live()
			peak = max(peak, now-min(before, now))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak
}

// workbook returns an XLSX of one sheet, with texts that its cells share.
func workbook(t *testing.T, texts string, rows []byte, more ...string) []byte {
	t.Helper()
	return zipped(t, append([]string{
		"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="r"/></sheets></workbook>`,
		"xl/sharedStrings.xml", `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` + texts + "</sst>",
		"xl/worksheets/sheet1.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + string(rows) + "</sheetData></worksheet>",
	}, more...)...)
}

// book returns an EPUB of some chapters.
func book(t *testing.T, chapters ...[]byte) []byte {
	t.Helper()
	items, spine := "", ""
	files := []string{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`}
	for i, c := range chapters {
		items += fmt.Sprintf(`<item id="c%d" href="c%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		spine += fmt.Sprintf(`<itemref idref="c%d"/>`, i)
		files = append(files, fmt.Sprintf("c%d.xhtml", i), fmt.Sprintf("<html><body>%s</body></html>", c))
	}
	return zipped(t, append(files, "book.opf", "<package><manifest>"+items+"</manifest><spine>"+spine+"</spine></package>")...)
}
