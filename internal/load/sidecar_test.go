package load_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/state"
)

// TestSidecar checks that metadata beside a document is the document's, and has precedence over front matter.
func TestSidecar(t *testing.T) {
	root := tree(t, map[string]string{
		"a.md": "---\ntitle: Inner\ncategory: guide\n---\nText.\n", "a.md.meta.yaml": "title: Outer\ndocument_type: manual\ntags: [x, y]\nversion: 1.10\ndraft: false\n",
		"b.csv": "x,y\n1,2\n", "b.csv.meta.json": `{"document_id": "B-7", "domain": "tests"}`,
		"c.txt": "c", "c.txt.meta.yml": "a: [",
	})
	read := func(name string) document.Document {
		doc, err := load.Load(t.Context(), folder.File{Root: root, Source: name, Path: filepath.Join(root, name)}, load.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	a := read("a.md")
	if d := cmp.Diff(map[string]string{"title": "Outer", "category": "guide", "document_type": "manual", "tags": "x, y", "version": "1.10", "draft": "false"}, a.Meta); d != "" || a.Title != "Outer" {
		t.Errorf("title %q, %s", a.Title, d)
	}
	kinds := state.Metadata{
		"title": "Outer", "category": "guide", "document_type": "manual", "tags": []any{"x", "y"}, "version": json.Number("1.10"), "draft": false,
	}
	if d := cmp.Diff(kinds, a.Metadata); d != "" {
		t.Errorf("kinds: %s", d)
	}
	plain, err := load.Parse(t.Context(), "a.md", []byte("---\ntitle: Inner\ncategory: guide\n---\nText.\n"))
	if err != nil || plain.Hash == a.Hash {
		t.Errorf("a change of the metadata would not be seen: %v", err)
	}
	if b := read("b.csv"); b.Meta["document_id"] != "B-7" || chunk.Cut(b, chunk.Options{})[0].DocumentID != "B-7" {
		t.Errorf("got %v", b.Meta)
	}
	if c := read("c.txt"); len(c.Notes) != 1 || c.Text != "c" {
		t.Errorf("got %q, want a note", c.Notes)
	}
}
