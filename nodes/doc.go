// Package nodes holds the seven nodes of the conversation graph, one file each.
//
// A node reads a [state.State] and returns what should change. The work itself
// is done by skills ([Searcher], [Rewriter], [Grader], [Reranker], [Summarizer],
// [Answerer]) that are handed to the constructors, so a node can be tested with
// two literals:
//
//	run := nodes.PreRetrieval(rewriter)
//	update, err := run(ctx, state.State{Turn: state.Turn{Query: "How do I install it?"}})
//
// Rules:
//
//   - Nodes hold no per-run state: one node serves all threads side by side.
//   - The same state, skills and index give the same update, byte for byte. The
//     clock and the ids of messages are settings.
//   - What went in and out is noted through [graph.Note] in a fixed order, with
//     short keys and one-line values; a trace shows exactly that.
//   - A failing skill fails the node. Nothing falls back silently.
//
// The order of the nodes is Order; who follows whom is the flow's business,
// apart from the one decision made here: [AfterCheck].
package nodes
