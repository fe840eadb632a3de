// Package ragflow answers questions from a person's own documents, in
// conversations that last. It needs no server, no key and no model.
//
//	a, err := ragflow.Open(ctx, ragflow.Config{DataDir: ".ragflow", Docs: []string{"docs"}})
//	reply, err := a.Ask(ctx, ragflow.Question{Text: "How do I continue a conversation?", Thread: "work"})
//	fmt.Println(reply.Answer) // every statement ends in [Source N]
//	fmt.Println(reply.Citations[0].Path, reply.Citations[0].StartLine)
//
// # One question, package by package
//
// [Open] reads no documents. It opens two databases in the data folder:
// threads.db (package checkpoint) and index.db (package internal/index).
//
// The first question brings the index up to date ([Assistant.Library]). Package
// internal/load reads each new or changed file; package internal/chunk cuts it into chunks,
// which are exact slices of its text; package internal/text turns them into terms; package
// internal/index stores both and publishes a segment that is fast to search.
//
// A [Question] carries what it may choose itself: thread, collections, filter and [Settings].
// [Assistant.Stream] makes a turn of it (turn.go): the skills and settings of this question
// over one snapshot of the index. The graph of flow.go was compiled once; its nodes find
// their turn in the context. Package graph takes the lease of the thread, folds the log of
// the thread into a state.State, saves the question, and runs one node after the other. Each
// node reads the state and returns a state.Update; state.Apply applies it; the store saves
// it; then readers get the [Event].
//
// The nodes decide what happens and leave the how to skills: package nodes declares an
// interface for each, package internal/skills/offline implements them without a model,
// package internal/skills/model with one. Package search finds the passages.
//
// The last event has the [Reply]. The log holds the same facts, so events, replies, histories
// (package threads) and traces (package internal/transcript) can be read again at any time.
// A run continues when its reader leaves, if it was begun by [Runs.Start].
//
// # Many guests
//
// One Assistant serves many people: [OwnedBy] says whose call it is, and threads of others
// are not found. examples/twousers serves two users over HTTP in 78 lines.
//
// # Limits
//
// The grade estimates whether the documents are about the question, not whether
// they answer it. A passage on the same topic may pass.
package ragflow
