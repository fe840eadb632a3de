package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Plan is a compiled graph: checked, with names turned into indices. It never
// changes and may be used from several goroutines.
type Plan[S, U any] struct {
	name        string
	apply       func(S, U) (S, error)
	nodes       []planNode[S, U] // by rank: a node's index is its rank
	first       []int            // what follows Start
	fingerprint string
}

// planNode is a node with what may follow it: either next, or one of to.
type planNode[S, U any] struct {
	name  string
	run   Node[S, U]
	next  []int // static successors, by rank
	route func(S) string
	to    []target // what route may name
}

type target struct {
	name  string
	index int
	label string
}

// endIndex stands for End where indices of nodes are listed.
const endIndex = -1

// Compile checks a graph and prepares it for running. The error joins every
// fault found, each with the names it is about.
func Compile[S, U any](g Graph[S, U]) (*Plan[S, U], error) {
	if err := check(g); err != nil {
		return nil, fmt.Errorf("compile graph %q: %w", g.Name, err)
	}
	index := map[string]int{End: endIndex}
	for i, name := range g.Order {
		index[name] = i
	}
	p := &Plan[S, U]{
		name:        g.Name,
		apply:       g.Apply,
		nodes:       make([]planNode[S, U], len(g.Order)),
		fingerprint: fingerprint(g),
	}
	for i, name := range g.Order {
		p.nodes[i] = planNode[S, U]{name: name, run: g.Nodes[name].Run}
	}
	for _, e := range g.Edges {
		if e.From == Start {
			p.first = append(p.first, index[e.To])
			continue
		}
		n := &p.nodes[index[e.From]]
		n.next = append(n.next, index[e.To])
	}
	for _, b := range g.Branches {
		n := &p.nodes[index[b.From]]
		n.route = b.Route
		for _, to := range b.To {
			n.to = append(n.to, target{name: to, index: index[to], label: printable(b.Label[to])})
		}
	}
	slices.Sort(p.first)
	for i := range p.nodes {
		slices.Sort(p.nodes[i].next)
	}
	return p, nil
}

// Name returns the graph's name.
func (p *Plan[S, U]) Name() string { return p.name }

// Nodes returns the names of the nodes by rank, in a slice of the caller's own.
func (p *Plan[S, U]) Nodes() []string {
	names := make([]string, len(p.nodes))
	for i := range p.nodes {
		names[i] = p.nodes[i].name
	}
	return names
}

// Fingerprint identifies the shape of the graph: name, version, order, edges
// and branches with their targets. An unfinished run is resumed only by a graph
// with the fingerprint of the one that began it.
func (p *Plan[S, U]) Fingerprint() string { return p.fingerprint }

func fingerprint[S, U any](g Graph[S, U]) string {
	edges := slices.SortedFunc(slices.Values(g.Edges), compareEdges)
	branches := make(map[string][]string, len(g.Branches)) // json writes the keys in order
	for _, b := range g.Branches {
		branches[b.From] = slices.Sorted(slices.Values(b.To))
	}
	shape, err := json.Marshal([]any{"graph/1", g.Name, g.Version, g.Order, edges, branches})
	if err != nil {
		panic("graph: fingerprint of plain strings: " + err.Error()) // unreachable
	}
	sum := sha256.Sum256(shape)
	return hex.EncodeToString(sum[:16])
}

func compareEdges(a, b Edge) int {
	if c := strings.Compare(a.From, b.From); c != 0 {
		return c
	}
	return strings.Compare(a.To, b.To)
}

// names turns a frontier into the names that are saved and told.
func (p *Plan[S, U]) names(frontier []int) []string {
	if len(frontier) == 0 {
		return nil
	}
	out := make([]string, len(frontier))
	for i, n := range frontier {
		out[i] = p.nodes[n].name
	}
	return out
}

// frontier is the way back; a name this plan does not have is an error.
func (p *Plan[S, U]) frontier(names []string) ([]int, error) {
	out := make([]int, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(p.nodes, func(n planNode[S, U]) bool { return n.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: it has no node %q", ErrGraphChanged, name)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out, nil
}

// successors appends what follows a node, given the state after its step.
func (n *planNode[S, U]) successors(next []int, s S) ([]int, error) {
	if n.route == nil {
		return append(next, n.next...), nil
	}
	name, err := callRoute(n.route, s)
	if err != nil {
		return next, err
	}
	for i := range n.to {
		if n.to[i].name == name {
			return append(next, n.to[i].index), nil
		}
	}
	return next, fmt.Errorf("branch leads to %q, which is not one of its targets", name)
}
