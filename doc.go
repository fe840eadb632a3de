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
// internal/load reads each new or changed file; package ingest/chunk cuts it into
// chunks, which are exact slices of its text; package search/text makes terms of them; package
// internal/index stores both and publishes a segment that is fast to search.
//
// [Assistant.Ask] compiles the graph of flow.go for one snapshot of the index
// and runs it with package graph. The engine takes the lease of the thread,
// folds the thread's log into a state.State, saves the question, and runs one
// node after the other. Each node reads the state and returns a state.Update;
// state.Apply applies it; the store saves it; then listeners hear of it.
//
// The nodes decide what happens and leave the how to skills: package nodes
// declares an interface for each, package internal/skills/offline implements them without
// a model, package internal/skills/model with one. Package search finds the passages.
//
// The [Reply] is built from the events of the run. The log holds the same facts,
// so replies, histories (package threads) and traces (package internal/transcript) can be
// read back at any time.
//
// # Limits
//
// The grade estimates whether the documents are about the question, not whether
// they answer it. A passage on the same topic may pass.
package ragflow
