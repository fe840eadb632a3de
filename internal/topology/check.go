// Package topology finds faults in the structure of a graph: unknown and unreachable nodes, dead ends,
// cycles without a way out, and paths that meet at different steps. It also decides which reached nodes wait.
package topology

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Start and End begin and end every path. They are not nodes.
const (
	Start = "__start__"
	End   = "__end__"
)

// Graph is the structure of a graph.
type Graph struct {
	Order    []string // every node once; see DefaultOrder
	Nodes    map[string]Node
	Edges    []Edge
	Branches []Branch
}

// Node is what decides about the paths through a node.
type Node struct {
	Picks   bool // the node chooses its successors from To
	To      []string
	Wait    Wait
	Handler string // where a run continues after a failure; empty: nowhere
	Sub     string // fingerprint of the graph that the node runs; empty: none
}

// Wait says how long a reached node waits before it runs.
type Wait int

// The kinds of waiting.
const (
	NoWait Wait = iota // run in the next step
	Join               // wait until no active path can reach the node
	Last               // wait until no other node is active
)

// Edge leads from a node or Start to a node or End.
type Edge struct{ From, To string }

// Branch leads from a node or Start to one of its targets.
type Branch struct {
	From   string
	To     []string
	Labels []string // targets with a label
}

// checker collects the faults of one graph.
type checker struct {
	few      int
	nodes    []string              // in the order of reported faults
	rank     map[string]int        // positions in nodes
	known    map[string]bool       // nodes and End
	static   map[string][]string   // edges by origin
	branched map[string][]string   // targets of branches and picks by origin
	groups   map[string][][]string // targets by origin; a run follows one target of each group
	handler  map[string]string     // handlers by origin
	wait     map[string]Wait
	picks    map[string]bool            // nodes that pick
	into     map[string][]string        // nodes that lead to a node
	reaches  map[string]map[string]bool // filled by leads
	faults   []error
}

// Check returns all faults of a graph, joined, each with the names of its nodes.
func Check(g Graph) error { return check(g, 4) }

// check compares up to few groups of targets without looking for kinds.
func check(g Graph, few int) error {
	c := &checker{
		few:  few,
		rank: map[string]int{}, known: map[string]bool{End: true}, static: map[string][]string{}, branched: map[string][]string{}, groups: map[string][][]string{},
		handler: map[string]string{}, wait: map[string]Wait{}, picks: map[string]bool{},
	}
	c.order(g.Order, slices.Sorted(maps.Keys(g.Nodes)))
	c.edges(g.Edges)
	for _, name := range c.nodes {
		c.node(name, g.Nodes[name])
	}
	for _, b := range g.Branches {
		c.branch(b)
	}
	c.paths()
	c.meetings()
	return errors.Join(c.faults...)
}

func (c *checker) faultf(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// order collects the nodes: those of Nodes and of Order.
func (c *checker) order(order, nodes []string) {
	for _, name := range nodes {
		c.known[name] = true
	}
	seen := map[string]bool{}
	for _, name := range order {
		switch {
		case seen[name]:
			c.faultf("order: node %q is listed twice", name)
		case name == End || !c.known[name]:
			c.faultf("order: unknown node %q", name)
		default:
			c.nodes = append(c.nodes, name)
		}
		seen[name] = true
	}
	for _, name := range nodes {
		if !seen[name] {
			c.faultf("order: node %q is missing", name)
			c.nodes = append(c.nodes, name)
		}
		switch {
		case name == "":
			c.faultf("a node has an empty name")
		case strings.HasPrefix(name, "__"):
			c.faultf("node %q: names beginning with __ are reserved", name)
		case strings.ContainsAny(name, "/#["):
			c.faultf("node %q: names must not contain any of / # [, which separate the parts of an address", name)
		case name != Printable(name):
			c.faultf("node %q: names need printable characters", name)
		}
	}
}

// Printable replaces unprintable characters by spaces, for drawings and logs.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func (c *checker) edges(edges []Edge) {
	seen := map[Edge]bool{}
	for _, e := range edges {
		switch {
		case seen[e]:
			c.faultf("edge %q → %q: listed twice", e.From, e.To)
			continue
		case e.From == End:
			c.faultf("edge %q → %q: no edge can leave End", e.From, e.To)
		case e.To == Start:
			c.faultf("edge %q → %q: no edge can lead to Start", e.From, e.To)
		case e.From == Start && e.To == End:
			c.faultf("edge %q → %q: a run needs a node", e.From, e.To)
		case e.From != Start && !c.known[e.From]:
			c.faultf("edge %q → %q: unknown node %q", e.From, e.To, e.From)
		}
		seen[e] = true
		if e.To == Start || e.From == End {
			continue
		}
		if !c.known[e.To] {
			c.faultf("edge %q → %q: unknown node %q", e.From, e.To, e.To)
		}
		c.static[e.From] = append(c.static[e.From], e.To)
		c.groups[e.From] = append(c.groups[e.From], []string{e.To})
	}
}

func (c *checker) node(name string, n Node) {
	if n.Picks {
		c.picker(name, n.To)
	}
	if n.Wait < NoWait || n.Wait > Last {
		c.faultf("node %q: unknown Wait %d", name, n.Wait)
	}
	c.wait[name] = n.Wait
	switch to := n.Handler; {
	case to == "":
	case to == Start:
		c.faultf("node %q: OnError.To: no path can lead to Start", name)
	case to == name:
		c.faultf("node %q: OnError.To is the node itself; use Retry instead", name)
	case !c.known[to]:
		c.faultf("node %q: OnError.To: unknown node %q", name, to)
	default:
		c.handler[name] = to
	}
}

