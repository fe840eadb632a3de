package termmd

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// format is how a span looks.
type format struct{ bold, italic, dim, code, struck bool }

// span is text of one format. A newline in it breaks the line.
type span struct {
	text   string
	format format
	raw    string // written instead of text, as it is; text then only has its width
}

// inline returns what stands in a block as spans.
func (r renderer) inline(n ast.Node, f format) []span {
	var out []span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, r.inlineNode(c, f)...)
	}
	return out
}

func (r renderer) inlineNode(n ast.Node, f format) []span {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(r.source)
		if !n.IsRaw() {
			value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
		}
		t := harmless(strings.ReplaceAll(string(value), "\n", " "))
		switch {
		case n.HardLineBreak():
			t += "\n"
		case n.SoftLineBreak():
			t += " "
		}
		return []span{{text: t, format: f}}
	case *ast.String:
		return []span{{text: harmless(string(n.Value)), format: f}}
	case *ast.CodeSpan:
		f.code = true
		inner := r.inline(n, f)
		if r.Style {
			return inner
		}
		return append(append([]span{{text: "`", format: f}}, inner...), span{text: "`", format: f})
	case *ast.Emphasis:
		f.bold, f.italic = f.bold || n.Level > 1, f.italic || n.Level == 1
		return r.inline(n, f)
	case *east.Strikethrough:
		f.struck = true
		return r.inline(n, f)
	case *ast.Link:
		return r.link(r.inline(n, f), string(n.Destination))
	case *ast.Image:
		label := append([]span{{text: "[image: ", format: f}}, r.inline(n, f)...)
		return r.link(append(label, span{text: "]", format: f}), string(n.Destination))
	case *ast.AutoLink:
		return []span{{text: harmless(string(n.Label(r.source))), format: f}}
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.Write(segment.Value(r.source))
		}
		return []span{{text: harmless(b.String()), format: f}}
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []span{{text: "[x] ", format: f}}
		}
		return []span{{text: "[ ] ", format: f}}
	}
	return r.inline(n, f)
}

// link puts where a link leads behind its text, unless the text says it.
func (renderer) link(label []span, destination string) []span {
	var b strings.Builder
	for _, s := range label {
		b.WriteString(s.text)
	}
	destination = harmless(strings.ReplaceAll(destination, "\n", " "))
	if destination == "" || b.String() == destination {
		return label
	}
	return append(label, span{text: " (" + destination + ")", format: format{dim: true}})
}

var reference = regexp.MustCompile(`\[Source (\d{1,3})\]`)

// cited replaces references by what Options.Cite writes for them. Text of one
// format that the parser gave in pieces is put together first.
func (r renderer) cited(spans []span) []span {
	var joined []span
	for _, s := range spans {
		if n := len(joined); n > 0 && joined[n-1].format == s.format {
			joined[n-1].text += s.text
			continue
		}
		joined = append(joined, s)
	}
	if r.Cite == nil {
		return joined
	}
	var out []span
	for _, s := range joined {
		if s.format.code {
			out = append(out, s)
			continue
		}
		rest := s.text
		for {
			m := reference.FindStringSubmatchIndex(rest)
			if m == nil {
				break
			}
			number, err := strconv.Atoi(rest[m[2]:m[3]])
			if err != nil { // three digits at most
				break
			}
			raw, width := r.Cite(number)
			out = append(out, span{text: rest[:m[0]], format: s.format}, span{text: strings.Repeat("x", width), raw: raw})
			rest = rest[m[1]:]
		}
		out = append(out, span{text: rest, format: s.format})
	}
	return out
}

