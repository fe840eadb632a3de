package offline_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"
)

// formats write parts as a file, and return those that a reader of it sees.
var formats = map[string]func(t *testing.T, parts []part) ([]byte, []part){
	"a.md":   func(_ *testing.T, parts []part) ([]byte, []part) { return []byte(markdown(parts, true)), parts },
	"a.txt":  plainFile,
	"a.eml":  mailFile,
	"a.html": func(_ *testing.T, parts []part) ([]byte, []part) { return []byte(webPage(parts)), parts },
	"a.csv":  tableFile,
	"a.xlsx": workbookFile,
	"a.docx": func(t *testing.T, parts []part) ([]byte, []part) {
		t.Helper()
		return zipFile(t, "word/document.xml", word(parts)), parts
	},
	"a.odt": func(t *testing.T, parts []part) ([]byte, []part) {
		t.Helper()
		return zipFile(t, "content.xml", openText(parts)), parts
	},
	"a.epub":  bookFile,
	"a.ipynb": notebookFile,
	"a.pdf":   pdfFile,
	"a.pptx":  slideFile,
	"a.rst":   markupFile,
	"a.rtf":   richFile,
}

func markdown(parts []part, hidden bool) string {
	var b strings.Builder
	for i, p := range parts {
		switch p.kind {
		case "heading", "amount":
			b.WriteString("## " + strings.Join(p.rows[0], " ") + "\n\n")
		case "text":
			b.WriteString(p.sentences(".") + "\n\n")
		case "label":
			b.WriteString(p.sentences(":") + "\n\n")
		case "begun":
			b.WriteString(p.sentences("") + "\n\n")
		case "value":
			b.WriteString(p.rows[0][0] + "\n\n")
		case "list":
			for _, row := range p.rows {
				b.WriteString("- " + strings.Join(row, " ") + "\n")
			}
			b.WriteString("\n")
		case "table":
			for k, row := range p.rows {
				b.WriteString("| " + strings.Join(row, " | ") + " |\n")
				if k == 0 {
					b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
				}
			}
			b.WriteString("\n")
		case "code":
			b.WriteString("```\n" + lines(p) + "\n```\n\n")
		case "rule":
			b.WriteString([]string{"---", "* * *", "***", "=====", "-----------"}[i%5] + "\n\n")
		case "hidden":
			if hidden {
				b.WriteString([]string{"<!-- note -->", "[one]: https://a.example/b", "{{< toc >}}", "<!-- of\n\nlines -->"}[i%4] + "\n\n")
			}
		}
	}
	return b.String()
}

func plainFile(_ *testing.T, parts []part) ([]byte, []part) {
	parts = without(parts, "heading", "amount", "code")
	return []byte(markdown(parts, false)), parts
}

func markupFile(_ *testing.T, parts []part) ([]byte, []part) {
	parts = without(parts, "table", "rule", "hidden")
	var b strings.Builder
	for _, p := range parts {
		switch p.kind {
		case "heading", "amount":
			b.WriteString(strings.Join(p.rows[0], " ") + "\n" + strings.Repeat("-", 40) + "\n\n")
		case "code":
			b.WriteString("::\n\n    " + strings.ReplaceAll(lines(p), "\n", "\n    ") + "\n\n")
		default:
			b.WriteString(markdown([]part{p}, false))
		}
	}
	return []byte(b.String()), parts
}

func richFile(_ *testing.T, parts []part) ([]byte, []part) {
	parts = without(parts, "amount")
	var b strings.Builder
	b.WriteString(`{\rtf1\ansi\uc1 `)
	for _, r := range tagged(parts, func(kind, inside string) string {
		switch kind {
		case "cell":
			return `\intbl ` + inside + `\cell `
		case "row":
			return inside + `\row `
		case "table", "list":
			return inside + `\pard `
		}
		return strings.ReplaceAll(inside, "\n", `\line `) + `\par `
	}) {
		if r >= 128 {
			fmt.Fprintf(&b, `\u%d?`, r)
			continue
		}
		b.WriteRune(r)
	}
	return []byte(b.String() + "}"), apart(parts, "list")
}

