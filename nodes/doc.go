// Package nodes holds the seven nodes of the conversation graph, one file each.
//
// A node reads a [state.State] and returns what should change. The work itself
// is done by skills ([Searcher], [Rewriter], [Grader], [Reranker], [Summarizer],
// [Answerer]). The constructors take them as arguments, so a test of a node needs
// only two literals:
//
//	run := nodes.PreRetrieval(rewriter)
//	update, err := run(ctx, state.State{Turn: state.Turn{Query: "How do I install it?"}})
//
// Rules:
//
//   - A node keeps no state of a run: one node serves all threads concurrently.
//   - The same state, skills and index give the same update, byte for byte. The
//     clock and the ids of messages are settings.
//   - A node records its input and result with [graph.Note], in a fixed order, with
//     short keys and one-line values. A trace shows exactly these notes.
//   - When a skill fails, its node fails. There is no silent fallback.
//
// [Order] lists the nodes. The graph in the root package connects them. One routing
// decision is made here: [AfterCheck]. How sure an answer is, and what becomes of one, is
// decided in policy.go.
package nodes
