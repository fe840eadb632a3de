package load

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"example.com/ragflow/ingest/document"
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
)

// markdownBlocks returns the blocks of s[from:].
func markdownBlocks(s string, from int) (out []document.Block) {
	if !written(s[from:]) || overBudget(s[from:]) {
		return document.Paragraphs(s, from)
	}
	defer func() {
		// Pages come from anywhere and the parser is not ours. A page that breaks
		// it is still text, and must not end the indexing of all others.
		if recover() != nil {
			out = document.Paragraphs(s, from)
		}
	}()
	src := []byte(s[from:])
	root := blockParser().Parse(text.NewReader(src))
	return children(root, src, from, from, len(s))
}

// written reports whether Markdown may have been written by a person.
func written(s string) bool {
	for line := range strings.Lines(s) {
		if len(line) > maxLine {
			return false
		}
		rest := strings.TrimLeft(line, " \t")
		if rest == "" || !strings.ContainsRune(">-*+0123456789", rune(rest[0])) {
			continue
		}
		body := strings.TrimLeft(rest, ">-*+ \t.)0123456789")
		marks := 0
		for _, c := range []byte(rest[:len(rest)-len(body)]) {
			if c == '>' || c == '-' || c == '*' || c == '+' || c == '.' || c == ')' {
				marks++
			}
		}
		isRule := marks > 0 && strings.Trim(rest, "-*+ \t\r\n") == ""
		if !isRule && (marks > maxMarks || len(line)-len(rest) > maxIndent) {
			return false
		}
	}
	return true
}

// blockParser parses blocks and tables. What is in a line is left alone, and so
// are link references: they say nothing about blocks, and finding them takes
// quadratic time.
func blockParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	)
}

// children returns the blocks below a node, which together are s[start:end].
// Positions in the tree count from base.
func children(n ast.Node, src []byte, base, start, end int) []document.Block {
	var out []document.Block
	var nodes []ast.Node
	at := start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		pos := c.Pos()
		if pos < 0 {
			continue // belongs to the block before
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

// headingText returns what a reader sees of a heading: no marks of emphasis,
// code or links, no attributes, no shortcodes.
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
