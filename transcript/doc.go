// Package transcript shows what a run did, from nothing but its log.
//
// A run leaves commits in its thread's log, each with the notes of its tasks.
// This package turns them into what a person reads:
//
//	r := transcript.Run{Thread: thread, ID: run, Commits: commits, State: final}
//	answer := transcript.AnswerMD(r, transcript.Options{})  // answer.md
//	flow := transcript.FlowTraceMD(r)                       // flow_trace.md
//	err := transcript.WriteJSON(os.Stdout, r)               // JSON lines
//
// [AnswerMD] is the answer with every [Source N] linked to the lines it comes
// from, and the quoted passages below it. [FlowTraceMD] has one section for
// each visit of a node, in order, the calls each model got, and a diagram of
// the path taken. [WriteJSON] writes the same facts for programs.
// [DebugLines] and [StageLines] tell of a single superstep while a run goes on.
//
// # Rules
//
// Everything is a pure function of the log: no clock, no file and no network is
// touched. A run rendered while it ends and rendered again a year later, from
// another process, gives the same bytes.
//
// Documents, questions and models are not trusted. Their text cannot add
// headings, table cells, HTML or images to what is rendered: in an answer, HTML
// and images outside code are shown as the text they are; quotes stand in code
// fences longer than any run of backticks in them; control characters, which
// could command a terminal, are replaced by their pictures (U+2400 and
// following).
//
// # How it works
//
// A store yields commits newest first; they are put in order and flattened into
// visits, one for each task of each superstep and one for each failed attempt.
// All renderings walk those visits.
package transcript
