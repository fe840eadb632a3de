// Package state holds the nouns of a conversation: messages, the state of a
// thread, the updates that change it and the one function that applies them.
//
// Everything here is plain data that encoding/json writes and reads back
// without loss. Values are shared between goroutines and never written to once
// they are part of a State.
package state

import "strings"

// MaxRecent is how many exchanges State.Recent keeps.
const MaxRecent = 5

// State is what a thread knows. Messages, Summary and Recent live from turn to
// turn; Turn is the scratch of the turn under way.
type State struct {
	Messages []Message  `json:"messages,omitempty"` // live ones; older ones are in Summary and in the store's history
	Summary  string     `json:"summary,omitempty"`  // running summary of the messages that left the live state
	Recent   []Exchange `json:"recent,omitempty"`   // the last five turns, oldest first; summarising leaves them alone
	Turn     Turn       `json:"turn,omitzero"`
}

// Exchange is what later turns need to know of an earlier one to understand a
// follow-up.
type Exchange struct {
	Question string   `json:"question"`
	Terms    []string `json:"terms,omitempty"`  // the words of the answer that carry most information, best first
	Chunks   []string `json:"chunks,omitempty"` // ids of the chunks it cited, those of an answer that abstained too
	Told     []Told   `json:"told,omitempty"`   // how far it quoted chunks, those of an answer that abstained too
	Items    []string `json:"items,omitempty"`  // of the first list in the answer, in its order: "the second one" is Items[1]
	Offer    string   `json:"offer,omitempty"`  // the question that the answer ends with, for a "yes"
}

// Memory is what a thread remembers when a turn begins.
type Memory struct {
	Recent   []Exchange // the last turns, oldest first
	Summary  string     // of the messages that left the live state
	Messages []Message  // live ones, oldest first; the question under way may be the last
}

// Memory is what s remembers.
func (s State) Memory() Memory {
	return Memory{Recent: s.Recent, Summary: s.Summary, Messages: s.Messages}
}

// Turn is the scratch of one turn, filled node by node. ingest clears it.
type Turn struct {
	Query     string     `json:"query,omitempty"`    // the question, cleaned
	Language  string     `json:"language,omitempty"` // of the question, ISO 639-1
	Route     string     `json:"route,omitempty"`    // search, chitchat or meta
	Queries   []Query    `json:"queries,omitempty"`  // what is searched for; the first is the raw turn
	Attempts  int        `json:"attempts,omitempty"` // retrievals done
	Hits      []Hit      `json:"hits,omitempty"`     // of all attempts, fused, best first
	Grade     Grade      `json:"grade,omitzero"`
	Sources   []Source   `json:"sources,omitempty"` // the context given to generate; Source N is Sources[N-1]
	Answer    string     `json:"answer,omitempty"`
	Citations []Citation `json:"citations,omitempty"`
	Abstained bool       `json:"abstained,omitempty"` // the documents do not hold the answer
	Model     string     `json:"model,omitempty"`     // what wrote the answer; "offline" without a model
	Quality   Quality    `json:"quality,omitzero"`    // how far the sources say what the answer says; zero where nothing was checked
}

// Quality is what the check of an answer found: package cite tells how. The
// shares are within 0 and 1, and 1 where there was nothing to get wrong.
type Quality struct {
	Faithfulness      float64 `json:"faithfulness"`       // claims that a source says, of all claims
	CitationPrecision float64 `json:"citation_precision"` // marks whose source says the claim, of all marks
	CitationRecall    float64 `json:"citation_recall"`    // claims with a mark, of all claims

	Claims    int `json:"claims"`    // statements of the answer that can be checked
	Unchecked int `json:"unchecked"` // of these, in another language than their sources: only figures, codes and names were

	// What was put right before the answer was given.
	Invalid     int `json:"invalid"`     // marks of sources that do not exist, taken out
	Reattached  int `json:"reattached"`  // claims that were given the source that says them
	Unsupported int `json:"unsupported"` // claims that no source says, marked so
	Dropped     int `json:"dropped"`     // such claims, taken out in strict mode
}

// Route values.
const (
	RouteSearch   = "search"   // look it up in the documents
	RouteChitchat = "chitchat" // a greeting or thanks; nothing is searched
	RouteMeta     = "meta"     // about the conversation or the program itself
)

// Query is one search. Its words weigh 1 each; Boosts add words that the
// conversation suggests.
type Query struct {
	Text    string  `json:"text"`
	Boosts  []Boost `json:"boosts,omitempty"`
	Weight  float64 `json:"weight"`  // of its list in the fusion
	Why     string  `json:"why"`     // for the trace
	Attempt int     `json:"attempt"` // 1, or 2 for the refined query of the retry
	// Cited are ids of chunks that earlier answers cited, best first: candidates
	// beside what the search finds, as a list of their own with a small weight.
	Cited []string `json:"cited,omitempty"`
	// Told says how far chunks were told already, so that "more" goes on behind.
	Told []Told `json:"told,omitempty"`
	// Phrases must stand in a passage, its headings or its title, word by word;
	// Without must not, as words or as phrases of several. Who searches by a query
	// asks index.Searcher.Matching for that.
	Phrases []string `json:"phrases,omitempty"`
	Without []string `json:"without,omitempty"`
}

