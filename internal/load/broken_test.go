package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/pdf/pdftest"
)

// samples returns complete files of all formats, by name.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{
		"a.pdf":   pdftest.With("/Info 100 0 R", []string{"<</Title(T)>>"}, pdftest.Column(72, 700, "One line", "and another.")+pdftest.Line("B", 20, 72, 750, "Head")),
		"a.docx":  zipped(t, "word/document.xml", "<document><body><p><r><t>Text</t></r></p><tbl><tr><tc><p><r><t>x</t></r></p></tc></tr></tbl></body></document>"),
		"a.odt":   zipped(t, "content.xml", "<document-content><body><text><h>A</h><p>b</p></text></body></document-content>"),
		"a.epub":  book(t, []byte("<h1>A</h1><p>b</p>")),
		"a.md":    []byte("---\ntitle: T\n---\n\n# Head\n\nText with `code` and [a link](b.md).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nx\n```\n"),
		"a.mdx":   []byte("import X from 'x'\n\n# Head\n\n<X a={1}>text</X>\n"),
		"a.txt":   []byte("1. Head\n\nSome text on\ntwo lines.\n\n    indented code\n\nMORE\n\nGrüße.\n"),
		"a.adoc":  []byte("= Head\n\nText.\n\n== More\n\n----\ncode\n----\n"),
		"a.xhtml": []byte("<html><body><h1>Head</h1><p>text<br/>more</p></body></html>"),
		"a.tsv":   []byte("Name\tTown\nAnn\tGdańsk\nBob\tKöln\n"),
		"a.go":    []byte("package a\n\n// F does.\nfunc F() {\n\tprintln(`x`)\n}\n\ntype T struct{ a int }\n"),
		"a.py":    []byte("import os\n\nclass A:\n    \"\"\"Doc.\"\"\"\n\n    def f(self):\n        return 1\n"),
		"a.ts":    []byte("export interface A { b: string }\n\nexport const f = (x: A) => {\n  return `${x.b}`\n}\n"),
		"a.yaml":  []byte("a:\n  - b: 1\n    c: \"d\"\n"),
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "formats", "files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if ext := filepath.Ext(f.Name); !strings.Contains(f.Name, "/") && out["a"+ext] == nil {
			out["a"+ext] = f.Data
		}
	}
	for _, name := range officeFiles(t) {
		if out["a"+filepath.Ext(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join("testdata", "html", "page.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	out["a.html"] = page
	return out
}

// TestBroken damages files of each format in twelve ways. A loader reads the rest or returns one reason, and
// does not panic.
func TestBroken(t *testing.T) {
	files := samples(t)
	if len(files) < 28 {
		t.Fatalf("%d formats, want 28", len(files))
	}
	ways := map[string]func(b []byte) []byte{
		"nothing left":     func([]byte) []byte { return nil },
		"first bytes":      func(b []byte) []byte { return b[:min(len(b), 16)] },
		"first half":       func(b []byte) []byte { return b[:len(b)/2] },
		"last byte gone":   func(b []byte) []byte { return b[:len(b)-1] },
		"second half":      func(b []byte) []byte { return b[len(b)/2:] },
		"hole":             func(b []byte) []byte { return slices.Concat(b[:len(b)/3], make([]byte, len(b)/3), b[2*len(b)/3:]) },
		"noise":            noise,
		"wrong encoding":   func(b []byte) []byte { return append([]byte("\xff\xfe"), b...) },
		"high bytes":       func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("e"), []byte("\xe9")) },
		"twice":            func(b []byte) []byte { return slices.Concat(b, b) },
		"other format":     func([]byte) []byte { return files["a.pdf"] },
		"brackets for all": func(b []byte) []byte { return bytes.Repeat([]byte("{[(<"), 4*len(b)) },
	}
	reasons := []error{load.ErrBroken, load.ErrBinary, load.ErrEncrypted, load.ErrNoText, load.ErrTooLarge}
	for name, data := range files {
		for way, change := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				doc, err := load.Parse(t.Context(), name, change(bytes.Clone(data)))
				if err == nil {
					if !utf8.ValidString(doc.Text) {
						t.Error("the text is not UTF-8")
					}
					checkChunks(t, doc)
					return
				}
				known := slices.ContainsFunc(reasons, func(r error) bool { return errors.Is(err, r) })
				if message := fmt.Sprint(err); !known || len(message) > 300 || strings.ContainsAny(message, "\n\x00") || strings.Contains(message, "reader of this kind of file failed") {
					t.Errorf("err = %q", message)
				}
			})
		}
	}
}

// noise changes one byte in a hundred.
func noise(b []byte) []byte {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // always the same
	for range 1 + len(b)/100 {
		b[r.IntN(len(b))] = byte(r.IntN(256))
	}
	return b
}
