package load_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/load"
)

// TestBudget reads files of 12 MB that are made to take memory. Each must stay
// below 64 MB and eight times its size, whether it is cut or refused.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("files of 12 MB")
	}
	const size = 12 << 20
	fill := func(s string) []byte { return bytes.Repeat([]byte(s), size/len(s)) }
	for _, tt := range []struct {
		name, source string
		data         []byte
	}{
		{"short paragraphs", "a.md", fill("a\n\n")},
		{"bullets", "a.md", fill("- a\n")},
		{"headings", "a.md", fill("# a\n\n")},
		{"quotes", "a.md", fill("> > > a\n\n")},
		{"table", "a.md", append([]byte("|a|b|\n|-|-|\n"), fill("|a|b|\n")...)},
		{"ordinary paragraphs", "a.md", fill(strings.Repeat("Some words that a person wrote. ", 10) + "\n\n")},
		{"plain paragraphs", "a.txt", fill("a\n\n")},
		{"one plain line", "a.txt", fill("A b. ")},
		{"one plain paragraph", "a.txt", fill("Some words.\n")},
		{"mail", "a.eml", append([]byte("Subject: a\n\n"), fill("a\n\n")...)},
		{"rich text", "a.rtf", append([]byte(`{\rtf1 `), fill(`a\par `)...)},
		{"rich text of groups", "a.rtf", append([]byte(`{\rtf1 `), fill(`{\b a}`)...)},
		{"sheet", "a.xlsx", workbook(t, fill("<row><c t=\"inlineStr\"><is><t>a</t></is></c></row>")[:6<<20])},
		{"book", "a.epub", book(t, fill("<p>a</p>\n"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peak := peakHeap(func() {
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
			})
			t.Log("peak", peak>>20, "MB")
			if limit := uint64(64<<20 + 8*size); peak > limit {
				t.Errorf("peak of %d MB, want at most %d", peak>>20, limit>>20)
			}
		})
	}
}

// peakHeap returns by how many bytes the live heap grew at most while f ran. It
// reads what each collection found alive: garbage that a busy machine has not
// collected yet does not count.
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

// workbook is an XLSX of one sheet.
func workbook(t *testing.T, rows []byte) []byte {
	t.Helper()
	return zipped(t, "[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="r"/></sheets></workbook>`,
		"xl/worksheets/sheet1.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+string(rows)+"</sheetData></worksheet>")
}

// book is an EPUB of one chapter.
func book(t *testing.T, chapter []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`,
		"book.opf":               `<package><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>`,
		"c.xhtml":                fmt.Sprintf("<html><body>%s</body></html>", chapter),
	} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
