package graph

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/internal/address"
)

// origins are the commits that the tasks of a superstep follow: base, but for the nodes that edits as a
// node (see [Edit].As) reached while the superstep was unfinished. Idempotency keys and results in the store belong to
// the origin of their task, so such an edit does not touch the other tasks.
type origins struct {
	base   Commit
	edited map[string]Commit // by node
}

// of returns the commit that the task of a place follows.
func (o origins) of(p place) Commit {
	node := p.node
	if p.path != "" {
		node = address.Root(p.path)
	}
	if c, ok := o.edited[node]; ok {
		return c
	}
	return o.base
}

// findOrigins returns the origins of the unfinished superstep at a head, and the commits since its
// base, newest first, with the base: ends of calls and edits.
func findOrigins(ctx context.Context, s Store, thread string, head Commit) (o origins, since []Commit, err error) {
	if o.base = head; head.Source == SourceInput || head.Source == SourceLoop {
		return o, []Commit{head}, nil
	}
	o.edited = map[string]Commit{}
	var as *Commit // the edit as a node after the commit c
	for c, err := range s.Walk(ctx, thread, head.ID) {
		if err != nil {
			return o, nil, fmt.Errorf("read the unfinished superstep: %w", err)
		}
		if c.Run != head.Run { // an edit began the run
			break
		}
		for ; as != nil; as = nil {
			o.reached(*as, c.Frontier)
		}
		o.base, since = c, append(since, c)
		if c.Source == SourceUpdate && len(c.Deltas) > 0 && c.Deltas[0].Node != "" {
			as = &c
		} else if c.Source != SourceClose && c.Source != SourceUpdate {
			break
		}
	}
	return o, since, nil
}

// reached adds the nodes that an edit as a node reached, unless a later one reached them again.
func (o *origins) reached(as Commit, before []string) {
	for _, n := range as.Frontier {
		_, later := o.edited[n]
		if !later && (!slices.Contains(before, n) || n == as.Deltas[0].Node) {
			o.edited[n] = as
		}
	}
}

// passedBreaks returns the nodes of BreakBefore at which the unfinished superstep has stopped or passed. If it
// failed, has results or open questions, it had passed its breakpoints.
func (x *run[S, U]) passedBreaks(since []Commit) (passed []string) {
	from := x.session.from
	for _, c := range since {
		frontier, err := x.plan.frontier(c.Frontier)
		if err != nil { // of an earlier version of the graph
			frontier = x.frontier
		}
		stop := x.breaks(x.o.BreakBefore, x.plan.waiting.Ready(nil, frontier))
		stopped := c.Status == Interrupted && c.Error == (&InterruptError{Before: stop}).Error()
		if !stopped && c.Status != Failed && (c.ID != from.base.ID || x.session.empty()) {
			continue
		}
		for _, n := range stop {
			if from.edited[n].ID <= c.ID {
				passed = append(passed, n)
			}
		}
	}
	return passed
}
