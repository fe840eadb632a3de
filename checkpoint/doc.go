// Package checkpoint keeps the commits of threads in a SQLite file. It
// implements graph.Store and passes the conformance suite of graph/graphtest.
//
//	s, err := checkpoint.Open(ctx, "threads.db", checkpoint.Options{})
//	…
//	lease, err := s.Acquire(ctx, "thread", graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Minute})
//	id, err := s.Commit(ctx, lease, graph.Batch{Commit: graph.Commit{Run: "run", Source: graph.SourceInput, …}})
//
// # Rules
//
//   - The log is the state. Commits are added, each along its parent, or pruned
//     from the oldest on ([Keeper]), a commit with the same state in their place;
//     state is what folding deltas onto the newest snapshot gives.
//   - The head of a thread moves in the transaction that writes the commit, and
//     only under the newest lease and from the parent that the commit names.
//   - A live lease is respected whoever asks. One that ended is taken over, and
//     at once one whose owner was a process of this host that died; see
//     [ProcessOwner]. Its last owner is told ErrSuperseded when it writes next.
//   - Bodies are JSON in UTF-8 and come back byte for byte; empty ones as nil.
//   - A commit that was acknowledged survives the death of the process. The
//     last ones may be lost when the machine loses power, unless
//     [Options].Durability says otherwise.
//
// # Reading with other tools
//
// The view log shows every delta on the line of every thread's head:
//
//	log(thread, commit_id, n, step, source, status, run, path, node, rank, body, error, time)
//
// Order it by commit_id and n. Long strings of a body stand in the table blobs;
// [TextSQL] gives the expression that finds them. [Options].Views adds views
// that know what the bodies mean:
//
//	CREATE VIEW said(thread, text) AS
//	SELECT thread, ⟨TextSQL("json_extract(body, '$.said')")⟩ FROM log ORDER BY commit_id, n
//
// A condition on thread costs that thread only.
//
// # Encryption
//
// With [Options].Keys bodies, notes, errors, snapshots and long texts are sealed
// by AES-256-GCM, each under a random nonce and bound to its place, so that none
// can be changed, or put in another's place, unseen. A record names its key, and
// [SQLite.Rotate] seals those of other keys anew. Equal long texts are found by a
// keyed hash. Names of threads, runs and nodes, ids, times, statuses and sizes stay
// readable; views show NULL for what is sealed; an [Export] is plain text.
//
// # How the file is laid out
//
//	names      id ↔ text of what comes again and again: nodes, paths, sources,
//	           statuses, fingerprints, frontiers (as JSON arrays)
//	threads    name, first, head, counts, and the lease: token, owner, ttl, until
//	runs       id ↔ key (a UUID as 16 bytes, else text), thread, newest commit (of the
//	           run that the thread's head belongs to, any: its newest is the head)
//	commits    id, parent, thread, run, step, source, status, time, graph, frontier, error;
//	           and the first delta: rank, path, node, body, failure, start, duration, notes
//	deltas     (commit, position) → rank, path, node, body, error, start, duration, notes:
//	           the other deltas, and all of commits of an older version
//	snapshots  commit → state as JSON, deflated
//	pending    results of tasks whose superstep was not committed
//	blobs      id → a string of a body that is longer than 256 bytes
//	blobkeys   (first 8 bytes of a blob's SHA-256, id), to find equal ones
//	meta       views: hash of the texts of all views; last commit, last token:
//	           the greatest that deleted threads had, never given again; of an
//	           encrypted store: sealing, hash key, and key:⟨id⟩ for each key needed
//
// Ids of commits grow by one over all threads. Times are microseconds since
// 1970; the start of a task is nanoseconds relative to its commit. In bodies,
// notes and snapshots a long string is replaced by "\u0001<id of the blob>", or
// by "\u0001=<id>" where the blob holds the string as JSON because encoding its
// text would not give the same bytes again. Strings that begin with \u0001
// themselves are always replaced, so that no string is mistaken for a marker.
// A string is stored once, however often it appears in deltas and snapshots.
// A sealed record is "\u0002⟨id of the key⟩:" and nonce and ciphertext, in base64
// but for snapshots.
//
// A turn of eight commits with two messages of 400 bytes takes about 1.8 KB,
// of which 1.1 KB are the messages and their ids; it costs the same in a thread
// of ten turns and of a thousand. Pruning and deleting drop texts that nothing
// refers to any more, at the price of looking at all bodies.
package checkpoint