// slideFile puts all into shapes of one slide.
func slideFile(t *testing.T, parts []part) ([]byte, []part) {
	t.Helper()
	const relations, office = "http://schemas.openxmlformats.org/package/2006/relationships", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	parts = without(parts, "amount")
	paragraph := func(inside string) string { return "<a:p><a:r><a:t>" + inside + "</a:t></a:r></a:p>" }
	shapes := tagged(parts, func(kind, inside string) string {
		switch kind {
		case "item":
			return paragraph(inside)
		case "list":
			return "<p:sp><p:txBody>" + inside + "</p:txBody></p:sp>"
		case "table":
			return "<p:graphicFrame><a:tbl>" + inside + "</a:tbl></p:graphicFrame>"
		case "row":
			return "<a:tr>" + inside + "</a:tr>"
		case "cell":
			return "<a:tc><a:txBody>" + paragraph(inside) + "</a:txBody></a:tc>"
		}
		return "<p:sp><p:txBody>" + paragraph(inside) + "</p:txBody></p:sp>"
	})
	return zipFile(t,
		"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="`+office+`"><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships xmlns="`+relations+`"><Relationship Id="r1" Type="`+office+`/slide" Target="slides/slide1.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>`+shapes+"</p:spTree></p:cSld></p:sld>"), parts
}

func mailFile(t *testing.T, parts []part) ([]byte, []part) {
	t.Helper()
	body, parts := plainFile(t, parts)
	head := "From: a@a.example\r\nTo: b@b.example\r\nSubject: Values\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
	return []byte(head + strings.ReplaceAll(string(body), "\n", "\r\n")), parts
}

func notebookFile(t *testing.T, parts []part) ([]byte, []part) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"cells": []any{map[string]any{"cell_type": "markdown", "source": markdown(parts, true)}}, "metadata": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return data, parts
}

// tagged writes parts as elements: open and close give the tags of a kind, row and cell those inside.
func tagged(parts []part, tag func(kind, inside string) string) string {
	var b strings.Builder
	for _, p := range parts {
		inside := ""
		switch p.kind {
		case "text":
			inside = html.EscapeString(p.sentences("."))
		case "label":
			inside = html.EscapeString(p.sentences(":"))
		case "begun":
			inside = html.EscapeString(p.sentences(""))
		case "heading", "amount", "value":
			inside = html.EscapeString(strings.Join(p.rows[0], " "))
		case "code":
			inside = html.EscapeString(lines(p))
		case "list":
			for _, row := range p.rows {
				inside += tag("item", html.EscapeString(strings.Join(row, " ")))
			}
		case "table":
			for _, row := range p.rows {
				cells := ""
				for _, cell := range row {
					cells += tag("cell", html.EscapeString(cell))
				}
				inside += tag("row", cells)
			}
		}
		b.WriteString(tag(p.kind, inside))
	}
	return b.String()
}

func webPage(parts []part) string {
	return "<html><body>" + tagged(parts, func(kind, inside string) string {
		switch kind {
		case "rule":
			return "<hr>"
		case "hidden":
			return "<!-- note -->"
		}
		tag := map[string]string{"heading": "h2", "amount": "h2", "text": "p", "label": "p", "begun": "p", "value": "p", "list": "ul", "item": "li", "table": "table", "row": "tr", "cell": "td", "code": "pre"}[kind]
		return "<" + tag + ">" + inside + "</" + tag + ">\n"
	}) + "</body></html>"
}

func word(parts []part) string {
	paragraph := func(inside string) string { return "<w:p><w:r><w:t>" + inside + "</w:t></w:r></w:p>" }
	return `<w:document xmlns:w="w"><w:body>` + tagged(parts, func(kind, inside string) string {
		switch kind {
		case "heading", "amount":
			return `<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>` + inside + "</w:t></w:r></w:p>"
		case "item":
			return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>` + inside + "</w:t></w:r></w:p>"
		case "list":
			return inside
		case "table":
			return "<w:tbl>" + inside + "</w:tbl>"
		case "row":
			return "<w:tr>" + inside + "</w:tr>"
		case "cell":
			return "<w:tc>" + paragraph(inside) + "</w:tc>"
		case "code":
			return paragraph(strings.ReplaceAll(inside, "\n", "<w:br/>"))
		}
		return paragraph(inside)
	}) + "</w:body></w:document>"
}

