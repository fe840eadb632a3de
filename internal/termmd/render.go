package termmd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"example.com/ragflow/internal/sanitize"
)

// Options configure the rendering. The zero Options give plain text, 80 columns wide.
type Options struct {
	Width    int                // columns; 0 means 80, and values below 20 mean 20
	Style    bool               // use bold, colours and the like
	LongCode bool               // do not break long lines of code, so that they can be copied
	Cite     func(n int) string // replaces the reference [Source n]; nil keeps it
}

// minWidth is the minimum width of wrapped text.
const minWidth = 20

// Render returns the lines of a Markdown text, without a newline at the end.
func Render(markdown string, o Options) string {
	if o.Width <= 0 {
		o.Width = 80
	}
	source := []byte(strings.ToValidUTF8(markdown, "\ufffd"))
	parser := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	r := renderer{Options: o, source: source}
	return strings.Join(r.children(parser.Parse(text.NewReader(source)), max(o.Width, minWidth), false), "\n")
}

// Wrap breaks plain text into lines of at most width columns, between words.
func Wrap(plain string, width int) []string {
	return wrap(sanitize.Visible(plain), max(width, minWidth))
}

// wrap breaks a text between words, but not at the hyphens of ids and flags, which a
// private-use character replaces meanwhile.
func wrap(s string, width int) []string {
	const hyphen = "\ue02d"
	lines := strings.Split(ansi.Wrap(strings.ReplaceAll(strings.TrimSpace(s), "-", hyphen), width, ""), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, hyphen, "-"), " ")
	}
	return lines
}

type renderer struct {
	Options

	source []byte
}

// children renders the blocks in n, separated by an empty line unless tight.
func (r renderer) children(n ast.Node, width int, tight bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := r.block(c, max(width, minWidth/2))
		if len(lines) > 0 && len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// block renders one block to lines of at most width columns.
func (r renderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		mark := ""
		if !r.Style {
			mark = strings.Repeat("#", n.Level) + " "
		}
		return wrap(mark+r.inline(n, "1"), width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.code(n, width)
	case *ast.HTMLBlock:
		html := lines(n.Lines(), r.source)
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(r.source))
		}
		return Wrap(html, width)
	case *ast.Blockquote:
		bar := r.paint("│", "2") + " "
		return prefixed(r.children(n, width-2, false), bar, bar)
	case *ast.List:
		return r.list(n, width)
	case *ast.ThematicBreak:
		return []string{r.paint(strings.Repeat("─", min(width, 24)), "2")}
	case *east.Table:
		return r.table(n, width)
	}
	if first := n.FirstChild(); n.Type() == ast.TypeBlock && first != nil && first.Type() == ast.TypeBlock {
		return r.children(n, width, false)
	}
	return wrap(r.inline(n), width)
}

// list renders a list with hanging items.
func (r renderer) list(n *ast.List, width int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		indent := ansi.StringWidth(mark)
		body := r.children(item, width-indent, n.IsTight)
		if len(body) == 0 {
			body = []string{""}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, prefixed(body, mark, strings.Repeat(" ", indent))...)
	}
	return out
}

