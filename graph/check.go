package graph

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"example.com/ragflow/internal/codec"
	"example.com/ragflow/internal/topology"
)

// check returns all faults of a graph with this structure, joined. unfit is why there is no Apply.
func check[S, U any](g Graph[S, U], t topology.Graph, unfit error) error {
	var faults []error
	faultf := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if unfit != nil {
		faultf("Apply is nil: %w", unfit)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Nodes)) {
		n := g.Nodes[name]
		switch {
		case n.Run == nil && n.Pick == nil:
			faultf("node %q: Run is nil", name)
		case n.Run != nil && n.Pick != nil:
			faultf("node %q: both Run and Pick are set; use one or the other", name)
		case n.Pick == nil && len(n.To) > 0:
			faultf("node %q: To needs Pick", name)
		}
		if n.Cache != nil && n.Cache.Key == nil {
			faultf("node %q: Cache.Key is nil", name)
		}
		handles := n.OnError.Update != nil
		switch to := n.OnError.To; {
		case !handles && to != "":
			faultf("node %q: OnError.To without OnError.Update", name)
		case handles && to == "" && n.Pick != nil:
			faultf("node %q: OnError.To is empty, but a node with Pick has no other successor", name)
		}
	}
	for _, b := range g.Branches {
		if b.Route == nil {
			faultf("branch from %q: Route is nil", b.From)
		}
	}
	faults = append(faults, topology.Check(t))
	faults = append(faults, codec.Check("state", reflect.TypeFor[S]()), codec.Check("update", reflect.TypeFor[U]()))
	return errors.Join(faults...)
}

// structure returns the structure of a graph.
func structure[S, U any](g Graph[S, U]) topology.Graph {
	t := topology.Graph{Order: g.Order, Nodes: map[string]topology.Node{}}
	for name, n := range g.Nodes {
		node := topology.Node{Picks: n.Pick != nil, To: n.To, Wait: topology.Wait(n.Wait), Handler: n.OnError.To}
		if n.sub != nil {
			node.Sub = n.sub.fingerprint
		}
		t.Nodes[name] = node
	}
	for _, e := range g.Edges {
		t.Edges = append(t.Edges, topology.Edge(e))
	}
	for _, b := range g.Branches {
		t.Branches = append(t.Branches, topology.Branch{From: b.From, To: b.To, Labels: slices.Sorted(maps.Keys(b.Label))})
	}
	return t
}
