// Package checkpoint keeps the commits of threads in a SQLite file. [SQLite]
// implements graph.Store and passes the conformance suite of graph/graphtest.
//
//	s, err := checkpoint.Open(ctx, "threads.db", checkpoint.Options{})
//	…
//	runner := plan.Runner(graph.Options{Store: s, Owner: checkpoint.ProcessOwner()})
//
// # Rules
//
//   - The log is the state. A thread is a line of commits, each with deltas. The
//     state is the newest snapshot with the deltas after it folded in.
//   - The head of a thread moves in the transaction that writes the commit, and
//     only under the newest lease and from the parent that the commit names.
//   - A live lease is respected. It can be taken over when it was released, has
//     ended, or its owner is a process that is known to be dead; see
//     [ProcessOwner]. A writer that lost its lease gets graph.ErrSuperseded.
//   - Bodies are JSON in UTF-8 and come back byte for byte; empty ones as nil.
//   - A commit that was acknowledged survives the death of the process. A power
//     failure may lose the last ones, unless [Options].Durability is [PowerLoss].
//   - Deleted and replaced content is overwritten with zeros. [SQLite.Vacuum], which
//     rewrites the whole file, gives free space back to the disk.
//   - A write to a file that was deleted or replaced is [ErrGone]; to one whose first page
//     was overwritten or whose end was cut off, [ErrDamaged].
//   - Other tools need SQLite 3.37 (2021) or newer to read the file.
//   - [SQLite.Backup] and [Restore] work while other processes use the store. A
//     plain copy of the file may lack commits that are still in the file "-wal".
//
// # Schema
//
//	threads    name, owner, title, metadata; status and time of the head; first, head and active
//	           commit; counts; and the lease: token, holder, ttl, until
//	tags       the metadata of threads again, by key and value
//	kinds      what many commits have in common: graph, source, status, frontier, and path, node
//	           and rank of their first delta; rows never change, and stay when threads are deleted
//	commits    one row a commit: parent, thread, kind, run, step, time, error; the rest of its
//	           first delta: start, duration, notes, problem, body; the text that its thread is
//	           found by; and the state after some commits as JSON, deflated
//	deltas     the others of commit at, at position n
//	pending    results of finished tasks whose superstep was not committed
//	meta       views (a hash of their texts); last commit and last token of deleted
//	           threads, which are not given again; sealing and key:ID if encrypted
//
// Ids of commits grow over all threads. A thread is read from its head back along the
// parents. A run is named only if it is not that of the parent. Times are microseconds
// since 1970; the start of a task is in nanoseconds relative to its commit.
//
// The view log has a row for every delta. Order it by commit_id and n:
//
//	log(thread, commit_id, n, step, source, status, run, path, node, rank, body, error, time)
//
// [Options].Views adds views that know what the bodies mean. A condition on thread
// reads that thread only.
//
// # Encryption
//
// With [Options].Keys the bodies, notes and errors of deltas, errors and texts of commits,
// snapshots, and the titles and metadata of threads are encrypted with AES-256-GCM, each with a random nonce. The
// additional data is the place: the names of the thread and the column, and the
// commit and position, or run, step, path, node, rank and attempt of a pending
// result. A record that is changed or moved to another place does not decrypt. Names
// of threads, owners, runs and nodes, ids, times, statuses and sizes are neither encrypted
// nor authenticated, and removed records are not noticed beyond what
// [SQLite.Verify] counts. Views show NULL for encrypted columns; an [Archive] is
// plain text. Each record names its key, and [SQLite.Rotate] encrypts the records of
// older keys again. A query for metadata or text decrypts what it reads, so it needs no
// plain text on the disk.
package checkpoint