// code renders a code block as written, broken only if it is too wide.
func (r renderer) code(n ast.Node, width int) []string {
	const indent = "    "
	var out []string
	for line := range strings.Lines(lines(n.Lines(), r.source)) {
		line = sanitize.Visible(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", indent))
		if !r.LongCode {
			line = ansi.Hardwrap(line, width-len(indent), true)
		}
		for part := range strings.SplitSeq(line, "\n") {
			out = append(out, strings.TrimRight(indent+r.paint(part, "36"), " "))
		}
	}
	return out
}

// table renders a table in columns, or row by row if it is too wide.
func (r renderer) table(n *east.Table, width int) []string {
	var rows [][]string // the first is the header
	widths := make([]int, len(n.Alignments))
	total := 2 * (len(widths) - 1)
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells, style []string
		if len(rows) == 0 {
			style = []string{"1"}
		}
		for c := row.FirstChild(); c != nil && len(cells) < len(widths); c = c.NextSibling() {
			cell := strings.ReplaceAll(r.inline(c, style...), "\n", " ")
			if i, w := len(cells), ansi.StringWidth(cell); w > widths[i] {
				total += w - widths[i]
				widths[i] = w
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	var out []string
	for i, row := range rows {
		if total > width {
			if i > 1 {
				out = append(out, "")
			}
			for j, c := range row {
				if i > 0 && j < len(rows[0]) {
					out = append(out, wrap(rows[0][j]+": "+c, width)...)
				}
			}
			continue
		}
		var line, rule []string
		for j, c := range row {
			space := strings.Repeat(" ", widths[j]-ansi.StringWidth(c))
			if n.Alignments[j] == east.AlignRight {
				c, space = space+c, ""
			}
			line, rule = append(line, c+space), append(rule, r.paint(strings.Repeat("─", widths[j]), "2"))
		}
		out = append(out, strings.TrimRight(strings.Join(line, "  "), " "))
		if i == 0 {
			out = append(out, strings.Join(rule, "  "))
		}
	}
	return out
}

// inline returns the text of a block in styles, which are SGR codes. Pieces of text that the
// parser split are joined first, so that references are complete.
func (r renderer) inline(n ast.Node, styles ...string) string {
	var out, plain strings.Builder
	flush := func() {
		out.WriteString(r.cite(plain.String(), styles))
		plain.Reset()
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			plain.WriteString(r.text(t))
			continue
		}
		flush()
		out.WriteString(r.span(c, styles))
	}
	flush()
	return out.String()
}

func (r renderer) text(n *ast.Text) string {
	value := n.Segment.Value(r.source)
	if !n.IsRaw() {
		value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
	}
	t := strings.ReplaceAll(sanitize.Visible(string(value)), "\n", " ")
	switch {
	case n.HardLineBreak():
		t += "\n"
	case n.SoftLineBreak():
		t += " "
	}
	return t
}

// span renders a node within a line.
func (r renderer) span(n ast.Node, styles []string) string {
	with := func(code string) []string { return append(slices.Clip(styles), code) }
	switch n := n.(type) {
	case *ast.String:
		return r.paint(sanitize.Visible(string(n.Value)), styles...)
	case *ast.CodeSpan:
		if r.Style {
			return renderer{Options{Style: true}, r.source}.inline(n, with("36")...)
		}
		return "`" + renderer{source: r.source}.inline(n) + "`"
	case *ast.Emphasis:
		return r.inline(n, with([]string{"3", "1"}[min(n.Level, 2)-1])...)
	case *ast.Link:
		return r.link(r.inline(n, styles...), string(n.Destination))
	case *ast.Image:
		return r.link("[image: "+r.inline(n, styles...)+"]", string(n.Destination))
	case *ast.AutoLink:
		return r.asCode(sanitize.Visible(string(n.Label(r.source))))
	case *ast.RawHTML:
		return r.paint(sanitize.Visible(lines(n.Segments, r.source)), styles...)
	}
	return r.inline(n, styles...)
}

// link appends the address of a link to its text, unless they are equal.
func (r renderer) link(label, address string) string {
	if address = strings.ReplaceAll(sanitize.Visible(address), "\n", " "); address == "" || ansi.Strip(label) == address {
		return label
	}
	return label + " (" + r.asCode(address) + ")"
}

// asCode renders an address, which is never clickable.
func (r renderer) asCode(address string) string {
	if r.Style {
		return r.paint(address, "36")
	}
	return "`" + address + "`"
}

var reference = regexp.MustCompile(`\[Source (\d{1,3})\]`)

// cite paints a text and replaces the references in it.
func (r renderer) cite(text string, styles []string) string {
	var b strings.Builder
	for m := reference.FindStringSubmatchIndex(text); m != nil && r.Cite != nil; m = reference.FindStringSubmatchIndex(text) {
		number, _ := strconv.Atoi(text[m[2]:m[3]]) // three digits at most
		b.WriteString(r.paint(text[:m[0]], styles...) + r.Cite(number))
		text = text[m[1]:]
	}
	return b.String() + r.paint(text, styles...)
}

var word = regexp.MustCompile(`\S+`)

// paint writes each word of a text in styles.
func (r renderer) paint(text string, styles ...string) string {
	if !r.Style || len(styles) == 0 {
		return text
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		return "\x1b[" + strings.Join(styles, ";") + "m" + w + "\x1b[0m"
	})
}

func lines(segments *text.Segments, source []byte) string { return string(segments.Value(source)) }

// prefixed prepends first to the first line and rest to the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(first+l, " ")
		first = rest
	}
	return out
}
