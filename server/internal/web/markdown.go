package web

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
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

// documentHTML renders the Markdown of a document.
func documentHTML(markdown string) template.HTML { return render(markdown, nil) }

// render renders Markdown. The result holds the elements of Markdown, and all text of it is escaped.
func render(markdown string, cite func(n string) (address, label string)) template.HTML {
	m := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&plain{cite}, 1))),
	)
	var out bytes.Buffer
	if err := m.Convert([]byte(strings.ToValidUTF8(markdown, "\ufffd")), &out); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(markdown) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(out.Bytes()) //nolint:gosec // made by plain, which escapes
}

// plain renders what could carry something foreign into a page as text: HTML, pictures and links.
type plain struct {
	cite func(n string) (address, label string)
}

func (p *plain) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			lines := n.(*ast.RawHTML).Segments
			for i := range lines.Len() {
				at := lines.At(i)
				template.HTMLEscape(w, at.Value(source))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.HTMLBlock)
			_, _ = w.WriteString("<p>")
			for i := range block.Lines().Len() {
				at := block.Lines().At(i)
				template.HTMLEscape(w, at.Value(source))
			}
			if block.HasClosure() {
				template.HTMLEscape(w, block.ClosureLine.Value(source))
			}
			_, _ = w.WriteString("</p>\n")
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil // its text
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			template.HTMLEscape(w, n.(*ast.AutoLink).Label(source))
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindLink, p.link)
}

// link renders the link of a citation; another one is its text and its address.
func (p *plain) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := string(n.(*ast.Link).Destination)
	number, ours := strings.CutPrefix(to, citeScheme)
	switch {
	case ours && p.cite != nil:
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
