package load

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// block is a piece of a document that is kept whole if it fits. The blocks of
// a document follow each other without gaps.
type block struct {
	start, end int
	kind       string   // text, code, table or list
	level      int      // of a heading, 0 for other blocks
	heading    string   // its text
	node       ast.Node // nil outside Markdown
	parts      []block  // what it may be split into; nil says: by lines or sentences
	path       []string // headings above it, set by sections
	depth      int      // level of the innermost of them
	apart      bool     // it begins a record, which has its own path and joins with nothing before
	inside     string   // of a part of a block of code, but the first: the line that opens the block
}

// Kinds of blocks and chunks.
const (
	kindText  = "text"
	kindCode  = "code"
	kindTable = "table"
	kindList  = "list"
	kindMixed = "mixed"
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
func markdownBlocks(s string, from int) (out []block) {
	if !written(s[from:]) || overBudget(s[from:]) {
		return plainBlocks(s, from)
	}
	defer func() {
		// Pages come from anywhere and the parser is not ours. A page that breaks
		// it is still text, and must not end the indexing of all others.
		if recover() != nil {
			out = plainBlocks(s, from)
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
func children(n ast.Node, src []byte, base, start, end int) []block {
	var out []block
	at := start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		pos := c.Pos()
		if pos < 0 {
			continue // belongs to the block before
		}
		from := base + bytes.LastIndexByte(src[:min(pos, len(src))], '\n') + 1
		if len(out) == 0 {
			from = start // what stands in front of the first block is part of it
		}
		if from < at || from > end || len(out) > 0 && from == at {
			continue // two blocks on one line, such as "- - a": the outer holds both
		}
		if len(out) > 0 {
			out[len(out)-1].end = from
		}
		out = append(out, newBlock(c, src, from))
		at = from
	}
	if len(out) == 0 {
		return nil
	}
	out[len(out)-1].end = end
	i := 0
	for c := n.FirstChild(); c != nil && i < len(out); c = c.NextSibling() {
		if out[i].node != c {
			continue
		}
		switch c.Kind() {
		case ast.KindList, ast.KindListItem, ast.KindBlockquote:
			out[i].parts = children(c, src, base, out[i].start, out[i].end)
		}
		i++
	}
	return out
}

func newBlock(n ast.Node, src []byte, start int) block {
	b := block{start: start, kind: kindText, node: n}
	switch n := n.(type) {
	case *ast.Heading:
		b.level = n.Level
		b.heading = headingText(n.Lines().Value(src))
	case *ast.List:
		b.kind = kindList
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.kind = kindCode
	case *extast.Table:
		b.kind = kindTable
	}
	return b
}

// headingText returns what a reader sees of a heading: no marks of emphasis,
// code or links, no attributes, no shortcodes.
func headingText(raw []byte) string {
	s := shortcodes(string(raw))
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

// shortcodes returns s without Hugo shortcodes.
func shortcodes(s string) string {
	for _, pair := range [][2]string{{"{{<", ">}}"}, {"{{%", "%}}"}, {"<!--", "-->"}} {
		for {
			i := strings.Index(s, pair[0])
			if i < 0 {
				break
			}
			j := strings.Index(s[i:], pair[1])
			if j < 0 {
				break
			}
			s = s[:i] + " " + s[i+j+len(pair[1]):]
		}
	}
	return s
}

// sections sets the path of each block and returns where sections begin: at
// headings down to the deepest level. Headings below it do not part what fits into
// one chunk, and a heading that only introduces a deeper one belongs to the
// latter's section.
func sections(blocks []block, deepest int) [][]block {
	var out [][]block
	var stack []block // headings above
	var path []string
	from, bare := 0, true
	for i := range blocks {
		b := &blocks[i]
		if b.apart {
			if i > from {
				out = append(out, blocks[from:i])
			}
			from, stack, path = i, nil, b.path
		}
		if b.level > 0 {
			if b.level <= deepest && !bare {
				out = append(out, blocks[from:i])
				from = i
			} else if b.level <= deepest && i > from && len(stack) > 0 && stack[len(stack)-1].level >= b.level {
				out = append(out, blocks[from:i]) // headings without text that b does not belong to
				from = i
			}
			for len(stack) > 0 && stack[len(stack)-1].level >= b.level {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, *b)
			path = headings(stack)
		}
		bare = b.level > 0 && (bare || i == from)
		b.path = path
		if len(stack) > 0 {
			b.depth = stack[len(stack)-1].level
		}
	}
	return append(out, blocks[from:])
}

func headings(stack []block) []string {
	var path []string
	for _, h := range stack {
		if h.heading != "" {
			path = append(path, h.heading)
		}
	}
	return slices.Clip(path)
}