// wrap breaks spans into lines of at most width columns, between words.
func (r renderer) wrap(spans []span, width int) []string {
	w := wrapper{r: r, width: width}
	for _, s := range r.cited(spans) {
		if s.raw != "" {
			w.word = append(w.word, s)
			w.wordWidth += len(s.text)
			continue
		}
		for s.text != "" {
			i := strings.IndexAny(s.text, " \n\t")
			if i < 0 {
				w.add(s.text, s.format)
				break
			}
			w.add(s.text[:i], s.format)
			w.space(s.format)
			if s.text[i] == '\n' {
				w.newline()
			}
			s.text = s.text[i+1:]
		}
	}
	w.flush()
	w.newline()
	for len(w.lines) > 0 && w.lines[len(w.lines)-1] == "" {
		w.lines = w.lines[:len(w.lines)-1]
	}
	return w.lines
}

// wrapper fills lines with words.
type wrapper struct {
	r         renderer
	width     int
	lines     []string
	line      []span
	lineWidth int
	gap       *format // a space is due before the next word, in this format
	word      []span
	wordWidth int
}

func (w *wrapper) add(text string, f format) {
	if text != "" {
		w.word = append(w.word, span{text: text, format: f})
		w.wordWidth += widthOf(text)
	}
}

// space ends a word.
func (w *wrapper) space(f format) {
	w.flush()
	if w.lineWidth > 0 {
		w.gap = &f
	}
}

// flush puts the word into the line, or into the next one where it does not
// fit. A word wider than a line is broken.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	gap := 0
	if w.gap != nil {
		gap = 1
	}
	if w.lineWidth > 0 && w.lineWidth+gap+w.wordWidth > w.width {
		w.newline()
	}
	if w.gap != nil {
		w.line = append(w.line, span{text: " ", format: *w.gap})
		w.lineWidth++
		w.gap = nil
	}
	for _, s := range w.word {
		fits := w.lineWidth+widthOf(s.text) <= w.width
		if s.raw != "" && !fits && w.lineWidth > 0 {
			w.newline() // a reference is never broken
		}
		if s.raw != "" || fits {
			w.line = append(w.line, s)
			w.lineWidth += widthOf(s.text)
			continue
		}
		for i, part := range chop(s.text, w.width) {
			if i > 0 || w.lineWidth > 0 && w.lineWidth+widthOf(part) > w.width {
				w.newline()
			}
			w.line = append(w.line, span{text: part, format: s.format})
			w.lineWidth += widthOf(part)
		}
	}
	w.word, w.wordWidth = nil, 0
}

func (w *wrapper) newline() {
	var b strings.Builder
	for i := 0; i < len(w.line); {
		s := w.line[i]
		i++
		if s.raw != "" {
			b.WriteString(s.raw)
			continue
		}
		var run strings.Builder
		run.WriteString(s.text)
		for i < len(w.line) && w.line[i].raw == "" && w.line[i].format == s.format {
			run.WriteString(w.line[i].text)
			i++
		}
		b.WriteString(w.r.sgr(run.String(), s.format))
	}
	w.lines = append(w.lines, b.String())
	w.line, w.lineWidth, w.gap = nil, 0, nil
}

// sgr writes text in a format.
func (r renderer) sgr(text string, f format) string {
	if !r.Style || text == "" || f == (format{}) {
		return text
	}
	var codes []string
	for _, c := range []struct {
		on   bool
		code string
	}{{f.bold, "1"}, {f.dim, "2"}, {f.italic, "3"}, {f.struck, "9"}, {f.code, "36"}} {
		if c.on {
			codes = append(codes, c.code)
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + text + "\x1b[0m"
}

// chop breaks a text into pieces of at most width columns.
func chop(text string, width int) []string {
	width = max(width, 2)
	var out []string
	start, column, state := 0, 0, -1
	for i := 0; i < len(text); {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(text[i:], state)
		if column+w > width && i > start {
			out = append(out, text[start:i])
			start, column = i, 0
		}
		i, column, state = i+len(cluster), column+w, next
	}
	return append(out, text[start:])
}

func widthOf(s string) int { return uniseg.StringWidth(s) }

// harmless drops what could command a terminal or reorder what it shows. Of
// control characters newline and tab stay.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			return -1
		}
		return r
	}, s)
}
