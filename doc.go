// Package ragflow answers questions from a person's own documents, in
// conversations that last. It needs no server, no key and no model.
//
//	a, err := ragflow.Open(ctx, ragflow.Config{DataDir: ".ragflow", Docs: []string{"docs"}})
//	reply, err := a.Ask(ctx, ragflow.Question{Text: "How do I continue a conversation?", Thread: "work"})
//	fmt.Println(reply.Answer) // every statement ends in [Source N]
//	fmt.Println(reply.Citations[0].Path, reply.Citations[0].StartLine)
//
// # One question, room by room
//
// Open reads no documents: it opens two databases in the data folder, threads.db
// (package checkpoint) and index.db (package index).
//
// The first question brings the index up to date (ingest.go). Package corpus
// walks the folder and cuts each new or changed page into chunks, which are
// exact slices of the file; package text makes terms of them; package index
// keeps both, and publishes a segment that is quick to search.
//
// Ask then compiles the flow (flow.go, the whole product at a glance) around
// one snapshot of the index and hands it to package graph. The engine takes a
// lease on the thread, folds the thread's log into a state.State, saves the
// question, and runs node after node (package nodes). Each reads the state and
// returns a state.Update; state.Apply puts it in; the store saves it; only then
// is it told.
//
// The nodes know what to do and leave the how to skills: understanding a
// follow-up, grading, reranking, summarising and answering are interfaces in
// package nodes, made without a model by package offline.
//
// The Reply (assemble.go) is made of what the run told as it went on, which is
// what the log holds. All else is read back from the log, now or a year later: the
// same Reply, histories (threads.go), answer.md and flow_trace.md (package
// transcript).
//
// # Doubts
//
// The grade tells whether the documents speak of what the question asks, not
// whether they answer it; a passage on the same topic passes.
package ragflow
