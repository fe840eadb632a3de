package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/server/internal/source"
)

// repo is the root of the repository, seen from this package.
const repo = "../../.."

// openFiles indexes files of the repository by their base names.
func openFiles(t *testing.T, paths ...string) shelf {
	t.Helper()
	files := map[string]string{}
	for _, p := range paths {
		data, err := os.ReadFile(filepath.Join(repo, p))
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = string(data)
	}
	return open(t, files)
}

// indexed returns the text of a document in which citations have their places.
func (s shelf) indexed(t *testing.T, name string) string {
	t.Helper()
	l, err := s.docs.Library(s.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.Text(s.ctx, s.root, name)
	if err != nil {
		t.Fatal(err)
	}
	return text.Text
}

// cited views a quote of a document.
func (s shelf) cited(t *testing.T, name, quote string) *source.View {
	t.Helper()
	return s.view(t, name, passage(t, s.indexed(t, name), quote))
}

// spans writes spans with their styles: {} around what is marked.
func spans(list []source.Span) string {
	var b strings.Builder
	for _, s := range list {
		text := s.Text
		if s.Code {
			text = "`" + text + "`"
		}
		if s.Emphasis {
			text = "*" + text + "*"
		}
		if s.Strong {
			text = "**" + text + "**"
		}
		if s.Address != "" {
			text += "(" + s.Address + ")"
		}
		if s.Marked {
			text = "{" + text + "}"
		}
		b.WriteString(text)
	}
	return b.String()
}

// segments writes a line: {} around what is marked.
func segments(list []source.Segment) string {
	var b strings.Builder
	for _, s := range list {
		if s.Marked {
			s.Text = "{" + s.Text + "}"
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// table writes a table: its columns, then its rows, those of the passage with a star.
func table(t *source.Table) string {
	if t == nil {
		return "none\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Caption, strings.Join(t.Columns, "|"))
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row.Cells {
			cells = append(cells, spans(c))
		}
		mark := ""
		if row.Marked {
			mark = "*"
		}
		fmt.Fprintf(&b, "%d%s %s\n", row.Number, mark, strings.Join(cells, "|"))
	}
	return b.String()
}

// blocks writes blocks, one a line, indented below those that they are in.
func blocks(list []source.Block, indent string) string {
	var b strings.Builder
	for _, block := range list {
		fmt.Fprintf(&b, "%s%s", indent, block.Kind)
		switch {
		case block.Level > 0:
			fmt.Fprintf(&b, " %d", block.Level)
		case block.Ordered:
			fmt.Fprintf(&b, " from %d", block.Start)
		case block.Language != "":
			b.WriteString(" " + block.Language)
		}
		if block.Spans != nil {
			fmt.Fprintf(&b, ": %q", spans(block.Spans))
		}
		b.WriteByte('\n')
		if block.Table != nil {
			b.WriteString(table(block.Table))
		}
		b.WriteString(blocks(block.Blocks, indent+"  "))
	}
	return b.String()
}

// TestTable shows the rows around a passage in the columns that they have in the file.
func TestTable(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "eval/tables/docs/rechnungen.csv", "eval/tables/docs/hoa-don.xlsx", "eval/tables/docs/lager.ods", "eval/tables/docs/price-list.pdf",
		"eval/tables/docs/thiet-bi.md", "eval/tables/docs/orders.csv", "README.md")
	var b strings.Builder
	for _, tt := range []struct{ name, quote string }{
		{"rechnungen.csv", "Rechnung: R-2; Kunde: Jansen; Netto: 350,50; Steuer: 66,60\n\nRechnung: R-3"},
		{"hoa-don.xlsx", "HD03"},
		{"lager.ods", ""}, // its first rows
		{"price-list.pdf", "Article: Lantern; Group: electric; Price: 32.75 GBP"},
		{"thiet-bi.md", "Máy chiếu"},
		{"orders.csv", "A-104; City: Ulm"},
		{"README.md", "Ask"}, // no table
	} {
		fmt.Fprintf(&b, "-- %s\n%s", tt.name, table(s.cited(t, tt.name, tt.quote).Table))
	}
	golden.Assert(t, filepath.Join("testdata", "tables.golden"), []byte(b.String()))
}

// TestTableFaults shows each row as one cell if the columns of its values are unknown.
func TestTableFaults(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	wide.WriteString("1,2,3,4\n")
	for i := range 100 {
		fmt.Fprintf(&wide, "a%d: 1,b%d: 2,c%d: 3,d%d: 4\n", i, i, i, i)
	}
	s := open(t, map[string]string{
		"wide.csv":   wide.String(),
		"bare.csv":   "3,Kiel\n4,Jena\n5,Ulm\n",
		"gaps.csv":   "3,Kiel,north\n4,,south\n5,Ulm,\n",
		"notes.csv":  "#,Name,Note\n1,Bolt,\"for wood; not for stone\"\n2,Nut,none\n",
		"notes.md":   "# Rules\n\nNote: read this; Warning: all of it.\n\nAnd this.\n",
		"twice.csv":  "Name,Size,Size\nBolt,3,4\nNut,,6\n",
		"titled.csv": "Prices of 2026\n\nName,Price\nBolt,3\nNut,4\n",
	})
	var b strings.Builder
	for _, tt := range []struct{ name, quote string }{
		{"bare.csv", "Jena"},
		{"gaps.csv", "south"},
		{"notes.csv", "not for stone"},
		{"notes.md", "Warning"},
		{"twice.csv", "6"},
		{"titled.csv", "Bolt"},
		{"wide.csv", "a70: 1"},
	} {
		fmt.Fprintf(&b, "-- %s\n%s", tt.name, table(s.cited(t, tt.name, tt.quote).Table))
	}
	golden.Assert(t, filepath.Join("testdata", "tablefaults.golden"), []byte(b.String()))
}

// TestTableWindow shows the rows near the passage of a long table.
func TestTableWindow(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Name,Price\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "part %d,%d\n", i, i+7)
	}
	s := open(t, map[string]string{"long.csv": b.String()})
	got := s.cited(t, "long.csv", "part 500; Price: 507").Table
	if n := len(got.Rows); n != 61 || !got.Before || !got.After || !got.Rows[30].Marked || got.Rows[30].Number != 502 {
		t.Errorf("%d rows, %v before, %v after, row 30 is %+v", n, got.Before, got.After, got.Rows[min(30, n-1)])
	}
}

func TestMail(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "eval/field/office2a/mail/roath-lane.mbox", "internal/load/testdata/office/report.eml", "internal/load/testdata/office/offer.msg")
	s.write(t, "comma.eml", "From: a@b.example\nSubject: two files\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHere.\n--x\n"+
		"Content-Disposition: attachment; filename=\"prices, old.txt\"\n\n3 euros\n--x\nContent-Disposition: attachment; filename=\"plan, new.zip\"\n\nPK\n--x--\n")
	l, err := s.docs.Library(s.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Sync(s.ctx); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tt := range []struct{ name, quote string }{
		{"roath-lane.mbox", "Number SO-0187"}, {"report.eml", "Żuraw"}, {"offer.msg", "480 €"}, {"comma.eml", "3 euros"},
	} {
		v := s.cited(t, tt.name, tt.quote)
		fmt.Fprintf(&b, "-- %s, %s, %q\n", tt.name, v.Form, v.Problems)
		for _, f := range v.Mail.Fields {
			fmt.Fprintf(&b, "%s = %s\n", f.Name, segments(f.Value))
		}
		fmt.Fprintf(&b, "attached: %q\nlines before %d, after %d:\n", v.Mail.Attachments, v.Mail.Body.Before, v.Mail.Body.After)
		for _, line := range v.Mail.Body.Lines {
			fmt.Fprintf(&b, "  %s\n", segments(line.Segments))
		}
	}
	golden.Assert(t, filepath.Join("testdata", "mails.golden"), []byte(b.String()))
}

const guide = `---
title: Guide
---

# A *guide*

See [the site](https://a.example/x?y=1) or [run](javascript:alert(1)), ![a **picture**](http://t.example/p.png) and <b onclick="x">bold</b>
on two lines, with ` + "`code <i>`" + ` &amp; \*stars\*, <https://b.example>.

1. First
   - inner **strong**
2. Second

> A quote.

` + "```go\nfunc main() {}\n\nvar x = 1\n```" + `

| Name | Price |
| --- | ---: |
| Bolt \| nut | 3 |
| Ring | **4** |

---

<script>alert(1)</script>
`

func TestMarkdown(t *testing.T) {
	t.Parallel()
	s := openFiles(t, "eval/tables/docs/members.html", "eval/tables/docs/courses.docx")
	s.write(t, "guide.md", guide)
	l, err := s.docs.Library(s.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Sync(s.ctx); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tt := range []struct{ name, quote string }{
		{"guide.md", "bold</b>\non two lines, with `code"}, {"guide.md", "Ring | **4"}, {"members.html", ""}, {"courses.docx", ""},
	} {
		v := s.cited(t, tt.name, tt.quote)
		fmt.Fprintf(&b, "-- %s, %s, %q\n%s", tt.name, v.Form, tt.quote, blocks(v.Blocks, ""))
	}
	golden.Assert(t, filepath.Join("testdata", "markdown.golden"), []byte(b.String()))
}

// TestMarkdownWindow begins with a whole block, and shows lines alone of what is no text.
func TestMarkdownWindow(t *testing.T) {
	t.Parallel()
	long := "# Start\n\n" + strings.Repeat("a line\n\n", 300) + "```sh\n" + strings.Repeat("run it\n", 100) + "```\n\nThe end.\n"
	files := map[string]string{"long.md": long}
	for i, hostile := range []string{"[", "![", "*a ", "`", "<", "> ", "- ", "&", "**", "[a](", "|", "_a_"} {
		files[fmt.Sprintf("hostile%d.md", i)] = "The passage.\n\n" + strings.Repeat(hostile, 120_000/len(hostile)) + "\n"
	}
	s := open(t, files)
	v := s.view(t, "long.md", passage(t, long, "The end."))
	if v.Blocks[0].Kind != "code" || v.Blocks[0].Language != "sh" || spans(v.Blocks[1].Spans) != "{The end.}" {
		t.Error(blocks(v.Blocks, ""))
	}
	for name := range files {
		if v := s.view(t, name, source.Passage{}); v.Lines == nil {
			t.Errorf("%s has no lines", name)
		}
	}
}
