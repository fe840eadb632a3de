package graph

import "slices"

// waits prepares the plan for nodes that wait: which node can lead to which.
func (p *Plan[S, U]) waits() {
	if !slices.ContainsFunc(p.nodes, func(n planNode[S, U]) bool { return n.wait != NoWait }) {
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

// leaving lists all that may follow a node.
func (n *planNode[S, U]) leaving() []int {
	out := slices.Clone(n.next)
	for _, t := range n.to {
		out = append(out, t.index)
	}
	if n.handler != noIndex {
		out = append(out, n.handler)
	}
	return out
}

// ready returns which of the nodes that were reached run next, in memory of a
// slice that is free. It depends on the frontier and the plan alone: who waits
// needs no record of its own, in memory or in the log.
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
	// Only nodes that wait for each other are left.
	first := slices.MinFunc(frontier, func(a, b int) int {
		if wa, wb := p.nodes[a].wait, p.nodes[b].wait; wa != wb {
			return int(wa - wb)
		}
		return a - b
	})
	return append(free, first)
}

// before says whether n, which was reached, waits for m, which was reached, too.
func (p *Plan[S, U]) before(m, n int) bool {
	switch p.nodes[n].wait {
	case Join:
		return p.reach[m][n]
	case Last:
		return p.nodes[m].wait != Last || p.reach[m][n]
	default:
		return false
	}
}

// without lists what is in all and not in some; both are sorted.
func without(all, some []int) []int {
	var out []int
	for _, n := range all {
		if _, found := slices.BinarySearch(some, n); !found {
			out = append(out, n)
		}
	}
	return out
}
