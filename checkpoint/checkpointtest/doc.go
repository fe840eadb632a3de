// Package checkpointtest holds the clauses that every graph.Store must pass.
//
//	func TestStore(t *testing.T) {
//		checkpointtest.Run(t, func(t *testing.T) graph.Store { return mystore.New() })
//	}
//
// A store that outlives its handle runs [RunPersistent] instead, which adds
// the clauses on closing and opening again.
//
// Clauses are subtests named topic/clause. Each gets a store of its own and
// looks at it through the interface only. What a clause demands beyond the
// comments of graph.Store, it says.
package checkpointtest
