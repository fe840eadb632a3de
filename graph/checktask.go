package graph

import (
	"fmt"
	"slices"
	"strings"
)

// checkTask looks at what a task says of itself.
func checkTask[S, U any](c *checker, name string, t Task[S, U]) {
	if t.Run != nil && t.Pick != nil {
		c.faultf("node %q: Run and Pick are both given; it is one or the other", name)
	}
	if t.Pick == nil && len(t.To) > 0 {
		c.faultf("node %q: To is for a node with Pick", name)
	}
	if t.Pick != nil {
		c.picker(name, t.To)
	}
	if t.sub != "" && strings.ContainsAny(name, "/#[") {
		c.faultf("node %q: the name of a subgraph must not hold any of / # [", name)
	}
	if t.Cache != nil && t.Cache.Key == nil {
		c.faultf("node %q: Cache.Key is nil", name)
	}
	if t.Wait < NoWait || t.Wait > Last {
		c.faultf("node %q: unknown Wait %d", name, t.Wait)
	}
	c.wait[name] = t.Wait
	switch to := t.OnError.To; {
	case t.OnError.Update == nil && to != "":
		c.faultf("node %q: OnError.To without OnError.Update", name)
	case t.OnError.Update != nil && to == "" && t.Pick != nil:
		c.faultf("node %q: OnError.To is empty, and Pick has no other way to lead on", name)
	case to == Start:
		c.faultf("node %q: OnError.To: nothing leads into Start", name)
	case to == name && to != "":
		c.faultf("node %q: OnError.To leads to the node itself; that is what Retry is for", name)
	case to != "" && !c.known[to]:
		c.faultf("node %q: OnError.To: unknown node %q", name, to)
	case to != "":
		c.handler[name] = to
	}
}

// picker checks the targets of a pick, which are a branch without a route.
func (c *checker) picker(name string, to []string) {
	switch {
	case len(to) == 0:
		c.faultf("node %q: To is empty, so that Pick has nothing to choose", name)
	case len(c.static[name]) > 0:
		c.faultf("node %q: an edge leaves it, and it has Pick; it is one or the other", name)
	}
	c.targets(fmt.Sprintf("node %q: To", name), to)
	c.branched[name] = append(c.branched[name], to...)
	c.picks = append(c.picks, name)
}

// lasts checks that what runs last does.
func (c *checker) lasts() {
	for _, name := range c.nodes {
		if c.wait[name] != Last {
			continue
		}
		for _, to := range c.leaving(name) {
			if to != End && c.wait[to] != Last {
				c.faultf("node %q: it runs last, so that only End and nodes that run last may follow, not %q", name, to)
			}
		}
	}
}

// pair is where two paths of one run stand at the same time.
type pair struct{ a, b string }

// meeting follows two paths that part at one node until they meet again.
type meeting struct {
	*checker
	fork   string
	first  map[string]bool // nodes that the one path runs alone
	second map[string]bool // and the other
	seen   map[pair]bool
	queue  []pair
}

// meetings finds bare joins: nodes without Wait that paths which run side by
// side reach at different steps, or one of them by a branch, so that nobody can
// say whether they run once or twice.
func (c *checker) meetings() {
	if len(c.faults) > 0 {
		return // of a broken graph the paths mean nothing
	}
	told := map[string]bool{}
	for _, fork := range append([]string{Start}, c.nodes...) {
		targets := c.static[fork]
		if slices.Contains(c.picks, fork) {
			targets = c.branched[fork]
		}
		for i, a := range targets {
			for _, b := range targets[:i] {
				m := &meeting{checker: c, fork: fork, first: map[string]bool{}, second: map[string]bool{}, seen: map[pair]bool{}}
				m.follow(pair{b, a}, told)
			}
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
	for _, name := range m.nodes {
		if m.first[name] && m.second[name] && m.wait[name] == NoWait && !told[name] {
			told[name] = true
			m.faultf("node %q: paths that part at %q may reach it at different steps, and it would run for each; let it wait for them (Wait: Join)", name, m.fork)
		}
	}
}

// meet looks at a step of both paths.
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
			m.faultf("branch from %q: leads into %q, where another path from %q arrives; let %q wait for both (Wait: Join)", origin, to.a, m.fork, to.a)
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

// moves lists where the path that is at one node may be a step later, while the
// other is at another. A path that came back to the fork begins anew.
func (m *meeting) moves(at, other string) []string {
	switch {
	case at == End || at == m.fork:
		return []string{End}
	case m.wait[at] != NoWait && other != End && m.leads(other, at):
		return []string{at}
	}
	return m.leaving(at)
}

// leads says whether a path leads from one node to another.
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
