// Package graphtest is the conformance suite of [graph.Store].
//
//	func TestStore(t *testing.T) {
//		graphtest.Run(t, func(t *testing.T) graph.Store { return mystore.New() })
//	}
//
// A persistent store calls [RunPersistent] instead, which adds the clauses about closing and
// opening again.
//
// Clauses are subtests named topic/clause. The topic langgraph has those of LangGraph's suite; see
// README.md. Each clause gets an empty store of its own and uses it only through the
// interfaces of package graph, and the method Delete if there is one.
package graphtest
