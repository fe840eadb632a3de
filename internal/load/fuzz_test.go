package load_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
)

// FuzzParse reads bytes as each kind of file but PDF, and checks the promises of every document: an error, or
// a text with chunks that are slices of it.
func FuzzParse(f *testing.F) {
	kinds := []string{"a.md", "a.txt", "a.rst", "a.html", "a.csv", "a.tsv", "a.json", "a.docx", "a.odt", "a.epub", "a.mdx", "a.ods", "a.odp", "a.xlsx"}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "formats", "files.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		for i, kind := range kinds {
			if strings.HasSuffix(file.Name, filepath.Ext(kind)) {
				f.Add(uint8(i), file.Data)
			}
		}
	}
	f.Add(uint8(7), zipped(f, "word/document.xml", "<document><body><p><r><t>Text</t></r></p><tbl><tr><tc><p><r><t>x</t></r></p></tc></tr></tbl></body></document>"))
	f.Add(uint8(8), zipped(f, "content.xml", "<document-content><body><text><h>A</h><p>b</p></text></body></document-content>"))
	f.Add(uint8(10), []byte("import X from 'x'\n\nexport const a = {b: `}`}\n\n# T\n\n<X a={1} b='c'>\n\nText {a.b /* } */} and <b>`{c}`</b>.\n\n</X>\n"))
	for i, name := range []string{"harbour.ods", "harbour.odp", "harbour.xlsx"} {
		data, err := os.ReadFile(filepath.Join("testdata", "office", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(11+i), data)
	}
	f.Add(uint8(1), []byte("\xff\xfea\x00b\x00"))
	f.Add(uint8(1), []byte("za\xbf\xf3\xb3\xe6"))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		doc, err := load.Parse(t.Context(), kinds[int(kind)%len(kinds)], data)
		if err != nil {
			return
		}
		if !utf8.ValidString(doc.Text) || doc.Body > len(doc.Text) || !doc.Converted && doc.Text != string(data) {
			t.Fatalf("text of %d bytes, body at %d", len(doc.Text), doc.Body)
		}
		checkChunks(t, doc)
	})
}

// fuzzOne reads bytes as one kind of file, beginning with the sample of that kind.
func fuzzOne(f *testing.F, source string, more ...string) {
	f.Helper()
	for _, name := range officeFiles(f) {
		if data, err := os.ReadFile(name); err == nil && filepath.Ext(name) == filepath.Ext(source) {
			f.Add(data)
		}
	}
	for _, s := range more {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		doc, err := load.Parse(t.Context(), source, data)
		if err != nil {
			return
		}
		if !utf8.ValidString(doc.Text) {
			t.Fatal("the text is not UTF-8")
		}
		checkChunks(t, doc)
	})
}

func FuzzMail(f *testing.F) {
	fuzzOne(f, "a.eml", "Subject: a\nContent-Type: text/html\n\n<p>a</p><blockquote>b<blockquote># c</blockquote></blockquote>",
		"Subject: a\n\nYes.\n\nOn 1.2.2026, 10:00, A <a@b.example> wrote:\n> a\n>> b\n\nFrom: a\nTo: b\nDate: c\n\nd\n",
		"Subject: a\nContent-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: c\n\nd\n--b\nContent-Type: text/csv; name=a.csv\n\na,b\n1,2\n--b--\n")
}

func FuzzMailbox(f *testing.F) {
	fuzzOne(f, "a.mbox", "From a 10:00\n\n>From b\n\nFrom c\nSubject: d\n\ne\n")
}
func FuzzOutlook(f *testing.F)  { fuzzOne(f, "a.msg") }
func FuzzContacts(f *testing.F) { fuzzOne(f, "a.vcf", "BEGIN:VCARD\nN:a;b\nTEL;HOME:1\n") }

func FuzzCalendar(f *testing.F) {
	fuzzOne(f, "a.ics", "BEGIN:VEVENT\nDTSTART:20260101\nRRULE:FREQ=DAILY;BYDAY=,X\nEXDATE:1\nEND:VEVENT\n")
}

// FuzzXML reads bytes as the main part of archives, so that their content is fuzzed.
func FuzzXML(f *testing.F) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "formats", "files.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	kinds := []string{"a.odt", "a.docx", "a.ods", "a.odp"}
	for _, file := range archive.Files {
		for i, kind := range kinds {
			if strings.Contains(file.Name, filepath.Ext(kind)+"/") {
				f.Add(uint8(i), file.Data)
			}
		}
	}
	f.Add(uint8(2), []byte(`<table name="S"><table-column number-columns-repeated="2" visibility="collapse"/><table-row number-rows-repeated="3"><table-cell number-columns-spanned="2" value-type="date" date-value="2026-03-01"><annotation><p>x</p></annotation><p>1.3.26</p></table-cell><covered-table-cell/></table-row><table-row><table-cell number-columns-repeated="3" value-type="float" value="1.5"><p>1,5</p></table-cell></table-row></table>`))
	f.Add(uint8(3), []byte(`<page name="a"><frame class="title"><text-box><p>A</p></text-box></frame><frame><table><table-row><table-cell><p>x</p></table-cell></table-row></table></frame><notes><frame class="notes"><p>n</p></frame></notes></page>`))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		source, part := kinds[int(kind)%len(kinds)], "content.xml"
		if source == "a.docx" {
			part = "word/document.xml"
		}
		doc, err := load.Parse(t.Context(), source, packed(t, zip.Store, part, string(data), "word/styles.xml", string(data), "word/footnotes.xml", string(data), "word/numbering.xml", string(data)))
		if err == nil {
			checkChunks(t, doc)
		}
	})
}

// TestRealFiles reads the real PDFs and documents, if present.
func TestRealFiles(t *testing.T) {
	var files []string
	for _, pattern := range []string{"pdf/*.pdf", "docx/*.docx"} {
		found, err := filepath.Glob(filepath.Join(golden.Public(t, "code"), pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := load.Parse(t.Context(), filepath.Base(name), data)
		if err != nil || len(doc.Text) < 500 || strings.ContainsRune(doc.Text, utf8.RuneError) {
			t.Errorf("%s: %d bytes, %v", name, len(doc.Text), err)
			continue
		}
		checkChunks(t, doc)
	}
}
