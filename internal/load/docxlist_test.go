package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/load"
)

// level writes a level of a list of Word, with more elements.
func level(n int, format, label string, more ...string) string {
	return fmt.Sprintf(`<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/>%s<w:lvlText w:val="%s"/></w:lvl>`, n, format, strings.Join(more, ""), label)
}

// wordDocument returns a Word document. A line of body is "list level style: text", with - for none.
func wordDocument(t *testing.T, styles, numbering, body string) []byte {
	t.Helper()
	const ns = ` xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	var b strings.Builder
	for line := range strings.Lines(body) {
		properties, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		var list, level, style string
		if _, err := fmt.Sscan(properties, &list, &level, &style); err != nil {
			t.Fatal(line, err)
		}
		b.WriteString("<w:p><w:pPr>")
		if style != "-" {
			b.WriteString(`<w:pStyle w:val="` + style + `"/>`)
		}
		if list != "-" {
			b.WriteString(`<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr>`)
		}
		b.WriteString("</w:pPr><w:r><w:t>" + strings.TrimSpace(text) + "</w:t></w:r></w:p>")
	}
	const main = "application/vnd.openxmlformats-officedocument.wordprocessingml."
	return zipped(t,
		"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="`+main+`document.main+xml"/><Override PartName="/word/styles.xml" ContentType="`+main+`styles+xml"/><Override PartName="/word/numbering.xml" ContentType="`+main+`numbering+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/_rels/document.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/></Relationships>`,
		"word/styles.xml", "<w:styles"+ns+">"+styles+"</w:styles>",
		"word/numbering.xml", "<w:numbering"+ns+">"+numbering+"</w:numbering>",
		"word/document.xml", "<w:document"+ns+"><w:body>"+b.String()+"</w:body></w:document>")
}

