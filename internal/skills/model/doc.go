// Package model holds the skills that ask a language model: [Rewriter],
// [Grader], [Summarizer], [Answerer] and others. They do what package offline does
// without one, behind the same interfaces. [Setup] makes all of them for a turn.
//
//	skills := model.Setup{Models: model.Models{Chat: chat}, Stats: snapshot}.Skills(offlineSkills)
//
// Rules:
//
//   - A skill asks once, with a prompt of package prompts. If the model fails, or
//     the last one of an [llm.Fallback] does, the skill without a model does the work,
//     and the run's trace and warnings say so.
//   - Calls of models are noted with the graph's task under way.
//   - What people and documents wrote is wrapped in a boundary that is new for each
//     request and declared to be data.
//   - An answer cites passages, not chunks: the sentence of a named source that
//     supports the statement best.
//   - A search query that names what neither the conversation nor the documents
//     know is dropped: it was made up.
//
// How it works: [prompts] renders and parses, an [llm.Chat] asks. Skills hold no
// state between calls and are safe for concurrent use if the chat is.
package model
