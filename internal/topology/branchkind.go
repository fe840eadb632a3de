package topology

import (
	"fmt"
	"slices"
)

// kindsOf returns a number for each group of targets of a fork. Groups with the same number lead to
// the same meetings with any third group, so that of many equal ways side by side only two are followed.
//
// A node is private if one target alone leads to it. Paths to different targets cannot meet at
// private nodes, so these count only by where they lead: two of them have the same kind if they wait
// alike and their successors have the same kinds. Every other node is a kind of its own. A private
// node waits only for paths that can come back to the fork. A few groups have a number each, which
// takes less time.
func (c *checker) kindsOf(fork string, groups [][]string) []int {
	kinds := make([]int, len(groups))
	if len(groups) < c.few {
		for i := range kinds {
			kinds[i] = i
		}
		return kinds
	}
	k := &nodeKinds{checker: c, fork: fork, only: map[string]int{}, returns: map[string]bool{}, kind: map[string]int{}}
	c.reach(fork, func(name string) []string { return c.into[name] }, k.returns)
	k.claim(groups)
	for _, g := range groups {
		k.arrange(g, map[string]bool{})
	}
	for was := -1; was != k.count; {
		was = k.count
		k.refine()
	}
	number := map[string]int{}
	for i, g := range groups {
		sign := fmt.Sprint(k.of(g))
		if _, known := number[sign]; !known {
			number[sign] = len(number)
		}
		kinds[i] = number[sign]
	}
	return kinds
}

// nodeKinds are the kinds of the nodes behind a fork.
type nodeKinds struct {
	*checker
	fork    string
	only    map[string]int // the number of the target that alone leads to a node; shared otherwise
	private []string       // successors first, but for cycles
	returns map[string]bool
	kind    map[string]int
	given   int // no number is given twice
	count   int // kinds of private nodes
}

const shared = -1

// claim finds which target alone leads to a node. Paths end at the fork.
func (k *nodeKinds) claim(groups [][]string) {
	k.only[k.fork], k.only[End] = shared, shared
	var queue []string
	mark := func(name string, by int) {
		if is, known := k.only[name]; !known || is != by && is != shared {
			if known {
				by = shared
			}
			k.only[name] = by
			queue = append(queue, name)
		}
	}
	number := 0
	for _, g := range groups {
		for _, target := range g {
			number++ // a target of two groups is shared
			mark(target, number)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, to := range k.leaving(queue[0]) {
			mark(to, k.only[queue[0]])
		}
	}
}

// arrange collects the private nodes behind nodes.
func (k *nodeKinds) arrange(names []string, seen map[string]bool) {
	for _, name := range names {
		if !seen[name] && k.only[name] != shared {
			seen[name] = true
			k.arrange(k.leaving(name), seen)
			k.private = append(k.private, name)
		}
	}
}

// refine splits kinds of nodes whose successors differ.
func (k *nodeKinds) refine() {
	bySign := map[string]int{}
	for _, name := range k.private {
		others := k.branched[name]
		if to, ok := k.handler[name]; ok {
			others = append(slices.Clip(others), to)
		}
		sign := fmt.Sprint(k.kind[name], k.wait[name], k.returns[name], k.of(k.static[name]), k.of(others))
		if bySign[sign] == 0 {
			k.given++
			bySign[sign] = k.given
		}
		k.kind[name] = bySign[sign]
	}
	k.count = len(bySign)
}

// of returns the kinds of nodes, sorted.
func (k *nodeKinds) of(names []string) []int {
	kinds := make([]int, len(names))
	for i, name := range names {
		if k.only[name] == shared && k.kind[name] == 0 {
			k.given++
			k.kind[name] = k.given
		}
		kinds[i] = k.kind[name]
	}
	slices.Sort(kinds)
	return kinds
}
