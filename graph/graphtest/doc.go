// Package graphtest is the conformance suite of [graph.Store].
//
//	func TestStore(t *testing.T) {
//		graphtest.Run(t, func(t *testing.T) graph.Store { return mystore.New() })
//	}
//
// A persistent store calls [RunPersistent] instead, which adds the clauses about closing and
// opening again.
//
// Clauses are subtests named topic/clause. Each gets an empty store of its own
// and uses it only through the interfaces of package graph.
package graphtest