// Told says that a chunk was quoted up to a byte of its document.
type Told struct {
	Chunk string `json:"chunk"` // id
	End   int    `json:"end"`   // first byte of the document that was not told
}

// Boost is text whose words take part in a query with their own weight. A word
// that stands in the query itself, or in several boosts, has the greatest of
// its weights.
type Boost struct {
	Text   string  `json:"text"`
	Weight float64 `json:"weight"` // above 0; 1 counts as much as a word of the query
}

// Hit is a chunk that a search found. It holds no text: see nodes.Searcher.
type Hit struct {
	Chunk string  `json:"chunk"` // id
	Score float64 `json:"score"` // of the fused list; comparable within one list only
	Legs  []Leg   `json:"legs,omitempty"`
}

// Leg tells where a hit came from: one entry a list that held it.
type Leg struct {
	Name  string  `json:"name"`  // lexical, dense, …
	Query int     `json:"query"` // index into Turn.Queries
	Rank  int     `json:"rank"`  // from 1
	Score float64 `json:"score"` // as the leg gave it
	// Share is how much of its query's weight this list has, within 0 and 1,
	// where several legs searched for the query; 0 where this one has it all.
	Share  float64 `json:"share,omitempty"`
	*Trail         // of a hit that links led to; nil: they did not
}

// Trail tells how links led to a hit. It is shared, and nobody writes to it.
type Trail struct {
	// Via is the source of the document that the last link is of, Relation what kind of
	// link it is. It leads to the hit's document, or from it where Reverse is set.
	Via      string `json:"via,omitempty"`
	Relation string `json:"relation,omitempty"`
	Reverse  bool   `json:"reverse,omitempty"`
	// Hops is how many links were followed, and From the source of the hit's document
	// that it began with.
	Hops int    `json:"hops,omitempty"`
	From string `json:"from,omitempty"`
}

// Linked reports whether links led to the hit.
func (l Leg) Linked() bool { return l.Trail != nil && l.Via != "" }

// Of returns the leg's part of the weight of its query.
func (l Leg) Of(weight float64) float64 {
	if l.Share == 0 {
		return weight
	}
	return weight * l.Share
}

// Grade is how well what was found fits the question.
type Grade struct {
	Score   float64 `json:"score"`             // 0.00–1.00; 0.50 and more passes
	Refined *Query  `json:"refined,omitempty"` // what to search for instead; nil where nothing better is known
	By      string  `json:"by,omitempty"`      // the grader: offline, or the model
	Why     string  `json:"why,omitempty"`     // for the trace
}

// Chunk is a piece of a document: Text == document[Start:End], in bytes of its
// extracted UTF-8 text, which for Markdown, plain text and code is the file. Of a
// page of HTML the text is what a reader sees; StartLine, EndLine and Lines then
// still are lines of the file itself. A PDF has pages and no lines: StartLine and
// EndLine are 0. So they are in formats that have neither, such as DOCX.
type Chunk struct {
	ID        string   `json:"id"`               // UUID version 5 of source and span
	Root      string   `json:"root,omitempty"`   // absolute path of the folder or file that was indexed
	Source    string   `json:"source"`           // path under Root, with slashes
	Title     string   `json:"title"`            // of the document
	Headings  []string `json:"headings"`         // path of headings down to the chunk, outermost first
	Text      string   `json:"text"`             // never empty
	Start     int      `json:"start"`            // byte offset in the document
	End       int      `json:"end"`              // first byte after the chunk
	StartLine int      `json:"start_line"`       // from 1; 0 where the file has no lines
	EndLine   int      `json:"end_line"`         // inclusive
	Page      int      `json:"page,omitempty"`   // that Start lies on, from 1; 0 where the file has no pages
	Breaks    []int    `json:"breaks,omitempty"` // byte offsets in the document, within the chunk, where the pages behind Page begin; nil where it lies on one
	Lines     []int    `json:"lines,omitempty"`  // the line of the file each line of Text begins in; nil where they follow each other
	Kind      string   `json:"kind,omitempty"`   // text, code, table or list where it is one block, else mixed
	Ordinal   int      `json:"ordinal"`          // position among the document's chunks, from 0
	Hash      string   `json:"hash,omitempty"`   // SHA-256 of Text, in hex

	Cut Cut `json:"cut,omitzero"` // how it was cut out of its document

	// What the document says of itself; empty where it says nothing.
	URL          string `json:"url,omitempty"` // where it is published, https
	DocumentType string `json:"document_type,omitempty"`
	DocumentID   string `json:"document_id,omitempty"`

	// Metadata is all that the document says of itself. The index gives it with a
	// chunk; a conversation does not keep it.
	Metadata Metadata `json:"-"`
}

