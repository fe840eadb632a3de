package nodes

import (
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Node is a node of the conversation graph.
type Node = graph.Node[state.State, state.Update]

// Ids of the nodes: the same word in code, files, prompts and traces.
const (
	IngestID                = "ingest"
	PreRetrievalID          = "pre_retrieval"
	RetrievalID             = "retrieval"
	CheckAndRefineID        = "check_and_refine"
	PostRetrievalID         = "post_retrieval"
	SummarizeConversationID = "summarize_conversation"
	GenerateID              = "generate"
)

// Order returns the ids of all nodes in canonical order.
func Order() []string {
	return []string{
		IngestID, PreRetrievalID, RetrievalID, CheckAndRefineID,
		PostRetrievalID, SummarizeConversationID, GenerateID,
	}
}

// Defaults of the settings that the constructors take.
const (
	DefaultThreshold     = 0.5  // RELEVANCE_THRESHOLD
	DefaultWorkers       = 4    // RETRIEVAL_MAX_WORKERS
	DefaultSummaryTokens = 1500 // MAX_MESSAGES_BEFORE_SUMMARY
	DefaultContentTokens = 4096 // MAX_CONTENT_TOKENS
)

// Limits that are not settings.
const (
	MaxQueryRunes     = 10_000 // of a question; the rest is cut, with a warning
	MaxQueries        = 3      // of an attempt
	TopK              = 50     // hits of each query
	MaxHits           = 60     // fused hits that are kept
	MaxAttempts       = 2      // retrievals of a turn
	GradedChunks      = 3      // that are graded; a model is shown these
	FeedbackChunks    = 10     // that a grader may take words from for the refined query
	Candidates        = 30     // that the reranker is shown
	MaxSources        = 6      // chunks of the context
	MaxPerDocument    = 3      // chunks of one document in the context
	MaxContextTokens  = 4000   // of the context, labels included
	LiveAfterSummary  = 2      // messages that stay when the others are summarised
	citedShare        = 0.2    // of a query's weight, for the list of what earlier answers cited
	contextSimilarity = 0.85   // chunks this alike are one source
)

// noteRunes is how much of a text a note shows.
const noteRunes = 160

// oneLine makes a short single line of s for a note.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if cut := text.First(s, noteRunes); cut != s {
		return cut + "…"
	}
	return s
}

// place names a chunk for a note: path and lines, or the page, or else the bytes
// of its text.
func place(c state.Chunk) string {
	switch {
	case c.Page > 0:
		return fmt.Sprintf("%s#page=%d", c.Source, c.Page)
	case c.StartLine == 0:
		return fmt.Sprintf("%s@%d-%d", c.Source, c.Start, c.End)
	}
	return fmt.Sprintf("%s:%d-%d", c.Source, c.StartLine, c.EndLine)
}

// by tells what does the work of a skill, where the skill says so.
func by(skill any) string {
	if m, ok := skill.(Maker); ok {
		return m.By()
	}
	return ""
}
