package graph

import "slices"

// findReach computes which node can lead to which, if the plan has waiting nodes.
func (p *Plan[S, U]) findReach() {
	if !slices.ContainsFunc(p.nodes, func(n planNode[S, U]) bool { return n.Wait != NoWait }) {
		return
	}
	p.reach = make([][]bool, len(p.nodes))
	for i := range p.nodes {
		p.reach[i] = make([]bool, len(p.nodes))
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, to := range p.nodes[queue[0]].leaving() {
				if to != endIndex && !p.reach[i][to] {
					p.reach[i][to] = true
					queue = append(queue, to)
				}
			}
		}
	}
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

// ready returns the nodes of the frontier that run next; it reuses the memory of free. The
// result depends only on the frontier and the plan, so waiting nodes need no extra record.
func (p *Plan[S, U]) ready(free, frontier []int) []int {
	free = free[:0]
	if p.reach == nil {
		return append(free, frontier...)
	}
	for _, n := range frontier {
		if !slices.ContainsFunc(frontier, func(m int) bool { return m != n && p.before(m, n) }) {
			free = append(free, n)
		}
	}
	if len(free) > 0 || len(frontier) == 0 {
		return free
	}
	// All nodes wait for each other.
	first := slices.MinFunc(frontier, func(a, b int) int {
		if wa, wb := p.nodes[a].Wait, p.nodes[b].Wait; wa != wb {
			return int(wa - wb)
		}
		return a - b
	})
	return append(free, first)
}

// before reports whether the reached node n waits for the reached node m.
func (p *Plan[S, U]) before(m, n int) bool {
	switch p.nodes[n].Wait {
	case Join:
		return p.nodes[m].Wait != Last && p.reach[m][n]
	case Last:
		return p.nodes[m].Wait != Last || p.reach[m][n]
	default:
		return false
	}
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
