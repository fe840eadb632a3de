package nodes

import (
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Node is a node of the conversation graph.
type Node = graph.Node[state.State, state.Update]

// IDs of the nodes. Code, files, prompts and traces use the same word.
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
	MaxQueryRunes     = 10_000 // runes of a question; longer questions are cut, with a warning
	MaxQueries        = 3      // queries per retrieval attempt
	maxAdded          = 7      // queries of transforms, beyond those
	TopK              = 50     // hits per query
	maxHits           = 60     // hits after fusion
	maxAttempts       = 2      // retrieval attempts per turn
	gradedChunks      = 3      // chunks that are graded; a model sees only these
	FeedbackChunks    = 10     // chunks that may supply words for the refined query
	maxCandidates     = 30     // chunks that the reranker gets
	MaxSources        = 6      // chunks in the context
	maxPerDocument    = 3      // chunks of one document in the context
	MaxContextTokens  = 4000   // tokens of the context, labels included
	liveAfterSummary  = 2      // messages that stay live after a summary
	citedShare        = 0.2    // share of a query's weight for the list of earlier citations
	contextSimilarity = 0.85   // chunks more similar than this count as one source
)

// noteRunes is the maximum length of a text in a note.
const noteRunes = 160

// oneLine shortens s to one line for a note.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if cut := text.First(s, noteRunes); cut != s {
		return cut + "…"
	}
	return s
}

// place returns the position of a chunk for a note: path and lines, or path and
// page, or path and byte range.
func place(c state.Chunk) string {
	switch {
	case c.Page > 0:
		return fmt.Sprintf("%s#page=%d", c.Source, c.Page)
	case c.StartLine == 0:
		return fmt.Sprintf("%s@%d-%d", c.Source, c.Start, c.End)
	}
	return fmt.Sprintf("%s:%d-%d", c.Source, c.StartLine, c.EndLine)
}

// madeBy returns the name of a skill, or "".
func madeBy(skill any) string {
	if m, ok := skill.(maker); ok {
		return m.By()
	}
	return ""
}
