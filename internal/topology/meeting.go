package topology

import (
	"slices"
)

// pair is the positions of two paths of one run at the same time.
type pair struct{ a, b string }

// meeting follows two paths from the node where they split until they meet again.
type meeting struct {
	*checker
	fork   string
	first  map[string]bool // nodes on the first path
	second map[string]bool // nodes on the second path
	seen   map[pair]bool
	queue  []pair
}

// meetings finds nodes without Wait that concurrent paths can reach at different steps,
// or one path by a branch. It would be unclear whether such a node runs once or twice.
func (c *checker) meetings() {
	if len(c.faults) > 0 {
		return // the paths of a broken graph mean nothing
	}
	told := map[string]bool{}
	for _, fork := range append([]string{Start}, c.nodes...) {
		groups := c.groups[fork]
		kinds := c.kindsOf(fork, groups)
		done := map[[2]int]bool{}
		var firsts []int // the first group of each kind
		for i, later := range groups {
			for _, j := range firsts {
				if both := [2]int{kinds[j], kinds[i]}; !done[both] {
					done[both] = true
					c.meetingsOf(fork, groups[j], later, told)
				}
			}
			if !slices.ContainsFunc(firsts, func(j int) bool { return kinds[j] == kinds[i] }) {
				firsts = append(firsts, i)
			}
		}
	}
}

// meetingsOf follows a path to each target of one group beside one to each of another.
func (c *checker) meetingsOf(fork string, earlier, later []string, told map[string]bool) {
	for _, a := range later {
		for _, b := range earlier {
			if a == b {
				continue // reached once, in one step
			}
			m := &meeting{checker: c, fork: fork, first: map[string]bool{}, second: map[string]bool{}, seen: map[pair]bool{}}
			m.follow(pair{b, a}, told)
		}
	}
}

func (m *meeting) follow(from pair, told map[string]bool) {
	m.push(from)
	for len(m.queue) > 0 {
		at := m.queue[0]
		m.queue = m.queue[1:]
		m.first[at.a], m.second[at.b] = true, true
		for _, a := range m.moves(at.a, at.b) {
			for _, b := range m.moves(at.b, at.a) {
				m.meet(at, pair{a, b}, told)
			}
		}
	}
	var both []string
	for name := range m.first {
		if m.second[name] && name != End && m.wait[name] == NoWait && !told[name] {
			both = append(both, name)
		}
	}
	slices.SortFunc(both, func(x, y string) int { return m.rank[x] - m.rank[y] })
	for _, name := range both {
		told[name] = true
		m.faultf("node %q: paths that split at %q may reach it at different steps, so it could run several times; set Wait: Join", name, m.fork)
	}
}

// meet handles a step of both paths.
func (m *meeting) meet(from, to pair, told map[string]bool) {
	if to.a != to.b {
		m.push(to)
		return
	}
	if to.a == End || m.wait[to.a] != NoWait || told[to.a] {
		return
	}
	for _, origin := range []string{from.a, from.b} {
		if !slices.Contains(m.static[origin], to.a) {
			told[to.a] = true
			m.faultf("branch from %q: it leads to %q, which another path from %q also reaches; set Wait: Join for %q", origin, to.a, m.fork, to.a)
			return
		}
	}
}

func (m *meeting) push(p pair) {
	if !m.seen[p] {
		m.seen[p] = true
		m.queue = append(m.queue, p)
	}
}

// moves returns the possible next positions of a path at one node, while the other path is
// at another node. A path that returns to the fork ends, and so does one that passes a node with Last after
// the other has ended: nothing runs beside what follows.
func (m *meeting) moves(at, other string) []string {
	switch {
	case at == End || at == m.fork || m.wait[at] == Last && other == End:
		return []string{End}
	case other != End && m.waits(at, other):
		return []string{at}
	}
	return m.leaving(at)
}

// waits reports whether a reached node waits for another reached node.
func (c *checker) waits(at, other string) bool {
	switch c.wait[at] {
	case Join:
		return c.wait[other] != Last && c.leads(other, at)
	case Last:
		return c.wait[other] != Last || c.leads(other, at)
	default:
		return false
	}
}

// leads reports whether there is a path from one node to another.
func (c *checker) leads(from, to string) bool {
	if c.reaches == nil {
		c.reaches = map[string]map[string]bool{}
	}
	if c.reaches[from] == nil {
		reached := map[string]bool{}
		c.reach(from, c.leaving, reached)
		c.reaches[from] = reached
	}
	return c.reaches[from][to]
}
