package adoc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ragflow/internal/adoc"
	"example.com/ragflow/internal/golden"
)

func page(tb testing.TB) string {
	tb.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "page.adoc"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(source)
}

// TestRead reads a page that has all there is, and shows the line of the file that
// each line of what is made of it comes from.
func TestRead(t *testing.T) {
	page := adoc.Read(page(t))
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

// TestReadBomb has attributes stand for more than they are.
func TestReadBomb(t *testing.T) {
	s := ":a: " + strings.Repeat("x", 900) + "\n\n" + strings.Repeat("{a}", 100_000)
	if n := len(adoc.Read(s).Markdown); n > 3<<20 {
		t.Errorf("%d bytes of %d", n, len(s))
	}
}

func TestReadBroken(t *testing.T) {
	for source, want := range map[string]string{
		"":                                   "",
		"a\n\n----\nno end":                  "a\n\n```\nno end\n```\n",
		"|===\n|a |b\n|c":                    "| a | b |\n|---|---|\n| c |\n",
		"|===\n|===\nx":                      "x\n",
		"////\nno end":                       "",
		"= T\nAuthor\n\nText":                "# T\n\nText\n",
		"Two\n---\ntext":                     "## Two\n\ntext\n",
		"see <<a,b and {no} `[[ -f x ]]`":    "see <<a,b and {no} `[[ -f x ]]`\n",
		"`git checkout -- file` std::vector": "`git checkout -- file` std::vector\n",
		"a::\nb::":                           "- a, b: \n",
		"+":                                  "",
		"a\r\nb\r\n":                         "a\nb\n",
	} {
		if got := adoc.Read(source).Markdown; strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

// TestReadTime holds what is repeated to a time that grows with its length.
func TestReadTime(t *testing.T) {
	for _, s := range []string{"<<", "[[", "a::\n", "* a\n", ". a\n", "----\n", "|===\n", "|===\n|a\n", "`+", "{a}", "link:", "x:y[", "a\n=\n", "+\n", ":a: {a}{a}{a}\n{a}\n", "[a]\n", "|", "#a", "``", "http:a["} {
		adoc.Read(strings.Repeat(s, 1<<19/len(s)))
	}
}

func FuzzRead(f *testing.F) {
	source := page(f)
	f.Add(source)
	for part := range strings.SplitSeq(source, "\n\n") {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, s string) {
		t.Helper()
		if !utf8.ValidString(s) {
			return
		}
		page := adoc.Read(s)
		if !utf8.ValidString(page.Markdown) {
			t.Fatalf("no UTF-8: %q", page.Markdown)
		}
		lines := strings.Count(s, "\n") + 1
		last := adoc.Place{}
		for _, p := range page.Places {
			if p.Offset < last.Offset || p.Offset > len(page.Markdown) || p.Line < 1 || p.Line > lines {
				t.Fatalf("place %v after %v of %d bytes and %d lines", p, last, len(page.Markdown), lines)
			}
			last = p
		}
	})
}
