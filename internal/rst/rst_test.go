package rst_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/rst"
)

// TestRead reads a page that has all there is, and shows the line of the file that
// each line of what is made of it comes from.
func TestRead(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "page.rst"))
	if err != nil {
		t.Fatal(err)
	}
	page := rst.Read(string(source))
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", page.Fields)
	at, next := 0, 0
	for l := range strings.Lines(page.Markdown) {
		line := "   "
		for next < len(page.Places) && page.Places[next].Offset < at+len(l) {
			line = fmt.Sprintf("%3d", page.Places[next].Line)
			next++
		}
		fmt.Fprintf(&b, "%s %s", line, l)
		at += len(l)
	}
	golden.Assert(t, filepath.Join("testdata", "page.golden"), []byte(b.String()))
}

// TestReadBroken gives what is broken, and expects the text that is there.
func TestReadBroken(t *testing.T) {
	for source, want := range map[string]string{
		"":                                 "",
		"..":                               "",
		"A\n=\n":                           "A =\n", // one mark is no heading
		"Text::":                           "Text:\n",
		"``not closed":                     "``not closed\n",
		":role:`not closed":                ":role:`not closed\n",
		".. code-block:: python":           "",
		".. list-table::\n\n   no rows":    "",
		"+---+\n| a |":                     "| a |\n| --- |\n",
		"=== ===\nno end\n":                "=== ===\nno end\n",
		"- ":                               "",
		"# a line of text":                 "\\# a line of text\n",
		"text\n- that goes on":             "text - that goes on\n",
		"`x <javascript:alert(1)>`_":       "x\n",
		"`x <https://a@example.com/>`_":    "x\n",
		".. csv-table::\n\n   a,\"b\n":     "| a | b |\n| --- | --- |\n",
		"Größe\n=====\n\nSo groß.":         "# Größe\n\nSo groß.\n",
		"a\n\n" + strings.Repeat(" ", 3):   "a\n",
		strings.Repeat("- ", 100) + "deep": "",
	} {
		if got := rst.Read(source).Markdown; got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

// TestReadTime holds what is repeated to a time that grows with its length: a page
// of a megabyte of any of these takes seconds at most, or the test's time runs out.
func TestReadTime(t *testing.T) {
	for _, s := range []string{"`", "``", "|", "_", "a_ ", ":a:`", "\\", "[1]_", "- ", ".. ", ">", "* a\n", "a\n b\n", ".. _a:\n", ".. |a| b\n", "+-", "+--+\n", "== ==\n", "::\n\n x\n", "::\n", "`a <"} {
		rst.Read(strings.Repeat(s, 1<<20/len(s)))
	}
}

func FuzzRead(f *testing.F) {
	source, err := os.ReadFile(filepath.Join("testdata", "page.rst"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(source))
	for part := range strings.SplitSeq(string(source), "\n\n") {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, s string) {
		t.Helper()
		if !utf8.ValidString(s) {
			return
		}
		page := rst.Read(s)
		if !utf8.ValidString(page.Markdown) {
			t.Fatalf("no UTF-8: %q", page.Markdown)
		}
		lines := strings.Count(s, "\n") + 1
		last := rst.Place{}
		for _, p := range page.Places {
			if p.Offset < last.Offset || p.Offset > len(page.Markdown) || p.Line < 1 || p.Line > lines {
				t.Fatalf("place %v after %v of %d bytes and %d lines", p, last, len(page.Markdown), lines)
			}
			last = p
		}
	})
}
