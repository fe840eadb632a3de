// Package markup finds the blocks of a text: headings, paragraphs, lists, tables and code.
//
// [Markdown] reads Markdown (markdown.go): Goldmark finds the blocks, nothing is rendered, and HTML is text like any
// other. [Plain] reads text files and their underlined titles (plain.go).
package markup

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"example.com/ragflow/internal/document"
)

const (
	// maxLine is the longest line, in bytes, of something a person wrote as
	// Markdown. Beyond it is data, whose blocks mean nothing and cost much.
	maxLine = 64 << 10
	// maxMarks is how many block markers a line may begin with, and maxIndent how
	// far a list item may be indented. Each opens a level that the parser visits
	// again for every later line.
	maxMarks  = 64
	maxIndent = 200

	// MaxLines is how many lines a text may have; the parser keeps a record of each.
	MaxLines = 300_000
)

// Markdown returns the blocks of a text from body on. Of a text that is no Markdown page it returns those that loaders
// write: in other documents markup is a coincidence. why says that the text is read as plain text, without blocks.
func Markdown(s string, body int, page bool) (blocks []document.Block, why string) {
	parsers := parser.DefaultBlockParsers()
	if !page {
		parsers = []util.PrioritizedValue{
			util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400), util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700), util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000),
		}
	}
	if why := PlainReason(s[body:]); why != "" {
		return nil, why
	}
	src := []byte(s[body:])
	return children(blockParser(parsers).Parse(text.NewReader(src)), src, body, body, len(s)), ""
}

// PlainReason says why a Markdown text is read as plain text: it is generated, or may have too many blocks;
// "" if it is read as Markdown.
func PlainReason(s string) string {
	blocks, lines, blank := 0, 0, true
	for line := range strings.Lines(s) {
		if lines++; len(line) > maxLine || lines > MaxLines {
			return fmt.Sprintf("it has a line of more than %d KiB, or more than %d lines", maxLine>>10, MaxLines)
		}
		rest := strings.TrimLeft(line, " \t")
		if document.IsBlank(rest) {
			blank = true
			continue
		}
		marks := 0
		if strings.IndexByte(">-*+0123456789", rest[0]) >= 0 {
			lead := rest[:len(rest)-len(strings.TrimLeft(rest, ">-*+ \t.)0123456789"))]
			marks = len(lead) - len(listMarks.Replace(lead))
		}
		isRule := strings.Trim(rest, "-*+ \t\r\n") == ""
		if !isRule && marks > 0 && (marks > maxMarks || len(line)-len(rest) > maxIndent) {
			return "its lists and quotes are nested too deeply"
		}
		if blank || marks > 0 || rest[0] == '#' {
			blocks += 1 + 2*min(marks, maxMarks)
		}
		if blocks += strings.Count(rest, "|"); blocks > document.MaxBlocks {
			return fmt.Sprintf("it has more than %d paragraphs, list items and table cells", document.MaxBlocks)
		}
		blank = false
	}
	return ""
}

//nolint:gochecknoglobals // a constant table
var listMarks = strings.NewReplacer(">", "", "-", "", "*", "", "+", "", ".", "", ")", "")

// blockParser parses blocks and tables, without the content of lines and without link references, which are
// not blocks and take quadratic time.
func blockParser(blocks []util.PrioritizedValue) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	)
}

// children returns the blocks below a node, which together are s[start:end]. Positions in the tree count from
// base.
func children(n ast.Node, src []byte, base, start, end int) []document.Block {
	var out []document.Block
	var nodes []ast.Node
	at := start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		pos := c.Pos()
		if pos < 0 {
			continue // belongs to the previous block
		}
		from := base + bytes.LastIndexByte(src[:min(pos, len(src))], '\n') + 1
		if len(out) == 0 {
			from = start // text before the first block is part of it
		}
		if from < at || from > end || len(out) > 0 && from == at {
			continue // two blocks on one line, such as "- - a": the outer one includes the inner one
		}
		if len(out) > 0 {
			out[len(out)-1].End = from
		}
		out, nodes = append(out, newBlock(c, src, from)), append(nodes, c)
		at = from
	}
	if len(out) == 0 {
		return nil
	}
	out[len(out)-1].End = end
	for i, c := range nodes {
		switch c.Kind() {
		case ast.KindList, ast.KindListItem, ast.KindBlockquote:
			out[i].Parts = children(c, src, base, out[i].Start, out[i].End)
		}
	}
	return out
}

func newBlock(n ast.Node, src []byte, start int) document.Block {
	b := document.Block{Start: start, Kind: document.KindText}
	switch n := n.(type) {
	case *ast.Heading:
		b.Level = n.Level
		b.Heading = headingText(n.Lines().Value(src))
	case *ast.List:
		b.Kind = document.KindList
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.Kind = document.KindCode
	case *extast.Table:
		b.Kind = document.KindTable
	}
	return b
}

// headingText returns the visible text of a heading, without marks of emphasis, code or links, attributes and
// shortcodes.
func headingText(raw []byte) string {
	s := document.WithoutShortcodes(string(raw))
	if i := strings.LastIndex(s, "{#"); i >= 0 && strings.HasSuffix(strings.TrimSpace(s), "}") {
		s = s[:i]
	}
	if strings.ContainsAny(s, "`*_[<&\\") {
		src := []byte(strings.TrimSpace(s))
		s = visible(goldmark.DefaultParser().Parse(text.NewReader(src)), src)
	}
	return strings.Join(strings.Fields(s), " ")
}

// visible joins the text below a node.
func visible(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(n.Value(src)))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
