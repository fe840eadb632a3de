package source

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"example.com/ragflow/internal/markup"
	words "example.com/ragflow/internal/text"
)

const (
	maxRendered = 128 << 10 // bytes that are parsed for one view
	maxBack     = 400       // lines before a window that may belong to its first block
	maxAddress  = 2000      // bytes of the address of a link
)

// Block is a block of Markdown. Images are their texts, and HTML is text like any other.
type Block struct {
	Kind     string // paragraph, heading, code, quote, list, item, table or rule
	Level    int    // of a heading: 1 to 6
	Ordered  bool   // a list with numbers
	Start    int    // the number of the first item of an ordered list
	Language string // of code; "" if it is not said
	Spans    []Span // of a paragraph, a heading and code; lines of code end with a line feed
	Blocks   []Block
	Table    *Table
}

// Span is a piece of text in one style.
type Span struct {
	Text     string // a line feed is a line break
	Marked   bool   // it belongs to the passage
	Strong   bool
	Emphasis bool
	Code     bool
	Address  string // of a link: http, https or mailto, to be shown beside Text; "" for others
}

// blocks returns the lines of a window as Markdown; nil if they are too many bytes, too deeply nested, or in the
// middle of a long block of code.
func (t *text) blocks(window, m span) []Block {
	if window.empty() {
		return nil
	}
	first, ok := t.blockStart(window.start)
	if !ok {
		return nil
	}
	from, to := max(t.starts[first], t.Body), t.bounds(window.end-1).end
	if from >= to || to-from > maxRendered || markup.PlainReason(t.Text.Text[from:to]) != "" {
		return nil
	}
	r := renderer{src: []byte(t.Text.Text[from:to]), mark: span{m.start - from, m.end - from}}
	return r.children(blockParser().Parse(gmtext.NewReader(r.src)))
}

// blockStart returns the line that a block begins with to which a line of the text belongs.
func (t *text) blockStart(line int) (first int, ok bool) {
	var fence words.Fence
	opened := 0
	for i := t.lineAt(t.Body); i < line; i++ {
		b := t.bounds(i)
		switch s := t.Text.Text[b.start:b.end]; {
		case fence.Mark == "":
			fence, _ = words.OpenFence(s)
			opened = i
		case fence.Closes(s):
			fence = words.Fence{}
		}
	}
	if fence.Mark != "" {
		return opened, line-opened <= maxBack
	}
	first = line
	for first > 0 && line-first < maxBack {
		b := t.bounds(first - 1)
		here := t.bounds(first)
		if b.start == b.end && !strings.HasPrefix(t.Text.Text[here.start:here.end], " ") {
			break
		}
		first--
	}
	return first, true
}

// blockParser parses Markdown without HTML, addresses in angle brackets and link references: those are text.
// References would take quadratic time.
func blockParser() parser.Parser {
	isText := func(v util.PrioritizedValue) bool {
		return v.Value == parser.NewHTMLBlockParser() || v.Value == parser.NewRawHTMLParser() || v.Value == parser.NewAutoLinkParser()
	}
	return parser.NewParser(
		parser.WithBlockParsers(slices.DeleteFunc(parser.DefaultBlockParsers(), isText)...),
		parser.WithInlineParsers(slices.DeleteFunc(parser.DefaultInlineParsers(), isText)...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// renderer makes blocks of the nodes of a parsed text.
type renderer struct {
	src  []byte
	mark span // in src
}

func (r renderer) children(n ast.Node) (out []Block) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, r.block(c))
	}
	return out
}

