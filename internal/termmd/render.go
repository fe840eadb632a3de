package termmd

import (
	"math"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Options say how Markdown is rendered. The zero Options give plain text, 80
// columns wide.
type Options struct {
	Width int  // columns; 0 is 80, and less than 20 is taken for 20
	Style bool // use bold, colours and the like
	// LongCode leaves lines of code whole where they are wider than Width, so
	// that they can be copied from terminals, which break them by themselves.
	LongCode bool
	// Cite writes the reference [Source n]. What it returns goes to the terminal
	// as it is and counts as wide as its visible text is said to be. Nil leaves
	// references as they are written.
	Cite func(n int) (out string, width int)
}

// narrowest is the least width that text is wrapped to.
const narrowest = 20

// Render returns the lines of a Markdown text, without a newline at the end.
func Render(markdown string, o Options) string {
	if o.Width <= 0 {
		o.Width = 80
	}
	o.Width = max(o.Width, narrowest)
	source := []byte(strings.ToValidUTF8(markdown, "\ufffd"))
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
	r := renderer{Options: o, source: source}
	return strings.Join(r.children(parser.Parse(text.NewReader(source)), o.Width, false), "\n")
}

// Wrap breaks plain text into lines of at most width columns, between words.
// Newlines in it break lines too.
func Wrap(plain string, width int) []string {
	return renderer{}.wrap([]span{{text: harmless(plain)}}, max(width, narrowest))
}

type renderer struct {
	Options
	source []byte
}

// children renders the blocks in n, with an empty line between each two unless
// tight.
func (r renderer) children(n ast.Node, width int, tight bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := r.block(c, width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// block renders one block to lines of at most width columns.
func (r renderer) block(n ast.Node, width int) []string {
	width = max(width, narrowest/2)
	switch n := n.(type) {
	case *ast.Heading:
		mark := ""
		if !r.Style {
			mark = strings.Repeat("#", n.Level) + " "
		}
		return r.wrap(append([]span{{text: mark}}, r.inline(n, format{bold: true})...), width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.code(n, width)
	case *ast.HTMLBlock:
		return r.html(n, width)
	case *ast.Blockquote:
		return prefixed(r.children(n, width-2, false), r.sgr("│ ", format{dim: true}), r.sgr("│ ", format{dim: true}))
	case *ast.List:
		return r.list(n, width)
	case *ast.ThematicBreak:
		return []string{r.sgr(strings.Repeat("─", min(width, 24)), format{dim: true})}
	case *east.Table:
		return r.table(n, width)
	}
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
		return r.children(n, width, false)
	}
	return r.wrap(r.inline(n, format{}), width)
}

// list renders a list, its items hanging behind their marks.
func (r renderer) list(n *ast.List, width int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		indent := widthOf(mark)
		lines := r.children(item, width-indent, n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, prefixed(lines, mark, strings.Repeat(" ", indent))...)
	}
	return out
}

// codeIndent stands before lines of code.
const codeIndent = "    "

// code renders a code block: as written, broken only where it is too wide.
func (r renderer) code(n ast.Node, width int) []string {
	var out []string
	segments := n.Lines()
	for i := range segments.Len() {
		segment := segments.At(i)
		line := strings.ReplaceAll(strings.TrimRight(string(segment.Value(r.source)), "\r\n"), "\t", "    ")
		room := width - len(codeIndent)
		if r.LongCode {
			room = math.MaxInt32
		}
		for _, part := range chop(harmless(line), room) {
			out = append(out, strings.TrimRight(codeIndent+r.sgr(part, format{code: true}), " "))
		}
	}
	return out
}

// html shows a block of HTML as it is written.
func (r renderer) html(n *ast.HTMLBlock, width int) []string {
	var b strings.Builder
	segments := n.Lines()
	for i := range segments.Len() {
		segment := segments.At(i)
		b.Write(segment.Value(r.source))
	}
	if n.HasClosure() {
		b.Write(n.ClosureLine.Value(r.source))
	}
	return r.wrap([]span{{text: harmless(b.String())}}, width)
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(rest+l, " ")
		if i == 0 {
			out[i] = strings.TrimRight(first+l, " ")
		}
	}
	return out
}
