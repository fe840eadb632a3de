package web

import (
	"fmt"

	"example.com/ragflow/graph"
)

// flow is a drawing of a graph: its nodes below each other, by rank, with x = 0 in their middle.
type flow struct {
	Height int
	Nodes  []flowNode
	Links  []flowLink
}

type flowNode struct {
	Name  string
	Y     int // of its middle
	State string
	End   bool // it is the start or the end
}

type flowLink struct {
	Path     string
	Label    string
	Optional bool
}

const (
	flowRow  = 56  // distance of two nodes
	flowHalf = 105 // half the width of a node
)

// draw lays out a graph. states are those of its nodes.
func draw(s graph.Shape, states map[string]string) *flow {
	names := append(append([]string{graph.Start}, s.Nodes...), graph.End)
	f := &flow{Height: len(names) * flowRow}
	row := map[string]int{}
	for i, name := range names {
		row[name] = i
		f.Nodes = append(f.Nodes, flowNode{name, i*flowRow + flowRow/2, states[name], i == 0 || i == len(names)-1})
	}
	for _, l := range s.Links {
		f.Links = append(f.Links, flowLink{line(row[l.From], row[l.To]), l.Label, l.Optional})
	}
	return f
}

// line is the path of a link between two rows: straight to the next one, to the left over rows, and to the right back.
func line(from, to int) string {
	y1, y2 := from*flowRow+flowRow/2, to*flowRow+flowRow/2
	if to == from+1 {
		return fmt.Sprintf("M0 %dV%d", y1+16, y2-18)
	}
	side := -1
	if to <= from {
		side = 1
	}
	edge := side * flowHalf
	bend := edge + side*(24+8*min(9, max(to-from, from-to)))
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", edge, y1, bend, y1, bend, y2, edge+side*3, y2)
}
