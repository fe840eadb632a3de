package load_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
)

// TestHTMLGolden reads testdata/html/*.txtar: a page, then the document.
func TestHTMLGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "html", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no pages", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := strings.ReplaceAll(string(archive.Files[0].Data), "\r\n", "\n")
			doc := parse(t, "in.html", page)
			if fault := checkHTML(doc); fault != "" {
				t.Error(fault)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "title %q meta %q warnings %q\n", doc.Title, doc.Meta, doc.Warnings)
			for _, c := range chunk.Cut(doc, chunk.Options{Size: 40, Min: -1}) {
				fmt.Fprintf(&b, "%d-%d %q %s\n", c.Start, c.End, c.Headings, c.Kind)
			}
			archive.Files = append(archive.Files[:1], txtar.File{Name: "text", Data: []byte(doc.Text)}, txtar.File{Name: "chunks", Data: []byte(b.String())})
			golden.Assert(t, path, txtar.Format(archive))
		})
	}
}

// checkHTML reports what is wrong with a page that was read, "" if nothing.
func checkHTML(doc document.Document) string {
	if !utf8.ValidString(doc.Text) || !doc.Converted {
		return "the text is not valid UTF-8, or not told to be another"
	}
	if i := strings.IndexFunc(doc.Text, func(r rune) bool { return r == 0x202E || r == 0x200B }); i >= 0 {
		return fmt.Sprintf("text that cannot be seen at %d", i)
	}
	at := 0
	for _, c := range chunk.Cut(doc, chunk.Options{Size: 40}) {
		switch {
		case c.Start < at || doc.Text[c.Start:c.End] != c.Text || c.Text == "":
			return fmt.Sprintf("chunk %d is not the text at its place", c.Ordinal)
		case strings.TrimSpace(doc.Text[at:c.Start]) != "":
			return fmt.Sprintf("%q is in no chunk", doc.Text[at:c.Start])
		}
		at = c.End
	}
	return ""
}

func TestHTMLEncodings(t *testing.T) {
	for _, tt := range []struct{ name, in, want, encoding string }{
		{"utf-8", "<p>Grüße €</p>", "Grüße €\n", "utf-8"},
		{"declared but not so", "<meta charset=iso-8859-1><p>Grüße</p>", "Grüße\n", "utf-8"},
		{"byte order mark", "\xEF\xBB\xBF<p>ü</p>", "ü\n", "utf-8"},
		{"windows-1252", "<p>Gr\xFC\xDFe \x80</p>", "Grüße €\n", "windows-1252"},
		{"windows-1251", "<meta charset=windows-1251><p>\xCF\xF0\xE8\xE2\xE5\xF2</p>", "Привет\n", "windows-1251"},
		{"shift_jis", "<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'><p>\x93\xFA\x96\x7B</p>", "日本\n", "shift_jis"},
		{"iso-2022-jp", "<meta charset=iso-2022-jp><p>\x1b$BF|K\\\x1b(B</p>", "日本\n", "iso-2022-jp"},
		{"utf-16", "\xFF\xFE<\x00p\x00>\x00\xE9\x00", "é\n", "utf-16le"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, "a.htm", tt.in)
			if doc.Text != tt.want || doc.Encoding != tt.encoding {
				t.Errorf("got %q (%s), want %q (%s)", doc.Text, doc.Encoding, tt.want, tt.encoding)
			}
		})
	}
	if _, err := load.Parse(t.Context(), "a.html", []byte("<p>a\x00b")); !errors.Is(err, load.ErrBinary) {
		t.Errorf("err = %v, want ErrBinary", err)
	}
}

