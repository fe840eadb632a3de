// Package draw draws compiled graphs: as a Mermaid flowchart or with the
// characters of a plain terminal.
//
//	fmt.Print(draw.ASCII(plan.Shape()))
package draw

import (
	"fmt"
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