func (r renderer) block(n ast.Node) Block {
	switch n := n.(type) {
	case *ast.Heading:
		return Block{Kind: "heading", Level: n.Level, Spans: r.inline(n, Span{})}
	case *ast.FencedCodeBlock:
		return Block{Kind: "code", Language: visible(string(n.Language(r.src))), Spans: r.code(n)}
	case *ast.CodeBlock:
		return Block{Kind: "code", Spans: r.code(n)}
	case *ast.Blockquote:
		return Block{Kind: "quote", Blocks: r.children(n)}
	case *ast.List:
		return Block{Kind: "list", Ordered: n.IsOrdered(), Start: n.Start, Blocks: r.children(n)}
	case *ast.ListItem:
		return Block{Kind: "item", Blocks: r.children(n)}
	case *ast.ThematicBreak:
		return Block{Kind: "rule"}
	case *east.Table:
		return Block{Kind: "table", Table: r.table(n)}
	}
	return Block{Kind: "paragraph", Spans: r.inline(n, Span{})}
}

func (r renderer) table(n *east.Table) *Table {
	out := &Table{}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		row := Row{}
		for cell := c.FirstChild(); cell != nil; cell = cell.NextSibling() {
			spans := r.inline(cell, Span{})
			row.Cells = append(row.Cells, spans)
			row.Marked = row.Marked || slices.ContainsFunc(spans, func(s Span) bool { return s.Marked })
		}
		if _, head := c.(*east.TableHeader); !head {
			out.Rows = append(out.Rows, row)
			continue
		}
		for _, cell := range row.Cells {
			out.Columns = append(out.Columns, plain(cell))
		}
	}
	return out
}

// plain joins the texts of spans.
func plain(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (r renderer) code(n ast.Node) (out []Span) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		out = append(out, r.pieces(line.Start, line.Stop, Span{Code: true}, func(b []byte) []byte { return b })...)
	}
	return out
}

// inline returns the text below a node, in a style and those of the nodes between.
func (r renderer) inline(n ast.Node, style Span) (out []Span) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		below := style
		switch c := c.(type) {
		case *ast.Text:
			out = append(out, r.text(c, style)...)
			continue
		case *ast.String:
			style.Text = visible(string(c.Value))
			out = append(out, style)
			continue
		case *ast.CodeSpan:
			below.Code = true
		case *ast.Emphasis:
			below.Strong, below.Emphasis = below.Strong || c.Level == 2, below.Emphasis || c.Level == 1
		case *ast.Link:
			below.Address = address(c.Destination)
		}
		out = append(out, r.inline(c, below)...)
	}
	return out
}

func (r renderer) text(n *ast.Text, style Span) []Span {
	meant := func(b []byte) []byte { // as goldmark writes it
		return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	}
	if style.Code || n.IsRaw() {
		meant = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(" ")) }
	}
	out := r.pieces(n.Segment.Start, n.Segment.Stop, style, meant)
	switch {
	case n.HardLineBreak():
		return append(out, Span{Text: "\n"})
	case n.SoftLineBreak():
		end := n.Segment.Stop
		style.Text, style.Marked = " ", r.mark.start <= end && end < r.mark.end
		return append(out, style)
	}
	return out
}

// pieces cuts a part of the source at the edges of the mark.
func (r renderer) pieces(start, end int, style Span, meant func([]byte) []byte) (out []Span) {
	m := span{min(max(r.mark.start, start), end), min(max(r.mark.end, start), end)}
	for _, p := range []struct {
		span

		marked bool
	}{{span{start, m.start}, false}, {m, true}, {span{m.end, end}, false}} {
		if !p.empty() {
			s := style
			s.Marked = p.marked
			if s.Text = string(meant(r.src[p.start:p.end])); style.Code && strings.HasSuffix(s.Text, "\n") {
				s.Text = visible(strings.TrimRight(s.Text, "\r\n")) + "\n"
			} else {
				s.Text = visible(s.Text)
			}
			out = append(out, s)
		}
	}
	return out
}

// address returns the address of a link that a person may follow; "" for others.
func address(destination []byte) string {
	u, err := url.Parse(string(destination))
	if err != nil || len(destination) > maxAddress {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host != "" && u.User == nil {
			return visible(u.String())
		}
	case "mailto":
		return visible(u.String())
	}
	return ""
}
