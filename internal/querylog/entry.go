package querylog

import (
	"time"

	"example.com/ragflow/internal/redact"
	"example.com/ragflow/internal/text"
)

// Kinds of an [Entry].
const (
	Ask    = "ask"    // a question, answered or not
	Search = "search" // a search without an answer
	Lost   = "lost"   // says how many entries could not be written before it
)

// Values of Entry.Cached.
const (
	Same    = "same"
	Similar = "similar"
)

// Cancelled is the Error of a question that its asker ended.
const Cancelled = "cancelled"

// Entry is one question or search. Its JSON is what the database holds.
type Entry struct {
	ID          string    `json:"id"` // the run of a question, a UUID of its own for all others
	Time        time.Time `json:"time"`
	Kind        string    `json:"kind"`
	Thread      string    `json:"thread,omitempty"`
	Run         string    `json:"run,omitempty"`
	Owner       string    `json:"owner,omitempty"`
	Collections []string  `json:"collections,omitempty"` // none is the documents without a name

	Question  string  `json:"question,omitempty"`
	Answer    string  `json:"answer,omitempty"`
	Abstained bool    `json:"abstained,omitempty"`
	Certainty string  `json:"certainty,omitempty"` // a band of state.Band
	Chance    float64 `json:"chance,omitempty"`    // that the sources answer, 0.00–1.00
	Grade     float64 `json:"grade,omitempty"`
	Attempts  int     `json:"attempts,omitempty"` // of the retrieval
	Cached    string  `json:"cached,omitempty"`   // if the answer is from the cache: how the question, or the query, is related to that which it was made for

	Hits      int      `json:"hits"`
	Chunks    []string `json:"chunks,omitempty"` // ids of the first hits, best first
	Citations int      `json:"citations,omitempty"`
	Cited     []string `json:"cited,omitempty"` // paths of the cited files

	Model        string  `json:"model,omitempty"`
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`

	LatencyMS map[string]float64 `json:"latency_ms,omitempty"` // by node, and "total"
	Error     string             `json:"error,omitempty"`      // why there is no answer

	Lost int64 `json:"lost,omitempty"` // entries, of an entry of the kind Lost
}

// Bounds of an entry.
const (
	maxText   = 10_000 // runes of a question and of an answer
	maxError  = 500    // runes
	maxChunks = 100
	maxCited  = 50
)

// bounded returns the entry cut to its bounds, its error without secrets.
func (e Entry) bounded() Entry {
	e.Question, e.Answer = text.First(e.Question, maxText), text.First(e.Answer, maxText)
	e.Error = text.First(redact.Secrets(e.Error), maxError)
	e.Chunks, e.Cited = e.Chunks[:min(len(e.Chunks), maxChunks)], e.Cited[:min(len(e.Cited), maxCited)]
	return e
}
