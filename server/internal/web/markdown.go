package web

import (
	"bytes"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"example.com/ragflow/internal/sanitize"
)

// citation matches the mark of a citation in an answer.
var citation = regexp.MustCompile(`\[Source (\d{1,4})\]`)

// citeScheme begins the address of a citation while an answer is rendered.
const citeScheme = "cite:"

// answerHTML renders the Markdown of an answer. A mark [Source N] becomes a link to the address that cite
// returns; one without an address, which is "", stays text. Addresses of other links are text, too.
func answerHTML(markdown string, cite func(n string) (address, label string)) template.HTML {
	filter := sanitize.Filter{Link: func(prose string, keep func(string) string) string {
		return citation.ReplaceAllStringFunc(prose, func(mark string) string {
			n := citation.FindStringSubmatch(mark)[1]
			if address, _ := cite(n); address == "" {
				return mark
			}
			return keep("[" + n + "](" + citeScheme + n + ")")
		})
	}}
	return render(filter.All(markdown), cite)
}

// render renders Markdown. The result holds the elements of Markdown, and all text of it is escaped: HTML and addresses
// in <> are text, because nothing parses them.
func render(markdown string, cite func(n string) (address, label string)) template.HTML {
	foreign := []any{parser.NewHTMLBlockParser(), parser.NewRawHTMLParser(), parser.NewAutoLinkParser()}
	isForeign := func(p util.PrioritizedValue) bool { return slices.Contains(foreign, p.Value) }
	m := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(slices.DeleteFunc(parser.DefaultBlockParsers(), isForeign)...),
			parser.WithInlineParsers(slices.DeleteFunc(parser.DefaultInlineParsers(), isForeign)...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&plain{cite}, 1))),
	)
	var out bytes.Buffer
	if err := m.Convert([]byte(strings.ToValidUTF8(markdown, "\ufffd")), &out); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(markdown) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(out.Bytes()) //nolint:gosec // made by plain, which escapes
}

// plain renders pictures and links, which could carry something foreign into a page, as text.
type plain struct {
	cite func(n string) (address, label string)
}

func (p *plain) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil // its text
	})
	r.Register(ast.KindLink, p.link)
}

// link renders the link of a citation; another one is its text and its address.
func (p *plain) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := string(n.(*ast.Link).Destination)
	number, ours := strings.CutPrefix(to, citeScheme)
	switch {
	case ours:
		address, label := p.cite(number)
		if address == "" {
			return ast.WalkContinue, nil
		}
		if entering {
			_, _ = w.WriteString(`<a class="cite" data-into="#pane" href="` + template.HTMLEscapeString(address) + `" aria-label="` + template.HTMLEscapeString(label) + `">`)
		} else {
			_, _ = w.WriteString("</a>")
		}
	case !entering:
		_, _ = w.WriteString(` <span class="address">`)
		template.HTMLEscape(w, []byte(to))
		_, _ = w.WriteString("</span>")
	}
	return ast.WalkContinue, nil
}