// picker checks the targets of a Pick.
func (c *checker) picker(name string, to []string) {
	switch {
	case len(to) == 0:
		c.faultf("node %q: To is empty, so Pick has no target to choose", name)
	case len(c.static[name]) > 0:
		c.faultf("node %q: it has an edge and Pick; use one or the other", name)
	}
	c.targets(fmt.Sprintf("node %q: To", name), to)
	c.branched[name] = append(c.branched[name], to...)
	c.picks[name] = true
	for _, one := range to { // a Pick may choose all of them
		c.groups[name] = append(c.groups[name], []string{one})
	}
}

func (c *checker) branch(b Branch) {
	from, to := b.From, b.To
	switch {
	case from == End:
		c.faultf("branch from %q: no path leads on from End", from)
	case from == Start && slices.Contains(to, End):
		c.faultf("branch from Start: a run needs a node, so End cannot be a target")
	case from != Start && !c.known[from]:
		c.faultf("branch from %q: unknown node %q", from, from)
	case c.picks[from]:
		c.faultf("branch from %q: the node has Pick; use one or the other", from)
	}
	if len(to) == 0 {
		c.faultf("branch from %q: To is empty", from)
	}
	c.targets(fmt.Sprintf("branch from %q", from), to)
	for _, name := range b.Labels {
		if !slices.Contains(to, name) {
			c.faultf("branch from %q: label for %q, which is not a target", from, name)
		}
	}
	c.branched[from] = append(c.branched[from], to...)
	c.groups[from] = append(c.groups[from], to)
}

// targets checks a list of targets. Errors name their owner by where.
func (c *checker) targets(where string, to []string) {
	seen := map[string]bool{}
	for _, name := range to {
		switch {
		case name == Start:
			c.faultf("%s: no path can lead to Start", where)
		case !c.known[name]:
			c.faultf("%s: unknown node %q", where, name)
		case seen[name]:
			c.faultf("%s: target %q is listed twice", where, name)
		}
		seen[name] = true
	}
}

func (c *checker) leaving(name string) []string {
	out := slices.Concat(c.static[name], c.branched[name])
	if to, ok := c.handler[name]; ok {
		out = append(out, to)
	}
	return out
}

// paths checks where runs can go. A fault is reported once, at its root: a node that only
// leads to a dead end or into an endless cycle is not reported too.
func (c *checker) paths() {
	if len(c.leaving(Start)) == 0 {
		c.faultf("no edge leaves Start")
	}
	reached := map[string]bool{}
	c.reach(Start, c.leaving, reached)
	settled := map[string]bool{End: true} // reaches End, or is reported already
	for _, name := range c.nodes {
		_, branches := c.branched[name]
		if !reached[name] {
			c.faultf("node %q: no path leads to it", name)
		}
		if len(c.static[name]) == 0 && !branches {
			c.faultf("node %q: dead end, it has no edge and no branch", name)
			settled[name] = true
		}
	}
	c.cycles(settled)
	c.into = map[string][]string{}
	for i, name := range c.nodes {
		c.rank[name] = i
		for _, to := range c.leaving(name) {
			c.into[to] = append(c.into[to], name)
			settled[to] = settled[to] || !c.known[to]
		}
	}
	for _, end := range slices.Collect(maps.Keys(settled)) {
		if settled[end] {
			c.reach(end, func(name string) []string { return c.into[name] }, settled)
		}
	}
	for _, name := range c.nodes {
		if !settled[name] {
			c.faultf("node %q: no path to End", name)
		}
	}
}

// cycles finds cycles that consist only of edges. Every edge is always followed, so such a
// cycle never ends, even if another edge leaves it.
func (c *checker) cycles(settled map[string]bool) {
	entering := map[string]int{} // edges into a node, without those from nodes that are on no cycle
	for _, name := range c.nodes {
		for _, to := range c.static[name] {
			entering[to]++
		}
	}
	for queue := slices.Clone(c.nodes); len(queue) > 0; queue = queue[1:] {
		if name := queue[0]; entering[name] == 0 {
			entering[name] = -1 // done
			for _, to := range c.static[name] {
				entering[to]--
				queue = append(queue, to)
			}
		}
	}
	for _, name := range c.nodes {
		if settled[name] || entering[name] < 0 {
			continue
		}
		if way := c.wayBack(name); way != nil {
			c.faultf("unbounded cycle %s: no branch can leave it", strings.Join(way, " → "))
			for _, n := range way {
				settled[n] = true
			}
		}
	}
}

// wayBack returns the shortest path over edges from a node to itself.
func (c *checker) wayBack(name string) []string {
	from := map[string]string{}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, to := range c.static[at] {
			if to == name {
				way := []string{to}
				for ; at != name; at = from[at] {
					way = append(way, at)
				}
				way = append(way, name)
				slices.Reverse(way)
				return way
			}
			if _, seen := from[to]; !seen {
				from[to] = at
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// reach adds all nodes that can be reached over at least one step.
func (*checker) reach(from string, leaving func(string) []string, reached map[string]bool) {
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range leaving(queue[0]) {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
}
