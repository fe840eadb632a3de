// Package draw draws compiled graphs: as a Mermaid flowchart, with the
// characters of a plain terminal, or as an SVG picture.
//
//	fmt.Print(draw.ASCII(plan.Shape()))
package draw

import (
	"fmt"
	"html"
	"strings"

	"example.com/ragflow/graph"
)

// Mermaid draws a graph as a Mermaid flowchart, with its subgraphs inside. Branches are dotted and
// carry their labels.
func Mermaid(s graph.Shape) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	mermaid(&b, s, "", "    ")
	return b.String()
}

// mermaid draws one graph. Its identifiers begin with prefix.
func mermaid(b *strings.Builder, s graph.Shape, prefix, indent string) {
	ids := map[string]string{graph.Start: prefix + "start", graph.End: prefix + "stop"}
	fmt.Fprintf(b, "%s%s([Start])\n", indent, ids[graph.Start])
	for i, name := range s.Nodes {
		ids[name] = fmt.Sprintf("%sn%d", prefix, i+1)
		if inner, ok := s.Subs[name]; ok {
			fmt.Fprintf(b, "%ssubgraph %s[%s]\n", indent, ids[name], mermaidText(name))
			mermaid(b, inner, ids[name]+"_", indent+"    ")
			fmt.Fprintf(b, "%send\n", indent)
			continue
		}
		fmt.Fprintf(b, "%s%s[%s]\n", indent, ids[name], mermaidText(name))
	}
	fmt.Fprintf(b, "%s%s([End])\n", indent, ids[graph.End])
	for _, l := range s.Links {
		arrow := "-->"
		if l.Optional {
			arrow = "-.->"
		}
		if l.Label != "" {
			arrow += "|" + mermaidText(l.Label) + "|"
		}
		fmt.Fprintf(b, "%s%s %s %s\n", indent, ids[l.From], arrow, ids[l.To])
	}
}

