package web

import (
	"fmt"

	"example.com/ragflow/graph"
)

// flow is a drawing of a graph: its nodes below each other, by rank.
type flow struct {
	Width, Height int
	Nodes         []flowNode
	Links         []flowLink
}

type flowNode struct {
	Name  string
	X, Y  int // of its middle
	State string
	End   bool // it is the start or the end
}

type flowLink struct {
	Path     string
	Label    string
	X, Y     int // of the label
	Optional bool
}

const (
	flowRow  = 56  // distance of two nodes
	flowHalf = 105 // half the width of a node
	flowMid  = 230
)

// draw lays out a graph. states are those of its nodes.
func draw(s graph.Shape, states map[string]string) *flow {
	names := append(append([]string{graph.Start}, s.Nodes...), graph.End)
	f := &flow{Width: 2 * flowMid, Height: len(names) * flowRow}
	row := map[string]int{}
	for i, name := range names {
		row[name] = i
		f.Nodes = append(f.Nodes, flowNode{Name: name, X: flowMid, Y: i*flowRow + flowRow/2, State: states[name], End: i == 0 || i == len(names)-1})
	}
	for _, l := range s.Links {
		f.Links = append(f.Links, link(row[l.From], row[l.To], l))
	}
	return f
}

// link draws one link: straight to the next row, to the left over rows, and to the right back.
func link(from, to int, l graph.Link) flowLink {
	y1, y2 := from*flowRow+flowRow/2, to*flowRow+flowRow/2
	out := flowLink{Label: l.Label, Optional: l.Optional, Y: (y1 + y2) / 2}
	if to == from+1 {
		out.Path, out.X = fmt.Sprintf("M%d %dV%d", flowMid, y1+16, y2-18), flowMid+8
		return out
	}
	side := -1
	if to <= from {
		side = 1
	}
	edge := flowMid + side*flowHalf
	bend := edge + side*(24+8*min(9, max(to-from, from-to)))
	out.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", edge, y1, bend, y1, bend, y2, edge+side*3, y2)
	out.X = edge + side*(12+6*min(9, max(to-from, from-to)))
	return out
}
