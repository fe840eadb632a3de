package load_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, source, in string
		want             document.Document
	}{
		{"front matter", "a/b.md", "---\ntitle: The title\ntags: [x, y]\nweight: 30\nempty:\nparams: {a: b}\naliases:\n- /a/\n- /b/\n---\n# Other\n", document.Document{
			Title: "The title", Body: 92, Meta: map[string]string{"title": "The title", "tags": "x, y", "weight": "30", "aliases": "/a/, /b/"},
		}},
		{"title of a heading", "a/b.md", "Text\n\n## Two\n\n# The `one` & [only](x) {#id}\n", document.Document{Title: "The one & only"}},
		{"title of a setext heading", "a/b.md", "The\n*title*\n===\n", document.Document{Title: "The title"}},
		{"title of the name", "a/b.c.md", "Text", document.Document{Title: "b.c"}},
		{"title of the folder", "guides/go/_index.md", "Text", document.Document{Title: "go"}},
		{"a rule is no front matter", "b.md", "---\n\nText\n", document.Document{Title: "b"}},
		{"no front matter in plain text", "b.txt", "---\ntitle: x\n---\n# y\n", document.Document{Title: "b"}},
		{"broken front matter", "b.md", "---\ntitle: a: b\nk: \"v\"\n  x: [\n---\nText", document.Document{
			Title: "b", Body: 34,
		}},
		{"front matter that is a list", "b.md", "---\n- a\n---\nText", document.Document{Title: "b", Body: 12}},
		{"crlf", "b.md", "---\r\ntitle: t\r\n---\r\nText\r\n", document.Document{Title: "t", Body: 20, Meta: map[string]string{"title": "t"}}},
		{"byte order mark", "b.md", "\uFEFF---\ntitle: t\n---\nText", document.Document{Title: "t", Body: 20, Meta: map[string]string{"title": "t"}}},
		{"empty", "b.md", "", document.Document{Title: "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := load.Parse(t.Context(), tt.source, []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.in || got.Converted || got.Encoding != "utf-8" {
				t.Errorf("the text is not the file: %q", got.Text)
			}
			if d := cmp.Diff(tt.want, document.Document{Title: got.Title, Body: got.Body, Meta: got.Meta}, cmpopts.IgnoreUnexported(document.Document{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseEncodings(t *testing.T) {
	for _, tt := range []struct {
		name, in, want, encoding string
		converted, warned        bool
	}{
		{"utf-8", "zażółć", "zażółć", "utf-8", false, false},
		{"utf-16 little endian", "\xff\xfeh\x00i\x00\x42\x01", "hił", "utf-16le", true, true},
		{"utf-16 big endian", "\xfe\xff\x00h\x00i", "hi", "utf-16be", true, true},
		{"windows", "caf\xe9 \x93x\x94", "café “x”", "windows-1252", true, false},
		{"damaged", "zażółć \xff\xfe x", "zażółć ? x", "utf-8", true, true},
	} {
		got, err := load.Parse(t.Context(), "a.txt", []byte(tt.in))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got.Text != tt.want || got.Encoding != tt.encoding || got.Converted != tt.converted || tt.warned != (len(got.Notes) == 1) {
			t.Errorf("%s: got %q %s %v %q", tt.name, got.Text, got.Encoding, got.Converted, got.Notes)
		}
	}
	if _, err := load.Parse(t.Context(), "a.md", []byte("a\x00b")); !errors.Is(err, load.ErrBinary) {
		t.Errorf("NUL bytes: %v, want ErrBinary", err)
	}
}

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLoad(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "12345", "b.md": "a\x00b"})
	file := func(name string) folder.File {
		return folder.File{Root: root, Source: name, Path: filepath.Join(root, name)}
	}
	doc, err := load.Load(t.Context(), file("a.md"), load.Limits{MaxBytes: 5})
	if err != nil || doc.Text != "12345" || doc.Root != root || doc.Source != "a.md" ||
		doc.Hash != "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5" {
		t.Errorf("Load = %+v, %v", doc, err)
	}
	for _, tt := range []struct {
		name  string
		limit int64
		want  error
	}{
		{"a.md", 4, load.ErrTooLarge}, {"b.md", 0, load.ErrBinary}, {"none.md", 0, fs.ErrNotExist},
	} {
		_, err := load.Load(t.Context(), file(tt.name), load.Limits{MaxBytes: tt.limit})
		problem, ok := errors.AsType[*folder.FileError](err)
		if !ok || !errors.Is(err, tt.want) || problem.Path != filepath.Join(root, tt.name) {
			t.Errorf("Load(%s) = %v, want a FileError of %v", tt.name, err, tt.want)
		}
	}
}

// TestLoadHugeLine reads a sparse file of one line of a gigabyte: it is refused by its size, whatever its
// kind, and no byte is kept.
func TestLoadHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("large files; nothing of it runs side by side")
	}
	if runtime.GOOS == "windows" {
		t.Skip("files with holes need a call of their own here")
	}
	root := t.TempDir()
	for _, name := range []string{"a.txt", "a.md", "a.mdx", "a.html", "a.json", "a.jsonl", "a.csv", "a.pdf", "a.docx", "a.go"} {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<30); err != nil {
			t.Skipf("no room: %v", err)
		}
		least := uint64(math.MaxUint64) // other goroutines of the process allocate, too
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := load.Load(t.Context(), folder.File{Root: root, Source: name, Path: path}, load.Limits{})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, load.ErrTooLarge) || !strings.Contains(err.Error(), "1024 MiB, the limit is") {
				t.Errorf("%s: %v, want ErrTooLarge with both sizes", name, err)
			}
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		if least > 16<<20 {
			t.Errorf("%s: %d bytes of memory for a file that is not read", name, least)
		}
	}
	// Within the limit a line may be as long as the file.
	line := strings.Repeat("word ", 1<<20)
	for _, name := range []string{"b.txt", "b.md", "b.mdx"} {
		doc, err := load.Parse(t.Context(), name, []byte(line))
		if err != nil || len(doc.Text) != len(line) {
			t.Errorf("%s: %d bytes, %v", name, len(doc.Text), err)
		}
		chunks := chunk.Cut(doc, chunk.Options{})
		for _, c := range chunks {
			if c.Text != doc.Text[c.Start:c.End] || len(c.Text) > 8<<10 {
				t.Fatalf("%s: a chunk of %d bytes at %d", name, len(c.Text), c.Start)
			}
		}
		if len(chunks) < len(line)/(8<<10) {
			t.Errorf("%s: %d chunks", name, len(chunks))
		}
	}
}

func parse(tb testing.TB, source, content string) document.Document {
	tb.Helper()
	doc, err := load.Parse(tb.Context(), source, []byte(content))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// TestMarkup reads reStructuredText and AsciiDoc as plain text with headings.
func TestMarkup(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a.rst", "Guide\n=====\n\nSome text.\n\nParts of it\n-----------\n\nMore text.\n"},
		{"a.adoc", "= Guide\n\nSome text.\n\n== Parts of it\n\nMore text.\n"},
	} {
		doc := parse(t, tt.name, tt.text)
		chunks := chunk.Cut(doc, chunk.Options{Min: -1})
		if doc.Title != "Guide" || doc.Text != tt.text || len(chunks) != 2 || !slices.Equal(chunks[1].Headings, []string{"Parts of it"}) {
			t.Errorf("%s: title %q, chunks %+v", tt.name, doc.Title, chunks)
		}
	}
}
