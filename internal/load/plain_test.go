package load_test

import (
	"slices"
	"testing"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
)

// TestIndentedCode finds the code in a manual page as a terminal shows it.
func TestIndentedCode(t *testing.T) {
	const text = "TAR(1)   Manual\n\nDESCRIPTION\n       It stores files.\n\n       -c, --create\n              Create a new archive.\n\n" +
		"              Folders are stored with all in them.\n\nEXAMPLES\n       To make an archive, enter:\n\n" +
		"           tar -cf a.tar \\\n               one two\n\n           ls -l\n\n       To list it, use t. Files:\n\n           - one\n           - two\n"
	var got []string
	doc := parse(t, "tar.txt", text)
	for _, b := range doc.Blocks {
		if b.Kind == document.KindCode {
			got = append(got, doc.Text[b.Start:b.End])
		}
	}
	if want := []string{"           tar -cf a.tar \\\n               one two\n\n           ls -l\n\n"}; !slices.Equal(got, want) {
		t.Errorf("code %q, want %q", got, want)
	}
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