// mermaidText quotes a text; inside quotes only these characters are special.
func mermaidText(s string) string {
	return `"` + strings.NewReplacer(`#`, "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(s) + `"`
}

// ASCII draws a graph with the characters of a plain terminal: nodes by rank
// from top to bottom, links back at the left, links that skip nodes at the
// right. Names and labels are not escaped.
func ASCII(s graph.Shape) string {
	d := newLayout(s)
	c := newCanvas(d.width, d.height)
	for _, w := range d.wires {
		c.wire(w)
	}
	for _, b := range d.boxes {
		c.box(b)
	}
	for _, w := range d.wires {
		if w.label != "" {
			c.text(w.labelAt, " "+w.label+" ", -1)
		}
	}
	return c.String()
}

// canvas is a grid of characters. The second cell of a wide one holds 0.
type canvas [][]rune

func newCanvas(width, height int) canvas {
	c := make(canvas, height)
	for y := range c {
		c[y] = []rune(strings.Repeat(" ", width+1))
	}
	return c
}

func (c canvas) box(b box) {
	line := "+" + strings.Repeat("-", b.w-2) + "+"
	if b.round {
		line = "." + strings.Repeat("-", b.w-2) + "."
	}
	c.text(point{b.x, b.y}, line, 0)
	for y := b.y + 1; y < b.y+b.h-1; y++ {
		c[y][b.x], c[y][b.x+b.w-1] = '|', '|'
	}
	if b.round {
		line = "'" + line[1:len(line)-1] + "'"
	}
	c.text(point{b.x, b.y + b.h - 1}, line, 0)
	c.text(point{b.x + (b.w-columns(b.name))/2, b.y + b.h/2}, b.name, 0)
}

// wire draws horizontal parts first and vertical parts last: where two wires
// cross, the vertical one is visible.
func (c canvas) wire(w wire) {
	for i := 1; i < len(w.points); i++ {
		a, b := w.points[i-1], w.points[i]
		for x := min(a.x, b.x); a.y == b.y && x <= max(a.x, b.x); x++ {
			if c[a.y][x] == ' ' {
				c[a.y][x] = '-'
			}
		}
		for y := min(a.y, b.y); a.x == b.x && y <= max(a.y, b.y); y++ {
			if c[y][a.x] != '+' {
				c[y][a.x] = '|'
			}
		}
	}
	for _, p := range w.points[1 : len(w.points)-1] {
		c[p.y][p.x] = '+'
	}
	end := w.points[len(w.points)-1]
	switch {
	case len(w.points) == 2:
		c[end.y][end.x] = 'v'
	case w.back:
		c[end.y][end.x] = '>'
	default:
		c[end.y][end.x] = '<'
	}
}

func (c canvas) text(at point, s string, shift int) {
	x := at.x + shift
	for _, r := range s {
		c[at.y][x] = r
		if runeColumns(r) == 2 {
			c[at.y][x+1] = 0
		}
		x += runeColumns(r)
	}
}

func (c canvas) String() string {
	var b strings.Builder
	for _, row := range c {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Pixels of one cell, and the margin around the drawing.
const (
	cellW, cellH = 8.4, 20.0
	svgMargin    = 16.0
)

// SVG draws a graph as a self-contained picture that follows the light or dark
// color scheme of the viewer. It shows the same as [ASCII].
func SVG(s graph.Shape) string {
	d := newLayout(s)
	px := func(at point) (x, y float64) {
		return svgMargin + (float64(at.x)+0.5)*cellW, svgMargin + (float64(at.y)+0.5)*cellH
	}
	var b strings.Builder
	w, h := float64(d.width)*cellW+2*svgMargin, float64(d.height)*cellH+2*svgMargin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">
<title>%s</title>
%s`, w, h, w, h, html.EscapeString(s.Name), svgStyle)
	for _, wire := range d.wires {
		b.WriteString(`<path class="wire`)
		if wire.branched {
			b.WriteString(" branch")
		}
		b.WriteString(`" marker-end="url(#head)" d="`)
		for i, at := range wire.ends() {
			x, y := px(at)
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
		}
		b.WriteString("\"/>\n")
	}
	for _, box := range d.boxes {
		x, y := px(point{box.x, box.y})
		bw, bh := float64(box.w-1)*cellW, float64(box.h-1)*cellH
		radius := 6.0
		if box.round {
			radius = bh / 2
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, x, y, bw, bh, radius)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" class=\"node\">%s</text>\n", x+bw/2, y+bh/2, html.EscapeString(box.name))
	}
	for _, wire := range d.wires {
		if wire.label == "" {
			continue
		}
		x, y := px(wire.labelAt)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x-cellW/2, y, html.EscapeString(wire.label))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// ends returns the points of the wire with both ends extended to the borders of
// the boxes.
func (w wire) ends() []point {
	p := append([]point(nil), w.points...)
	last := len(p) - 1
	if last == 1 {
		p[0].y, p[1].y = p[0].y-1, p[1].y+1
		return p
	}
	dx := -1
	if w.back {
		dx = 1
	}
	p[0].x, p[last].x = p[0].x+dx, p[last].x+dx
	return p
}

const svgStyle = `<style>
svg { background: #ffffff }
text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #1f2937; dominant-baseline: central;
  paint-order: stroke; stroke: #ffffff; stroke-width: 6px }
text.node { text-anchor: middle; stroke: none }
rect { fill: #f3f4f6; stroke: #1f2937; stroke-width: 1.5 }
.wire { fill: none; stroke: #6b7280; stroke-width: 1.5; stroke-linejoin: round }
.branch { stroke-dasharray: 5 4 }
marker path { fill: #6b7280 }
@media (prefers-color-scheme: dark) {
  svg { background: #111827 }
  text { fill: #e5e7eb; stroke: #111827 }
  rect { fill: #1f2937; stroke: #e5e7eb }
  .wire { stroke: #9ca3af }
  marker path { fill: #9ca3af }
}
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>
`
