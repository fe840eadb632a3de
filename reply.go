package ragflow

import (
	"strings"
	"time"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// Question is one turn of a conversation.
type Question struct {
	Text   string // at most 10,000 runes are used
	Thread string // the conversation it belongs to; empty begins a new one
	Resume bool   // go on with the thread's unfinished run instead; Text must be empty
	Trace  bool   // fill in Reply.AnswerMD and Reply.FlowTraceMD
}

// Reply is the answer to a question, and all that led to it. Its JSON is the
// schema of `ragflow ask --json`.
type Reply struct {
	ThreadID  string             `json:"thread_id"`
	RunID     string             `json:"run_id"`
	Begun     time.Time          `json:"begun"` // UTC
	Question  string             `json:"question"`
	Answer    string             `json:"answer"`
	Abstained bool               `json:"abstained"`
	Grade     GradeReply         `json:"grade"`
	Citations []CitationReply    `json:"citations"`
	Retrieved []HitReply         `json:"retrieved"` // every fused hit in rank order, before the cut to the context
	Queries   []state.Query      `json:"queries"`
	Quality   Quality            `json:"quality"`
	Chunks    ChunkCounts        `json:"chunks"`
	Model     string             `json:"model"` // what wrote the answer; "offline" without a model
	Usage     Usage              `json:"usage"`
	CostUSD   float64            `json:"cost_usd"`
	LatencyMS map[string]float64 `json:"latency_ms"` // per node, and "total"
	Warnings  []string           `json:"warnings"`

	// Context is the sources that the answer was made from, as Config.Context
	// assembles them: [Source N] is the N of the citations. It is there to ask
	// another model with.
	Context       string `json:"-"`
	SourcesHeader string `json:"-"` // "Sources", in the language of the answer
	ChangedNotice string `json:"-"` // what to say of a citation whose Changed is set, in the language of the answer
	AnswerMD      string `json:"-"` // answer.md, where asked for
	FlowTraceMD   string `json:"-"` // flow_trace.md, where asked for
}

// GradeReply is the verdict on what was found.
type GradeReply struct {
	Score    float64 `json:"score"`    // 0.00–1.00
	Attempts int     `json:"attempts"` // retrievals done: 1, or 2 after a retry
	Refined  string  `json:"refined"`  // the query of the retry; empty without one
}

// Quality is how far the sources say what the answer says, as package cite
// checks it. The shares are within 0 and 1, and 1 where there was nothing to get
// wrong. Answers kept before there was a check have no claims.
type Quality = state.Quality

// ChunkCounts tells how many chunks went how far.
type ChunkCounts struct {
	Total         int `json:"total"`          // in the index; 0 where none is open
	Retrieved     int `json:"retrieved"`      // hits of all searches, fused
	Context       int `json:"context"`        // given to the answer
	Used          int `json:"used"`           // cited by it
	ContextTokens int `json:"context_tokens"` // of those given to the answer
}

// CitationReply is a passage that the answer leans on: Quote stands in Source
// at bytes Start to End, lines StartLine to EndLine or pages Page to EndPage.
type CitationReply struct {
	N         int     `json:"n"`
	Source    string  `json:"source"` // path under the folder given
	Path      string  `json:"path"`   // the file itself
	Title     string  `json:"title"`
	Start     int     `json:"start"`
	End       int     `json:"end"`
	StartLine int     `json:"start_line"` // 0 where the file has no lines
	EndLine   int     `json:"end_line"`
	Page      int     `json:"page,omitempty"`     // that the quote begins on, from 1; absent where the file has no pages
	EndPage   int     `json:"end_page,omitempty"` // that it ends on
	Pages     string  `json:"-"`                  // both in words, in the language of the answer: page 12
	Quote     string  `json:"quote"`
	Score     float64 `json:"score"`
	Chunk     string  `json:"chunk_id"`
	Hash      string  `json:"hash"`          // SHA-256 of the chunk's text, in hex
	Changed   bool    `json:"changed"`       // the file does not say this any more, or is gone
	URL       string  `json:"url,omitempty"` // where the document says it is published, https; absent where it does not
	// Metadata is what the document says of itself now, in front matter or a file beside
	// it, each value of its kind; absent where it says nothing or left the index.
	Metadata state.Metadata `json:"metadata,omitempty"`
}

// HitReply is one retrieved chunk.
type HitReply struct {
	ChunkID string      `json:"chunk_id"`
	Source  string      `json:"source"`
	Score   float64     `json:"score"`
	Legs    []state.Leg `json:"legs"`
}

// Usage counts what models were asked.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Calls        int64 `json:"calls"`
}

// SearchReply is the schema of `ragflow search --json`.
type SearchReply struct {
	Query   string        `json:"query"`
	Phrases []string      `json:"phrases,omitempty"` // in quotes in the query: each hit holds them
	Without []string      `json:"without,omitempty"` // behind a minus in the query: no hit holds them
	Filter  *state.Filter `json:"filter,omitempty"`
	Hits    []SearchHit   `json:"hits"`

	Duplicates int           `json:"duplicates,omitempty"` // hits left out because a better one says nearly the same: 0.95 and more of its words
	Facets     []index.Facet `json:"facets,omitempty"`     // as asked for
	Warnings   []string      `json:"warnings,omitempty"`   // why the dense search did not take part, or not wholly
	Note       string        `json:"note,omitempty"`       // says that a leg counts less than it usually does

	// Expanded is what Config.Dictionary adds to the query.
	Expanded []Expansion `json:"expanded,omitempty"`
	// Respelled are words of the query that no document has, with what was
	// searched for besides.
	Respelled []Respelled `json:"searched_also,omitempty"`
}

