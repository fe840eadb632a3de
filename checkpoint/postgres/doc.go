// Package postgres keeps the commits of threads in a PostgreSQL database, version 15 or
// later, for several processes on several machines. [Store] implements graph.Store and
// passes the conformance suite of graph/graphtest.
//
//	s, err := postgres.Open(ctx, "postgres://ann@db.example:5432/app", postgres.Options{})
//	…
//	runner := plan.Runner(graph.Options{Store: s, Owner: checkpoint.ProcessOwner()})
//
// # Rules
//
//   - The log is the state, as in package checkpoint. One statement appends a commit,
//     checks the lease and the parent, moves the head, and drops pending results.
//   - Leases live by the clock of the database, so clocks of clients do not matter. A
//     writer that lost its lease gets graph.ErrSuperseded.
//   - A writer that waits for a lease is notified when it is released (LISTEN, NOTIFY),
//     and looks again at the end of the lease and every second. Only threads that
//     somebody waits for are notified, because notifications serialise transactions.
//   - Writes are repeated for up to [Options].Patience while the server restarts, fails
//     over or reports a serialisation failure. Every commit has a random number, so a
//     commit whose answer was lost is found instead of written twice.
//   - Bodies are JSON in UTF-8 and come back byte for byte; empty ones as nil.
//   - An acknowledged commit is as durable as the server's synchronous_commit says.
//
// # Schema
//
// The tables are in the schema "ragflow", or in the one that search_path in the URL names:
//
//	threads    name, owner, title, metadata; status and time of the head; head and active
//	           commit; counts; and the lease: token, holder, ttl, until
//	entries    one row a commit: parent, run, step, source, status, time, graph, frontier,
//	           error; its deltas as JSON; the text that its thread is found by; and the state
//	           after some commits, deflated
//	pending    results of finished tasks whose superstep was not committed
//	meta       version of the schema; last token of deleted threads
//
// Run and graph are stored only when they change, and at every 16th step; the view history has
// them in every row.
//
// The view log has a row for every delta, with its body as jsonb.
package postgres
