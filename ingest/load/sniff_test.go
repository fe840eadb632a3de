package load_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/document"
	"example.com/ragflow/ingest/load"
)

// TestSniff holds text files to the format they are written in.
func TestSniff(t *testing.T) {
	const (
		rst      = "Title\n=====\n\nSee :ref:`a` and ``b``.\n\n.. note:: c\n"
		markdown = "# Title\n\nSome **bold** text.\n\n## Part\n\n- one\n- two\n"
	)
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", rst, document.Plain},
		{"a.TXT", rst, document.Plain},
		{"README", rst, document.Plain},
		{"a.txt", markdown, document.Markdown},
		{"readme", markdown, document.Markdown},
		{"a.txt", "\uFEFF" + markdown, document.Markdown},
		{"a.adoc", rst, document.Plain},
		{"a.py", "# Title\n\n# - **b**\n\n# Part\n", document.Plain},
		{"Makefile", markdown, document.Plain},
		{"a.txt", "Title\n=====\n\nText with one ``literal``.\n", document.Plain},
		{"a.txt", "# a comment of a script\nrun it\n# another\nrun it again\n", document.Plain},
		{"a.txt", "# port\n\nlisten 80\n\n# name\n\nserver x\n", document.Plain},
		{"a.txt", "Dear Ann,\n\n- milk\n- bread\n- eggs\n\nYours", document.Plain},
		{"a.txt", "", document.Plain},
	} {
		doc, err := load.Parse(t.Context(), c.name, []byte(c.text))
		if err != nil || doc.Kind != c.want {
			t.Errorf("%s %q: %s, %v, want %s", c.name, c.text, doc.Kind, err, c.want)
		}
	}
}

// TestTitledText tells the parts of a text file by their titles, and takes the title
// from none of the text.
func TestTitledText(t *testing.T) {
	const text = "QUICK GUIDE\n\n1. SWITCHING ON\nTurn the main switch to I.\n\n2. Faults of the pump\nIt hums, and nothing else happens.\n\n- a list\n"
	doc := parse(t, "guide.txt", text)
	var got []string
	for _, c := range chunk.Cut(doc, chunk.Options{Size: 16, Min: -1}) {
		got = append(got, fmt.Sprintf("%q %q", c.Headings, c.Text))
	}
	want := []string{
		`["QUICK GUIDE" "SWITCHING ON"] "QUICK GUIDE\n\n1. SWITCHING ON\nTurn the main switch to I."`,
		`["QUICK GUIDE" "Faults of the pump"] "2. Faults of the pump\nIt hums, and nothing else happens."`,
	}
	if len(got) < 2 || !slices.Equal(got[:2], want) {
		t.Errorf("%q", got)
	}
}

// TestIndentedCode finds the code in a page of a manual as a terminal shows it.
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