func TestHTMLTitle(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"title", "<title> A\n b </title><h1>Other</h1>", "A b"},
		{"heading within the title", "<title>Install - Docs - Site</title><h1>Install</h1>", "Install"},
		{"heading alone", "<h1>Only <em>this</em></h1>", "Only this"},
		{"several headings", "<title>All of A and B</title><h1>A</h1><h1>B</h1>", "All of A and B"},
		{"none", "<p>x", "page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parse(t, "dir/page.html", tt.in).Title; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHTMLHidden checks that text hidden from people is not read.
func TestHTMLHidden(t *testing.T) {
	const shown = "<p>Shown before.</p>%s<p>Shown after.</p>"
	for _, tt := range []struct{ name, in string }{
		{"attribute", `<div hidden><p>Secret.</p><div>Secret.</div></div>`},
		{"attribute with a value", `<div hidden="hidden">Secret.</div>`},
		{"from screen readers", `<div aria-hidden=TRUE>Secret.</div>`},
		{"display", `<div style="color: red; display : none !important">Secret.</div>`},
		{"display, with a comment", `<div style="display:/* ; */none">Secret.</div>`},
		{"display, written as entities", `<div style="&#100;isplay:none">Secret.</div>`},
		{"visibility", `<div style="visibility:hidden">Secret.</div>`},
		{"opacity", `<div style="opacity:.0">Secret.</div>`},
		{"size", `<div style="font-size:0">Secret.</div>`},
		{"size of a font", `<div style="font:0/0 a">Secret.</div>`},
		{"colour", `<div style="color:transparent">Secret.</div>`},
		{"far off", `<div style="position:absolute;left:-9999px">Secret.</div>`},
		{"far off, by indent", `<div style="text-indent:-999em">Secret.</div>`},
		{"clipped", `<div style="position:absolute;clip:rect(0, 0, 0, 0)">Secret.</div>`},
		{"clipped by a path", `<div style="clip-path: inset(100%)">Secret.</div>`},
		{"scaled", `<div style="transform:scale(0)">Secret.</div>`},
		{"template", `<template><div>Secret.</div></template>`},
		{"no scripts", `<noscript><div>Secret.</div></noscript>`},
		{"paragraph without an end", `<p hidden>Secret. <b>Secret.</b>`},
		{"nested in its like", `<div hidden><div>Secret.</div>Secret.</div>`},
		{"heading", `<div hidden><h1>Secret.</h1></div>`},
		{"link", `<a hidden href=https://a.test/>Secret.</a>`},
		{"row", `<table><tr hidden><td>Secret.</td></tr></table>`},
		{"part of a table", `<table><tr><th>A<th>B</tr><tbody hidden><tr><td>Secret.<td>Secret.</tr></tbody><tr><td>c<td>d</tr></table>`},
		{"cell", `<table><tr><td hidden>Secret.</td></tr></table>`},
		{"code", `<pre><span style="display:none">Secret.</span></pre>`},
		{"item", `<ul><li hidden>Secret.</li></ul>`},
		{"main part", `<main hidden>Secret.` + strings.Repeat(" Secret.", 50) + `</main>`},
	} {
		page := fmt.Sprintf(shown, tt.in)
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, "a.html", page)
			if strings.Contains(doc.Text+doc.Title, "Secret") || !strings.Contains(doc.Text, "before.") || !strings.Contains(doc.Text, "after.") {
				t.Errorf("%q remains, title %q", doc.Text, doc.Title)
			}
		})
	}
}

// TestHTMLShown checks that text that only resembles hidden text is read.
func TestHTMLShown(t *testing.T) {
	for _, in := range []string{
		`<body style="opacity:0"><p>Shown.</p></body>`, `<html hidden><p>Shown.</p></html>`, `<p hidden=until-found>Shown.</p>`, `<p aria-hidden=false>Shown.</p>`,
		`<p style="margin-left:-100px">Shown.</p>`, `<p style="left:-9px;top:9999px">Shown.</p>`, `<p style="opacity:0.5;font-size:0.9em;font:12px/1 a">Shown.</p>`,
		`<p style="clip:rect(0,100px,20px,0)">Shown.</p>`, `<p style="transform:scale(0.5)">Shown.</p>`, `<p style="content:'display:none'">Shown.</p>`, `<p style>Shown.</p>`,
	} {
		if got := parse(t, "a.html", in).Text; got != "Shown.\n" {
			t.Errorf("%s: %q", in, got)
		}
	}
}

