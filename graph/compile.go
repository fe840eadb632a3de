package graph

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"example.com/ragflow/graph/reduce"
	"example.com/ragflow/internal/codec"
	"example.com/ragflow/internal/topology"
)

// Plan is a compiled graph: checked, with names turned into indices. It is immutable and
// safe for concurrent use.
type Plan[S, U any] struct {
	name        string
	apply       func(S, U) (S, error)
	restore     func(now, then S) ([]U, error)
	conflict    func(earlier, later U) error
	nodes       []planNode[S, U] // by rank: a node's index is its rank
	start       planNode[S, U]   // Start with its edges and branches
	fingerprint string
	version     string
	// Whether JSON may change a value of U or S, apart from invalid UTF-8.
	updateDiffers, stateDiffers bool
	floats                      codec.Floats // of S
	waiting                     topology.Waiting
}

// planNode is a task with its successors: all of next and one of each branch, or those of to that
// Pick returns; handler after a failure.
type planNode[S, U any] struct {
	Task[S, U]
	name    string
	rank    int
	next    []int // static successors, by rank
	routes  []planBranch[S]
	to      []target // allowed results of Pick
	handler int      // index of OnError.To, or noIndex
	early   []int    // of Speculate
}

type planBranch[S any] struct {
	route func(S) string
	to    []target
}

type target struct {
	name  string
	index int
	label string
}

// Special values in lists of node indices: endIndex means End, noIndex none.
const (
	endIndex = -1
	noIndex  = -2
)

// Compile checks a graph and prepares it for running. The error joins all faults, each
// with the names of its nodes.
func Compile[S, U any](g Graph[S, U]) (*Plan[S, U], error) {
	shape := structure(g)
	if g.Order = shape.Order; len(g.Order) == 0 {
		g.Order = topology.DefaultOrder(shape)
		shape.Order = g.Order
	}
	var unfit error
	if g.Apply == nil {
		g.Apply, unfit = reduce.Apply[S, U]()
	}
	if err := check(g, shape, unfit); err != nil {
		return nil, fmt.Errorf("compile graph %q: %w", g.Name, err)
	}
	index := map[string]int{End: endIndex}
	for i, name := range g.Order {
		index[name] = i
	}
	p := &Plan[S, U]{
		name:        g.Name,
		apply:       g.Apply,
		restore:     g.Restore,
		conflict:    g.Conflict,
		nodes:       make([]planNode[S, U], len(g.Order)),
		fingerprint: topology.Fingerprint(shape, g.Name, g.Version),
		version:     g.Version,
	}
	for i, name := range g.Order {
		t := g.Nodes[name]
		if t.Retry.Attempts == 0 {
			t.Retry = g.Defaults.Retry
		}
		t.Timeout = cmp.Or(t.Timeout, g.Defaults.Timeout)
		n := planNode[S, U]{Task: t, name: name, rank: i, handler: noIndex}
		for _, to := range t.To {
			n.to = append(n.to, target{name: to, index: index[to]})
		}
		if t.OnError.To != "" {
			n.handler = index[t.OnError.To]
		}
		p.nodes[i] = n
	}
	p.start = planNode[S, U]{name: Start, handler: noIndex}
	from := func(name string) *planNode[S, U] {
		if name == Start {
			return &p.start
		}
		return &p.nodes[index[name]]
	}
	for _, e := range g.Edges {
		n := from(e.From)
		n.next = append(n.next, index[e.To])
	}
	for _, b := range g.Branches {
		of := planBranch[S]{route: b.Route}
		for _, to := range b.To {
			of.to = append(of.to, target{name: to, index: index[to], label: topology.Printable(b.Label[to])})
		}
		n := from(b.From)
		n.routes = append(n.routes, of)
	}
	slices.Sort(p.start.next)
	for i := range p.nodes {
		slices.Sort(p.nodes[i].next)
	}
	for i := range p.nodes {
		if err := p.nodes[i].speculate(p); err != nil {
			return nil, fmt.Errorf("compile graph %q: %w", g.Name, err)
		}
	}
	wait := make([]topology.Wait, len(p.nodes))
	for i, n := range p.nodes {
		wait[i] = topology.Wait(n.Wait)
	}
	p.waiting = topology.NewWaiting(wait, func(i int) []int { return p.nodes[i].leaving() })
	p.updateDiffers, p.stateDiffers = codec.MayDiffer(reflect.TypeFor[U]()), codec.MayDiffer(reflect.TypeFor[S]())
	p.floats = codec.FindFloats(reflect.TypeFor[S]())
	return p, nil
}