// Respelled is a word that no document has, with the terms spelled almost like it
// that are searched for besides, at a lower weight.
type Respelled struct {
	Word  string   `json:"word"`  // as written
	Terms []string `json:"terms"` // as indexed: without endings
}

// SearchHit is one passage found, with its place and text.
type SearchHit struct {
	Rank      int         `json:"rank"`
	ChunkID   string      `json:"chunk_id"`
	Source    string      `json:"source"`
	Path      string      `json:"path"`
	Title     string      `json:"title"`
	Headings  []string    `json:"headings"`
	Start     int         `json:"start"`
	End       int         `json:"end"`
	StartLine int         `json:"start_line"` // 0 where the file has no lines
	EndLine   int         `json:"end_line"`
	Page      int         `json:"page,omitempty"`     // that it begins on, from 1; absent where the file has no pages
	EndPage   int         `json:"end_page,omitempty"` // that it ends on
	Pages     string      `json:"-"`                  // both in words: page 12
	Text      string      `json:"text"`
	Score     float64     `json:"score"`
	Legs      []state.Leg `json:"legs"`
	Cut       state.Cut   `json:"cut,omitzero"` // what cut the passage, and what it knows of it
	// Metadata is what the document says of itself: front matter, or the file beside it.
	Metadata state.Metadata `json:"metadata,omitempty"`
	// RerankScore is what reranking gave, which the order goes by then; nil where
	// nothing was reranked, or this one stands behind what was. A model's is within
	// 0 and 1; offline it is the chance that this is the passage asked for.
	RerankScore *float64     `json:"rerank_score,omitempty"`
	Snippet     SnippetReply `json:"snippet"`
}

// SnippetReply is the stretch of a passage that says most of what was asked for.
// Places are bytes of the document, as Start and End of the hit are.
type SnippetReply struct {
	Text  string       `json:"text"`
	Start int          `json:"start"`
	End   int          `json:"end"`
	Marks []index.Mark `json:"marks"` // words of the query
}

// IndexReport tells what indexing did. Its JSON is the schema of `ragflow index --json`.
type IndexReport struct {
	Roots     []string      `json:"roots"`     // absolute paths
	Files     int           `json:"files"`     // that the index holds now
	Chunks    int           `json:"chunks"`    // that the index holds now
	Added     int           `json:"added"`     // files
	Changed   int           `json:"changed"`   // files
	Removed   int           `json:"removed"`   // files
	Unchanged int           `json:"unchanged"` // files
	Skipped   []FileProblem `json:"skipped"`   // files that hold no text for us: binary, too large
	Failed    []FileProblem `json:"failed"`    // files that could not be read
	Warned    []FileProblem `json:"warned"`    // files that were read, but not as they are: broken front matter, another encoding
	ElapsedMS float64       `json:"elapsed_ms"`
	Dense     *DenseReport  `json:"dense,omitempty"` // nil without an embedder
}

// FileProblem says what is wrong with a file.
type FileProblem struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
}

// StageEmbedding is the stage of [Progress] that counts passages.
const StageEmbedding = "embedding"

// What became of a file.
const (
	FileAdded   = "added"
	FileChanged = "changed"
	FileRemoved = "removed"
)

// FileChange is a file that came into the index, changed there, or left it.
type FileChange struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	What   string `json:"what"` // added, changed or removed
}

// OtherKind reports whether a file was left out because nothing reads its kind.
func (p FileProblem) OtherKind() bool {
	return strings.HasPrefix(p.Reason, load.ErrNoLoader.Error())
}

// Progress reports long work while it goes on.
type Progress struct {
	Stage string // scanning, indexing, publishing or embedding
	Done  int    // files; passages while embedding
	Total int    // of the same; 0 while unknown
	Bytes int64  // read so far
}

// Explanation shows what became of a query (REQUIREMENTS Q12). Its JSON is the schema of `ragflow explain --json`.
type Explanation struct {
	Original   string        `json:"original"`
	Cleaned    string        `json:"cleaned"`
	Tokens     []TermReply   `json:"tokens"`
	Language   string        `json:"language"`
	Domain     string        `json:"domain"` // the folder most of the best hits lie in
	Intent     string        `json:"intent"` // the question type: how-to, definition, yes/no, …
	Route      string        `json:"route"`
	Complexity float64       `json:"complexity_score"` // 0–1
	Standalone bool          `json:"standalone"`
	Queries    []state.Query `json:"queries"`
	Respelled  []Respelled   `json:"searched_also,omitempty"`
	Expanded   []Expansion   `json:"expanded,omitempty"` // what dictionaries and everyday synonyms add
	Best       *BestPassage  `json:"best,omitempty"`     // nil where nothing is found or nothing is searched for
	Warnings   []string      `json:"warnings"`
}

// BestPassage tells of the passage that the best query finds first, in a search
// by words, and how it was cut.
type BestPassage struct {
	ChunkID   string    `json:"chunk_id"`
	Source    string    `json:"source"`
	StartLine int       `json:"start_line"` // from 1; 0 where the document has no lines
	EndLine   int       `json:"end_line"`
	Page      int       `json:"page,omitempty"` // from 1; 0 where the document has no pages
	Headings  []string  `json:"headings"`
	Tokens    int       `json:"tokens"` // of its text, by text.Estimate
	Cut       state.Cut `json:"cut"`
}

// TermReply is one term the analyzer made of a query.
type TermReply struct {
	Text      string  `json:"text"` // as written
	Term      string  `json:"term"` // as searched
	Documents int     `json:"documents"`
	IDF       float64 `json:"idf"`
}