// TestWordNumbers numbers the paragraphs of Word documents. LibreOffice 7.4 writes the same labels, except in
// three rows: it does not know lvlRestart and isLgl, and a style named by a level needs the level too.
func TestWordNumbers(t *testing.T) {
	const one = `<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`
	of := func(levels ...string) string {
		return `<w:abstractNum w:abstractNumId="0">` + strings.Join(levels, "") + `</w:abstractNum>`
	}
	style := func(id, name, based, list, depth string) string {
		numbers := ""
		if depth != "" {
			numbers += `<w:ilvl w:val="` + depth + `"/>`
		}
		if list != "" {
			numbers += `<w:numId w:val="` + list + `"/>`
		}
		return `<w:style w:type="paragraph" w:styleId="` + id + `"><w:name w:val="` + name + `"/><w:basedOn w:val="` + based + `"/><w:pPr><w:numPr>` + numbers + `</w:numPr></w:pPr></w:style>`
	}
	clauses := of(level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), level(2, "lowerLetter", "(%3)"))
	for _, tt := range []struct{ name, styles, numbering, body, want string }{
		{
			"clauses", "", clauses + one,
			"1 0 -: Term\n1 1 -: It begins.\n1 2 -: in May\n1 2 -: in June\n1 1 -: It ends.\n1 2 -: in July\n1 0 -: Price\n1 1 -: It is due.",
			"1. Term\n\n1.1 It begins.\n\n- (a) in May\n- (b) in June\n\n1.2 It ends.\n\n- (a) in July\n\n2. Price\n\n2.1 It is due.\n",
		},
		{
			"headings by their styles", style("H1", "heading 1", "", "1", "") + style("H2", "heading 2", "", "1", "1") + style("Mine", "Mine", "H2", "", "") + style("No", "heading 3", "H2", "0", ""),
			of(level(0, "decimal", "%1", `<w:pStyle w:val="H1"/>`), level(1, "decimal", "%1.%2", `<w:pStyle w:val="H2"/>`)) + one,
			"- - H1: Term\n- - H2: Begin\n- - Mine: End\n- - No: Never\n0 0 H1: Without\n- - H1: Price",
			"# 1 Term\n\n## 1.1 Begin\n\n## 1.2 End\n\n### Never\n\n# Without\n\n# 2 Price\n",
		},
		{
			"level by the name of a style", style("C", "Clause", "", "1", ""), of(level(0, "decimal", "%1."), level(1, "decimal", "%1.%2", `<w:pStyle w:val="C"/>`)) + one,
			"1 0 -: Term\n- - C: It begins.\n- - C: It ends.", "1. Term\n\n1.1 It begins.\n\n1.2 It ends.\n",
		},
		{
			"two lists of one definition go on", "", clauses + one + `<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>`,
			"1 0 -: a\n1 0 -: b\n- - -: between\n2 0 -: c", "1. a\n2. b\n\nbetween\n\n3. c\n",
		},
		{
			"a list that starts again, once", "", clauses + one + `<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>`,
			"1 0 -: a\n1 0 -: b\n2 0 -: c\n1 0 -: d\n2 0 -: e", "1. a\n2. b\n5. c\n6. d\n7. e\n",
		},
		{
			"a level of its own", "", clauses + `<w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">` + level(0, "upperRoman", "Article %1") + `</w:lvlOverride></w:num>`,
			"1 0 -: Term\n1 0 -: Price", "Article I Term\n\nArticle II Price\n",
		},
		{
			"levels that others do not begin again", "", of(level(0, "decimal", "%1."), level(1, "decimal", "§ %2", `<w:lvlRestart w:val="0"/>`)) + one,
			"1 0 -: Term\n1 1 -: a\n1 1 -: b\n1 0 -: Price\n1 1 -: c", "1. Term\n\n§ 1 a\n\n§ 2 b\n\n2. Price\n\n§ 3 c\n",
		},
		{
			"legal numbers", "", of(level(0, "upperRoman", "Article %1."), level(1, "decimal", "%1.%2", "<w:isLgl/>"), level(2, "decimal", "%1.%2")) + one,
			"1 0 -: a\n1 0 -: b\n1 1 -: c\n1 2 -: d", "Article I. a\n\nArticle II. b\n\n2.1 c\n\nII.1 d\n",
		},
		{
			"first item below the first level", "", clauses + one,
			"1 1 -: a\n1 1 -: b\n1 0 -: c\n1 1 -: d", "1.1 a\n\n1.2 b\n\n2. c\n\n2.1 d\n",
		},
		{
			"formats", "", of(level(0, "decimalZero", "%1)"), level(1, "upperLetter", "%2."), level(2, "lowerRoman", "%3)"), level(3, "bullet", "\uf0b7"), level(4, "none", ""), level(5, "none", "Note:")) + one,
			"1 0 -: a\n1 1 -: b\n1 2 -: c\n1 2 -: d\n1 3 -: e\n1 4 -: f\n1 5 -: g",
			"01) a\n    - A. b\n      - i) c\n      - ii) d\n        - e\n\nf\n\nNote: g\n",
		},
		{
			"letters after z", "", of(level(0, "lowerLetter", "%1)", "")) + `<w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="26"/></w:lvlOverride></w:num>`,
			"1 0 -: a\n1 0 -: b\n1 0 -: c", "- z) a\n- aa) b\n- bb) c\n",
		},
		{
			"empty paragraphs count", "", clauses + one, "1 0 -: a\n1 0 -:\n1 0 -: c", "1. a\n3. c\n",
		},
		{
			"list of a style", `<w:style w:type="numbering" w:styleId="L"><w:name w:val="L"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>`,
			`<w:abstractNum w:abstractNumId="0"><w:styleLink w:val="L"/>` + level(0, "decimal", "%1.") + `</w:abstractNum><w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="L"/></w:abstractNum>` + one + `<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>`,
			"2 0 -: a\n2 0 -: b", "1. a\n2. b\n",
		},
		{
			"a sub-list in a list", "", of(level(0, "decimal", "%1."), level(1, "bullet", "o"), level(2, "decimal", "%3)")) + one,
			"1 0 -: a\n1 1 -: b\n1 2 -: c\n1 0 -: d", "1. a\n   - b\n     1) c\n2. d\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := wordDocument(t, tt.styles, tt.numbering, tt.body)
			if dir := os.Getenv("WORD_OUT"); dir != "" {
				_ = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "_")+".docx"), data, 0o600)
			}
			doc, err := load.Parse(t.Context(), "a.docx", data)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, doc.Text); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestWordMainPart reads a document whose main part has another name.
func TestWordMainPart(t *testing.T) {
	doc, err := load.Parse(t.Context(), "a.docx", zipped(t, "word/document2.xml", "<document><p><r><t>a</t></r></p></document>",
		"_rels/.rels", `<Relationships><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="/word/document2.xml"/></Relationships>`))
	if err != nil || doc.Text != "a\n" {
		t.Errorf("%q, %v", doc.Text, err)
	}
}