// TestURL reads the published addresses of documents.
func TestURL(t *testing.T) {
	page := func(head string) string { return "<html><head>" + head + "</head><body><p>Text</p></body></html>" }
	for _, tt := range []struct{ name, source, in, want string }{
		{"canonical link", "a.html", page(`<link rel="Canonical nofollow" href=" https://Docs.Test/a?b=1#c ">`), "https://docs.test/a?b=1#c"},
		{"the first one counts", "a.html", page(`<link rel=canonical href=https://docs.test/1><link rel=canonical href=https://docs.test/2>`), "https://docs.test/1"},
		{"another link", "a.html", page(`<link rel=alternate href=https://docs.test/a>`), ""},
		{"in the body anyone may have written it", "a.html", "<body><p>Text</p><link rel=canonical href=https://evil.test/></body>", ""},
		{"a path", "a.html", page(`<link rel=canonical href=/a>`), ""},
		{"http", "a.html", page(`<link rel=canonical href=http://docs.test/a>`), ""},
		{"a program", "a.html", page(`<link rel=canonical href="javascript:alert(1)">`), ""},
		{"a name before the host", "a.html", page(`<link rel=canonical href=https://bank.test@evil.test/>`), ""},
		{"letters that look like others", "a.html", page(`<link rel=canonical href=https://bаnk.test/>`), ""},
		{"marks of Markdown", "a.html", page("<link rel=canonical href='https://docs.test/a>[x](y)`|z'>"), "https://docs.test/a%3E%5Bx%5D%28y%29%60%7Cz"},
		{"front matter", "a.md", "---\nurl: https://docs.test/a\n---\nText", "https://docs.test/a"},
		{"canonical before url", "a.md", "---\nurl: https://docs.test/a\ncanonical: https://docs.test/b\n---\nText", "https://docs.test/b"},
		{"a path of a site", "a.md", "---\nurl: /docs/a/\n---\nText", ""},
		{"letters outside of ASCII", "a.md", "---\nurl: https://docs.test/żółw\n---\nText", "https://docs.test/%C5%BC%C3%B3%C5%82w"},
		{"none", "a.md", "Text", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, tt.source, tt.in)
			chunks := chunk.Cut(doc, chunk.Options{})
			if doc.URL != tt.want || len(chunks) != 1 || chunks[0].URL != tt.want {
				t.Errorf("got %q, in chunks %+v; want %q", doc.URL, chunks, tt.want)
			}
		})
	}
}

// TestHTMLFurniture checks that furniture is read as text if there is no other text.
func TestHTMLFurniture(t *testing.T) {
	long := strings.Repeat("It goes on for a while. ", 20)
	for _, tt := range []struct{ name, in, want string }{
		{"page of links", "<nav><ul><li>" + long + "</ul></nav>", "- " + strings.TrimSpace(long) + "\n"},
		{"whole page in a form", "<form><p>Text</p><input value=x></form>", "Text\n"},
		{"main in a sidebar class", "<div class=sidebar><main>Text</main></div>", "Text\n"},
		{"short main, long body", "<main>x</main><div>" + long + "</div>", "x\n\n" + strings.TrimSpace(long) + "\n"},
		{"links to the pages beside", `<table><tr><td><a href=a>Prev</a><td>Chapter 5<td><a href=c>Next</a></table><p>` + long + `<p>Next: <a href=c rel=next>More</a>, Up: <a href=/ rel=up>Top</a>`, strings.TrimSpace(long) + "\n"},
		{"index of a book", `<h1>Index</h1><table class="index-cp"><tr><td>pump<td><a href=a#p>2.1 Faults</a></table><div class="indexdiv"><dl><dt>seal, <a href=b>Parts</a></dl></div>`, "# Index\n"},
		{"several articles", "<article>a</article><article>b</article>", "a\n\nb\n"},
		{"header of an article", "<article><header>By Ann</header><p>Text</article>", "By Ann\n\nText\n"},
		{"blocks in a cell", "<table><tr><td><ul><li>a<li>b</ul><td><xmp>c d</xmp></table>", "| a b | c d |\n| --- | --- |\n"},
		{"item without a list", "<ul><li>a</ul><li>b<p>c", "- a\n\n- b\n\nc\n"},
		{"quotes and lists", "<blockquote><ul><li>a<br>b</ul></blockquote><ul><li>c<blockquote>d</blockquote></ul>", "> - a\n>   b\n\n- c\n  > d\n"},
		{"nothing", "<nav></nav>", ""},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, parse(t, "a.html", tt.in).Text); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestHTMLBombs reads pages designed to take all time or memory: each is read within limits, or refused.
func TestHTMLBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("large files; nothing of it runs side by side")
	}
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, tt := range []struct{ name, in string }{
		{"deep", many("<div>", 100_000) + "needle"},
		{"deep inline", many("<custom>", 100_000) + "needle"},
		{"formatting", "<p>" + numbered("<b id=%d>", 400) + "</p>" + many("<p>x", 50_000) + "needle"},
		{"formatting in a drawing", "<svg><title><p>" + numbered("<b id=%d>", 400) + "</p>" + many("<p>x", 50_000) + "</title></svg>needle"},
		{"open drawing", "<svg>" + many("<path d=x>", 100_000) + "<p>needle"},
		{"rows that span", "<table><tr>" + many("<td rowspan=65534>"+many("x", 90), 1000) + many("<tr>", 50_000) + "<td>needle</table>"},
		{"columns that span", "<table>" + many("<tr><td colspan=1000>x<td>y", 20_000) + "<tr><td>needle<td>z</table>"},
		{"nested tables", many("<table><tr><td>", 150) + "needle"},
		{"nested lists", many("<ul><li>x", 200) + "needle"},
		{"attributes", "<p " + numbered("a%d=1 ", 100_000) + ">needle"},
		{"tags", many("<i>x</i>", 100_000) + "needle"},
		{"entities", many("&#x41;", 200_000) + " needle"},
		{"links", many("<a href=https://example.com/"+many("y", 150)+">x", 5_000) + " needle"},
		{"adoption", many("<a><div>", 2000) + many("</a>", 2000) + "needle"},
		{"fences", "<pre>" + many("`", 100_000) + "</pre>needle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.html", []byte(tt.in))
			if errors.Is(err, load.ErrTooLarge) {
				return
			}
			if err != nil || !strings.Contains(doc.Text, "needle") {
				t.Errorf("the text is lost: %.100q", doc.Text)
			}
			if len(doc.Text) > 8*len(tt.in)+1<<17 {
				t.Errorf("%d bytes of page became %d of text", len(tt.in), len(doc.Text))
			}
			if n := len(chunk.Cut(doc, chunk.Options{})); n == 0 {
				t.Error("no chunks")
			}
		})
	}
}