func openText(parts []part) string {
	return "<office:document-content><office:body><office:text>" + tagged(parts, func(kind, inside string) string {
		switch kind {
		case "heading", "amount":
			return `<text:h text:outline-level="2">` + inside + "</text:h>"
		case "item":
			return "<text:list-item><text:p>" + inside + "</text:p></text:list-item>"
		case "list":
			return "<text:list>" + inside + "</text:list>"
		case "table":
			return "<table:table>" + inside + "</table:table>"
		case "row":
			return "<table:table-row>" + inside + "</table:table-row>"
		case "cell":
			return "<table:table-cell><text:p>" + inside + "</text:p></table:table-cell>"
		case "code":
			return "<text:p>" + strings.ReplaceAll(inside, "\n", "<text:line-break/>") + "</text:p>"
		}
		return "<text:p>" + inside + "</text:p>"
	}) + "</office:text></office:body></office:document-content>"
}

// zipFile packs files, given as name and content in turn.
func zipFile(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func bookFile(t *testing.T, parts []part) ([]byte, []part) {
	t.Helper()
	return zipFile(t,
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>`,
		"p.opf", `<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		"a.xhtml", webPage(parts)), parts
}

// records are a table of all rows of three cells, and what a reader sees of each row.
func records(parts []part) (table part, kept []part) {
	table = part{"table", [][]string{{"Name", "Town", "Note"}, {"kalema", "-", "12345"}}}
	for _, p := range parts {
		if p.kind == "table" && len(p.rows[0]) == 3 {
			table.rows = append(table.rows, p.rows...)
		}
	}
	for _, row := range table.rows[2:] {
		kept = append(kept, part{"text", [][]string{row}})
	}
	return table, append([]part{{"text", [][]string{{"kalema", "12345"}}}}, kept...)
}

func tableFile(_ *testing.T, parts []part) ([]byte, []part) {
	table, parts := records(parts)
	var b strings.Builder
	for _, row := range table.rows {
		b.WriteString(strings.Join(row, ";") + "\n")
	}
	return []byte(b.String()), parts
}

func workbookFile(t *testing.T, parts []part) ([]byte, []part) {
	t.Helper()
	table, parts := records(parts)
	const types, relations = "http://schemas.openxmlformats.org/package/2006/content-types", "http://schemas.openxmlformats.org/package/2006/relationships"
	const office, sheets = "http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	rows := tagged([]part{table}, func(kind, inside string) string {
		switch kind {
		case "row":
			return "<row>" + inside + "</row>"
		case "cell":
			return `<c t="inlineStr"><is><t>` + inside + "</t></is></c>"
		}
		return inside
	})
	return zipFile(t,
		"[Content_Types].xml", `<Types xmlns="`+types+`"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="`+relations+`"><Relationship Id="r" Type="`+office+`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/_rels/workbook.xml.rels", `<Relationships xmlns="`+relations+`"><Relationship Id="r" Type="`+office+`/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook xmlns="`+sheets+`" xmlns:r="`+office+`"><sheets><sheet name="S" sheetId="1" r:id="r"/></sheets></workbook>`,
		"xl/worksheets/sheet1.xml", `<worksheet xmlns="`+sheets+`"><sheetData>`+rows+"</sheetData></worksheet>"), parts
}

// pdfFile writes each sentence, item, row and value on a line.
func pdfFile(_ *testing.T, parts []part) ([]byte, []part) {
	parts = without(parts, "code", "table")
	var pages []string
	var b strings.Builder
	y := 800
	show := func(size, gap int, s string) {
		if y -= gap; y < 40 {
			pages, y = append(pages, b.String()), 790
			b.Reset()
		}
		s = strings.NewReplacer("(", `\(`, ")", `\)`, "€", `\200`, "§", `\247`).Replace(s)
		fmt.Fprintf(&b, "BT /F %d Tf 40 %d Td (%s) Tj ET\n", size, y, s)
	}
	for _, p := range parts {
		gap := 30
		for _, row := range p.rows {
			size, line := 8, strings.Join(row, " ")
			switch p.kind {
			case "heading", "amount":
				size = 14
			case "text":
				line += "."
			case "label":
				line += ":"
			case "list":
				line = "- " + line
			}
			show(size, gap, line)
			gap = 10
		}
	}
	pages = append(pages, b.String())
	var out bytes.Buffer
	kids, offsets := "", []int{}
	object := func(body string) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(offsets), body)
	}
	out.WriteString("%PDF-1.7\n")
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(pages)))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for i, p := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>", 5+2*i))
		object(fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(p), p))
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return out.Bytes(), apart(parts, "text", "list")
}
