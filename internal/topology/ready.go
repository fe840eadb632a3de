package topology

import (
	"cmp"
	"slices"
)

// Waiting decides which of the reached nodes run next. Nodes are numbers from 0, by rank. It is immutable.
type Waiting struct {
	wait  []Wait
	reach [][]bool // from → to over a path of at least one step; nil if no node waits
}

// NewWaiting returns the Waiting of nodes that wait so. leaving returns the possible successors of a node; negative
// ones do not count.
func NewWaiting(wait []Wait, leaving func(node int) []int) Waiting {
	w := Waiting{wait: wait}
	if !slices.ContainsFunc(wait, func(w Wait) bool { return w != NoWait }) {
		return w
	}
	w.reach = make([][]bool, len(wait))
	for i := range wait {
		w.reach[i] = make([]bool, len(wait))
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, to := range leaving(queue[0]) {
				if to >= 0 && !w.reach[i][to] {
					w.reach[i][to] = true
					queue = append(queue, to)
				}
			}
		}
	}
	return w
}

// Ready returns the nodes of the frontier, which is sorted, that run next; it reuses the memory of free. The
// result depends only on the frontier and the graph, so waiting nodes need no extra record.
func (w Waiting) Ready(free, frontier []int) []int {
	free = free[:0]
	if w.reach == nil {
		return append(free, frontier...)
	}
	for _, n := range frontier {
		if !slices.ContainsFunc(frontier, func(m int) bool { return m != n && w.before(m, n) }) {
			free = append(free, n)
		}
	}
	if len(free) > 0 || len(frontier) == 0 {
		return free
	}
	// All nodes wait for each other.
	return append(free, slices.MinFunc(frontier, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.wait[a], w.wait[b]), cmp.Compare(a, b))
	}))
}

// before reports whether the reached node n waits for the reached node m.
func (w Waiting) before(m, n int) bool {
	switch w.wait[n] {
	case Join:
		return w.wait[m] != Last && w.reach[m][n]
	case Last:
		return w.wait[m] != Last || w.reach[m][n]
	default:
		return false
	}
}