func TestHTMLTooLarge(t *testing.T) {
	if _, err := load.Parse(t.Context(), "a.html", make([]byte, 33<<20)); !errors.Is(err, load.ErrTooLarge) {
		t.Errorf("err = %v, want ErrTooLarge", err)
	}
}

// TestHTMLRealPages reads pages saved from the web.
func TestHTMLRealPages(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(golden.Public(t, "code", "html"), "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			doc := parse(t, filepath.Base(path), string(page))
			if fault := checkHTML(doc); fault != "" {
				t.Error(fault)
			}
			if len(doc.Text) < 2000 || len(doc.Warnings) > 0 || len(chunk.Cut(doc, chunk.Options{})) < 3 {
				t.Errorf("%d bytes of text, warnings %q", len(doc.Text), doc.Warnings)
			}
			for _, never := range []string{"function(", "{display:", "Jump to navigation", "[edit]", "Log in"} {
				if strings.Contains(doc.Text, never) {
					t.Errorf("%q is in the text", never)
				}
			}
		})
	}
}

func FuzzHTML(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "html", "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		archive, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(archive.Files[0].Data))
	}
	f.Add("<svg><title><b><p></svg>&#xFDD0;")
	f.Add("<table><td rowspan=9><tr><ul><pre>`</table><plaintext>")
	f.Fuzz(func(t *testing.T, page string) {
		doc, err := load.Parse(t.Context(), "a.html", []byte(page))
		if err != nil {
			return
		}
		if doc.Encoding == "utf-8" {
			if fault := checkHTML(doc); fault != "" {
				t.Error(fault)
			}
		}
		again, err := load.Parse(t.Context(), "a.html", []byte(page))
		if err != nil || again.Text != doc.Text {
			t.Error("read twice, it gives two texts")
		}
	})
}

func BenchmarkHTML(b *testing.B) {
	page, err := os.ReadFile(golden.Public(b, "code", "html", "wikipedia_microsoft.html"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if _, err := load.Parse(b.Context(), "a.html", page); err != nil {
			b.Fatal(err)
		}
	}
}