// LineAt returns the line of the file that a line of the chunk's text, counted
// from 0, begins in; 0 where the file has no lines.
func (c Chunk) LineAt(line int) int {
	switch {
	case len(c.Lines) > 0:
		return c.Lines[min(line, len(c.Lines)-1)]
	case c.StartLine == 0:
		return 0
	}
	return c.StartLine + line
}

// PageAt returns the page that a byte of the document lies on, as far as the
// chunk knows; 0 where the file has no pages.
func (c Chunk) PageAt(offset int) int {
	page := c.Page
	for _, b := range c.Breaks {
		if b > offset {
			break
		}
		page++
	}
	return page
}

// Part is the chunk's text from one byte to another: still the document from
// Start to End, with its lines and pages. The id and the hash stay, which are
// the chunk's. The arguments are offsets in Text, from before to.
func (c Chunk) Part(from, to int) Chunk {
	before := strings.Count(c.Text[:from], "\n")
	within := strings.Count(strings.TrimSuffix(c.Text[from:to], "\n"), "\n")
	start, end := c.Start+from, c.Start+to
	first, last := c.LineAt(before), c.LineAt(before+within)
	c.Page, c.Breaks = c.PageAt(start), breaksWithin(c.Breaks, start, end)
	if len(c.Lines) > 0 {
		c.Lines = c.Lines[min(before, len(c.Lines)-1):min(before+within+1, len(c.Lines))]
	}
	c.Text, c.Start, c.End, c.StartLine, c.EndLine = c.Text[from:to], start, end, first, max(first, last)
	return c
}

// breaksWithin are those of ascending offsets that lie behind start and before
// end.
func breaksWithin(breaks []int, start, end int) []int {
	for len(breaks) > 0 && breaks[0] <= start {
		breaks = breaks[1:]
	}
	for len(breaks) > 0 && breaks[len(breaks)-1] >= end {
		breaks = breaks[:len(breaks)-1]
	}
	if len(breaks) == 0 {
		return nil
	}
	return breaks
}

// Cut tells how a chunk was cut out of its document, and what the chunker knows
// of it. Zero for chunks of before this was noted.
type Cut struct {
	Chunker string `json:"chunker,omitempty"` // that cut the document; what adaptive chose
	Level   int    `json:"level,omitempty"`   // of the innermost heading of Markdown, from 1; 0 above the first one
	Inside  string `json:"inside,omitempty"`  // the line that opens the block of code that the chunk begins in the middle of

	Sentences int `json:"sentence_count,omitempty"` // of the semantic chunker

	// Of source code.
	Language    string `json:"language,omitempty"`         // go, python, …
	Declaration string `json:"declaration_type,omitempty"` // function_declaration, class_declaration, …; empty between declarations
	Name        string `json:"name,omitempty"`             // that is declared; of Go methods behind the type
}

// Document names a document of an index.
type Document struct {
	Source string // path under its root, with slashes
	Title  string
}

// Source is a chunk that is part of the context, with the score that put it
// there.
type Source struct {
	Chunk
	Score float64 `json:"score"`
}

// Citation ties a statement of the answer to the passage that says it.
type Citation struct {
	N         int     `json:"n"` // the N of [Source N]
	Source    string  `json:"source"`
	Root      string  `json:"root,omitempty"`
	Title     string  `json:"title"`
	Start     int     `json:"start"` // of the quote, byte offset in the document
	End       int     `json:"end"`
	StartLine int     `json:"start_line"` // 0 where the file has no lines
	EndLine   int     `json:"end_line"`
	Page      int     `json:"page,omitempty"`     // that the quote begins on, from 1; 0 where the file has no pages
	EndPage   int     `json:"end_page,omitempty"` // that it ends on
	Quote     string  `json:"quote"`              // document[Start:End]
	Score     float64 `json:"score"`
	Chunk     string  `json:"chunk"`         // id
	Hash      string  `json:"hash"`          // of the chunk
	URL       string  `json:"url,omitempty"` // where the document says it is published, https; empty where it does not
}

// Plan is what a rewriter makes of a turn.
type Plan struct {
	Language   string
	Route      string
	Standalone bool    // the turn needs no history
	Queries    []Query // one to three; the first is the raw turn
}

// Task is what an answerer is given.
type Task struct {
	Question string
	Language string
	Route    string
	Queries  []Query // how the question was understood
	Sources  []Source
	Grade    Grade
	Summary  string
	Messages []Message // trimmed to the budget, oldest first; the last is the question
	Metadata bool      // and what kind of documents they are
	Scores   bool      // an answerer that shows sources to a model tells their scores, too
	Asked    []string  // the newest earlier questions, oldest first, those no message holds any more too
}

// Answer is what an answerer makes of a task.
type Answer struct {
	Text      string // Markdown, with [Source N] behind each statement
	Citations []Citation
	Abstained bool
	Terms     []string // for Exchange.Terms
	Model     string   // "offline", or the model's name
}
