package graph

import (
	"slices"
	"strings"
)

// Shape is the structure of a compiled graph, for drawings.
type Shape struct {
	Name  string           // of the graph
	Nodes []string         // by rank
	Links []Link           // links from Start first, then by the rank of From
	Subs  map[string]Shape // the subgraphs by node; nil without any
}

// Link is an edge, a branch target, a pick target or an error handler.
type Link struct {
	From, To string // nodes, [Start] or [End]
	Label    string // the condition; may be empty
	Optional bool   // not always followed: a branch, a pick or an error handler
}

// Shape returns the shape of the plan. The caller owns it.
func (p *Plan[S, U]) Shape() Shape {
	s := Shape{Name: p.name, Nodes: p.Nodes()}
	name := func(node int) string {
		if node == endIndex {
			return End
		}
		return s.Nodes[node]
	}
	for i := -1; i < len(p.nodes); i++ {
		n := &p.start
		if i >= 0 {
			n = &p.nodes[i]
		}
		for _, to := range n.next {
			s.Links = append(s.Links, Link{From: n.name, To: name(to)})
		}
		for _, to := range n.to {
			s.Links = append(s.Links, Link{From: n.name, To: to.name, Label: to.label, Optional: true})
		}
		for _, b := range n.routes {
			for _, to := range b.to {
				s.Links = append(s.Links, Link{From: n.name, To: to.name, Label: to.label, Optional: true})
			}
		}
		if n.sub != nil {
			if s.Subs == nil {
				s.Subs = map[string]Shape{}
			}
			s.Subs[n.name] = n.sub.shape
		}
		if n.handler != noIndex {
			s.Links = append(s.Links, Link{From: n.name, To: name(n.handler), Label: "on error", Optional: true})
		}
	}
	return s
}

// has reports whether a shape has a node; "a/b" is the node b of the subgraph a.
func (s Shape) has(name string) bool {
	name, inner, nested := strings.Cut(name, "/")
	if nested {
		sub, ok := s.Subs[name]
		return ok && sub.has(inner)
	}
	return slices.Contains(s.Nodes, name)
}
