package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestCompareOlder compares what an earlier version cut: the text that it made of a page
// may have been another one, that of a text file is the file.
func TestCompareOlder(t *testing.T) {
	root := t.TempDir()
	for source, compared := range map[string]bool{"a.html": false, "b.md": true} {
		path := filepath.Join(root, source)
		if err := os.WriteFile(path, []byte("<p>A page of text</p>\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := load.Load(t.Context(), load.File{Root: root, Source: source, Path: path}, load.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		f := search.File{Source: source, Hash: doc.Hash, Chunker: "chunk/1"}
		what, ok := compare(t.Context(), root, f, []state.Chunk{{Start: 0, End: 4, Text: "Text"}}, chunk.Options{})
		if ok != compared || len(what) > 0 != compared {
			t.Errorf("%s: %v, %v, want compared: %v", source, what, ok, compared)
		}
	}
}
