// Package model holds the skills that ask a language model: [Rewriter],
// [Grader], [Summarizer] and [Answerer]. They do what package offline does
// without one, behind the same interfaces.
//
//	answerer := model.NewAnswerer(chat, prompts.Set{}, model.Options{})
//	answer, err := answerer.Answer(ctx, task)
//
// Rules:
//
//   - A skill asks once, with a prompt of package prompts, and returns a whole
//     result or an error. It never falls back by itself: whoever wires the skills
//     decides what happens then, and says so.
//   - What people and documents wrote is wrapped in a boundary that is new for each
//     request and declared to be data.
//   - An answer cites passages, not chunks: of each source that a statement names,
//     the sentence that supports the statement best.
//   - A search query that names what neither the conversation nor the documents
//     know is dropped: it was made up.
//
// How it works: [prompts] renders and parses, an [llm.Chat] asks. Skills hold no
// state between calls and are safe for concurrent use where the chat is.
package model