// MustCompile is like [Compile] for a graph that is fixed in the program: it panics if the graph has faults.
func MustCompile[S, U any](g Graph[S, U]) *Plan[S, U] {
	p, err := Compile(g)
	if err != nil {
		panic("graph: " + err.Error())
	}
	return p
}

// speculate sets the nodes that run before n has ended.
func (n *planNode[S, U]) speculate(p *Plan[S, U]) error {
	for at, names := n, n.Speculate.Nodes; len(names) > 0; names = names[1:] {
		i := slices.IndexFunc(p.nodes, func(m planNode[S, U]) bool { return m.name == names[0] })
		if i < 0 || !slices.Contains(at.leaving(), i) || i == n.rank && at == n {
			return fmt.Errorf("node %q: Speculate: %q is not another node that can follow %q", n.name, names[0], at.name)
		}
		n.early, at = append(n.early, i), &p.nodes[i]
	}
	return nil
}

// leaving returns all possible successors of a node.
func (n *planNode[S, U]) leaving() []int {
	out := slices.Clone(n.next)
	for _, t := range n.to {
		out = append(out, t.index)
	}
	for _, b := range n.routes {
		for _, t := range b.to {
			out = append(out, t.index)
		}
	}
	if n.handler != noIndex {
		out = append(out, n.handler)
	}
	return out
}

// Name returns the graph's name.
func (p *Plan[S, U]) Name() string { return p.name }

// Nodes returns the names of the nodes by rank. The caller owns the slice.
func (p *Plan[S, U]) Nodes() []string {
	names := make([]string, len(p.nodes))
	for i := range p.nodes {
		names[i] = p.nodes[i].name
	}
	return names
}

// Fingerprint identifies the structure of the graph: name, version, order, edges,
// branches with their targets, the parts of tasks that decide the path of a run, and the
// fingerprints of subgraphs. Other policies may change. A run can be resumed only by a
// graph with the same fingerprint. It ends with an @ and the version.
func (p *Plan[S, U]) Fingerprint() string { return p.fingerprint }

// names returns the node names of a frontier.
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

// frontier returns the indices of node names. An unknown name is an error.
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

// successors appends the successors of a node, given the state after its step and the
// notes of its task.
func (n *planNode[S, U]) successors(next []int, s S, notes *Notes) ([]int, error) {
	switch {
	case notes.Caught != "" && n.handler != noIndex:
		return append(next, n.handler), nil
	case n.Pick != nil:
		for _, name := range notes.Goto {
			i, err := indexOf(n.to, name)
			if err != nil {
				return next, fmt.Errorf("pick %w", err)
			}
			next = append(next, i)
		}
		return next, nil
	}
	next = append(next, n.next...)
	for _, b := range n.routes {
		var name string
		if err := protected(func() error { name = b.route(s); return nil }); err != nil {
			return next, err
		}
		i, err := indexOf(b.to, name)
		if err != nil {
			return next, fmt.Errorf("branch %w", err)
		}
		next = append(next, i)
	}
	return next, nil
}

// first returns the nodes after Start, given the state after the input.
func (p *Plan[S, U]) first(s S) ([]int, error) {
	next, err := p.start.successors(nil, s, &Notes{})
	slices.Sort(next)
	return slices.Compact(next), err
}

func indexOf(to []target, name string) (int, error) {
	for i := range to {
		if to[i].name == name {
			return to[i].index, nil
		}
	}
	return 0, fmt.Errorf("returned %q, which is not one of its targets", name)
}

// allows returns an error if these targets are not a valid result of Pick.
func (n *planNode[S, U]) allows(next []string) error {
	if n.Pick == nil {
		return nil
	}
	if len(next) == 0 {
		return errors.New("pick returned no target; to end the run, return End")
	}
	for _, name := range next {
		if _, err := indexOf(n.to, name); err != nil {
			return fmt.Errorf("pick %w", err)
		}
	}
	return nil
}

// reachedNodes returns successors as a frontier: by rank, each once, without End.
func reachedNodes(next []int) []int {
	slices.Sort(next)
	next = slices.Compact(next)
	if len(next) > 0 && next[0] == endIndex {
		next = next[1:]
	}
	return next
}

// without returns the elements of all that are not in some; both are sorted.
func without(all, some []int) []int {
	var out []int
	for _, n := range all {
		if _, found := slices.BinarySearch(some, n); !found {
			out = append(out, n)
		}
	}
	return out
}
