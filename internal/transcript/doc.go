// Package transcript renders a run for people and programs, from its log alone.
//
// The commits of a run hold the notes of its tasks. This package renders them:
//
//	r := transcript.Run{Thread: thread, ID: run, Commits: commits, State: final}
//	answer := transcript.AnswerMD(r, transcript.Options{})  // answer.md
//	flow := transcript.FlowTraceMD(r)                       // flow_trace.md
//
// [AnswerMD] returns the answer with a link from every [Source N] to its quoted passages below. [FlowTraceMD]
// returns a summary of five lines, the passages that competed, one section for each visit of a node, and the
// calls of each model. [DebugLines] and [StageLines] describe one superstep while a run is in progress.
//
// # Rules
//
// Everything is a pure function of the log, without clock, files or network. The same run gives the same
// bytes at any time and in any process.
//
// Documents, questions and models are not trusted. Their text cannot add headings, table cells, HTML or
// images to the output. In an answer, HTML, images and links outside code are shown as text: see sanitize.Filter.
// Quotes are in code fences longer than any run of backticks in them. Control characters, which could control
// a terminal, are replaced by their pictures (U+2400 and following).
//
// # How it works
//
// A store yields commits newest first. They are sorted and flattened into visits: one for each task of each
// superstep and one for each failed attempt. All renderings use these visits.
package transcript
