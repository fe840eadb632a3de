// Package state defines the data of a conversation: messages, the state of a thread,
// the updates that change it, and [Apply], the only function that applies them.
//
// All types are plain data that encoding/json writes and reads back without loss.
// Goroutines share values. A value that is part of a State must not be changed.
package state

import (
	"reflect"
	"strings"
	"time"
)

// MaxRecent is the maximum number of exchanges in State.Recent.
const MaxRecent = 5

// State is the state of a thread. Messages, Summary and Recent last from turn
// to turn, Scope and Settings until the next question; Turn is the data of the current turn.
type State struct {
	Messages []Message  `json:"messages,omitempty"` // live messages; older ones are summarised in Summary and stored in the log
	Summary  string     `json:"summary,omitempty"`  // running summary of the messages that left the live state
	Recent   []Exchange `json:"recent,omitempty"`   // the last five turns, oldest first; a summary does not change them
	Scope    Scope      `json:"scope,omitzero"`
	Settings Settings   `json:"settings,omitzero"` // of the last question
	Turn     Turn       `json:"turn,omitzero"`
}

// Scope is what the questions of a thread are answered from. The zero Scope is all that
// is indexed.
type Scope struct {
	Docs       []string `json:"docs,omitempty"`       // absolute paths of folders and files; empty: all that is indexed
	Collection string   `json:"collection,omitempty"` // empty: the index that has no name
	More       []string `json:"more,omitempty"`       // further collections
	Filter     Filter   `json:"filter,omitzero"`      // which of the documents
}

// Empty reports whether s is the zero Scope.
func (s Scope) Empty() bool { return len(s.Docs) == 0 && s.Collection == "" && s.Filter.Empty() }

// Equal reports whether two scopes name the same documents in the same way.
func (s Scope) Equal(o Scope) bool {
	return s.Empty() && o.Empty() || reflect.DeepEqual(s, o)
}

// Exchange is the record of an earlier turn that later turns use to understand a
// follow-up.
type Exchange struct {
	Question string   `json:"question"`
	Terms    []string `json:"terms,omitempty"`  // the most informative words of the answer, best first
	Chunks   []string `json:"chunks,omitempty"` // IDs of the cited chunks, also if the answer abstained
	// QuoteEnds says how far chunks were quoted, also if the answer abstained.
	QuoteEnds []QuoteEnd `json:"told,omitempty"`
}

// Memory is the part of a state that a rewriter uses.
type Memory struct {
	Recent   []Exchange // the last turns, oldest first
	Summary  string     // summary of the messages that left the live state
	Messages []Message  // live messages, oldest first; the last one may be the current question
}

// Memory returns the memory of s.
func (s State) Memory() Memory {
	return Memory{Recent: s.Recent, Summary: s.Summary, Messages: s.Messages}
}

// Turn is the data of one turn. The nodes fill it one after the other; ingest clears
// it.
type Turn struct {
	Query     string     `json:"query,omitempty"`    // the question, cleaned
	Language  string     `json:"language,omitempty"` // language of the question, ISO 639-1
	Route     string     `json:"route,omitempty"`    // search, chitchat or meta
	Queries   []Query    `json:"queries,omitempty"`  // the first one is the question as asked
	Attempts  int        `json:"attempts,omitempty"` // finished retrievals
	Hits      []Hit      `json:"hits,omitempty"`     // fused hits of all attempts, best first
	Ranking   Ranking    `json:"ranking,omitzero"`   // of the hits; context and answer follow it
	Grade     Grade      `json:"grade,omitzero"`
	Sources   []Source   `json:"sources,omitempty"` // the context given to generate; Source N is Sources[N-1]
	Answer    string     `json:"answer,omitempty"`
	Citations []Citation `json:"citations,omitempty"`
	Abstained bool       `json:"abstained,omitempty"` // the documents do not contain the answer
	Model     string     `json:"model,omitempty"`     // the model that wrote the answer, or "offline"
	Quality   Quality    `json:"quality,omitzero"`    // how well the sources support the answer; zero if nothing was checked
	Cached    *Cached    `json:"cached,omitempty"`    // the turn is a copy of an earlier one; nil: it is not
}

// Cached says which turn an answer from the cache was made for.
type Cached struct {
	Run        string    `json:"run_id"` // its run, perhaps of another thread
	Time       time.Time `json:"time"`   // when it was answered
	Question   string    `json:"question"`
	Similarity float64   `json:"similarity"` // of the questions, from 0 to 1
}

// Quality is the result of checking an answer; see package cite. Shares are from 0 to
// 1, and 1 if there was nothing to check.
type Quality struct {
	Faithfulness      float64 `json:"faithfulness"`       // share of claims that a source supports
	CitationPrecision float64 `json:"citation_precision"` // share of marks whose source supports the claim
	CitationRecall    float64 `json:"citation_recall"`    // share of claims with a mark

	Claims    int `json:"claims"`    // checkable statements of the answer
	Unchecked int `json:"unchecked"` // claims in another language than their sources: only their figures, codes and names were checked

	// Repairs of the answer.
	Invalid     int `json:"invalid"`     // removed marks of sources that do not exist
	Reattached  int `json:"reattached"`  // claims that got a mark of the right source
	Unsupported int `json:"unsupported"` // claims without a supporting source, marked so
	Dropped     int `json:"dropped"`     // claims without a supporting source, removed in strict mode
}

// Route values.
const (
	RouteSearch   = "search"   // the documents are searched
	RouteChitchat = "chitchat" // a greeting or thanks; nothing is searched
	RouteMeta     = "meta"     // about the conversation or the program; nothing is searched
)

// Query is one search. Its words have the weight 1; Boosts add words, for example from
// the conversation.
type Query struct {
	Text    string  `json:"text"`
	Topic   string  `json:"topic,omitempty"` // the earlier question that Text continues; empty: none
	Boosts  []Boost `json:"boosts,omitempty"`
	Weight  float64 `json:"weight"`  // weight of its list in the fusion
	Why     string  `json:"why"`     // reason, for the trace
	Attempt int     `json:"attempt"` // 1, or 2 for the refined query of the retry
	// Cited are IDs of chunks that earlier answers cited, best first. They form an
	// extra list of candidates with a small weight.
	Cited []string `json:"cited,omitempty"`
	// QuoteEnds says how far chunks were quoted already, so that "more" continues there.
	QuoteEnds []QuoteEnd `json:"told,omitempty"`
	// A passage, its headings or its title must contain all Phrases. The searcher must filter
	// by them.
	Phrases []string `json:"phrases,omitempty"`
	// Passage is a text as a document with the answer could have it; the dense search
	// looks for passages like it, in place of Text.
	Passage string `json:"passage,omitempty"`
	// Part numbers the parts of a question from 1; 0: the query is none. After is the
	// number of the part whose answer this part needs; 0: it needs none.
	Part  int `json:"part,omitempty"`
	After int `json:"after,omitempty"`
}

// QuoteEnd says how far a chunk was quoted.
type QuoteEnd struct {
	Chunk string `json:"chunk"` // ID
	End   int    `json:"end"`   // offset of the first byte of the document after the quote
}

// Boost adds the words of Text to a query with a weight. A word that is also in the
// query or in another boost gets its greatest weight.
type Boost struct {
	Text   string  `json:"text"`
	Weight float64 `json:"weight"` // above 0; 1 counts as much as a word of the query
}

// Hit is a chunk that a search found, without its text: see nodes.Searcher.Chunks.
type Hit struct {
	Chunk string  `json:"chunk"` // ID
	Score float64 `json:"score"` // in the fused list; comparable only within that list
	Legs  []Leg   `json:"legs,omitempty"`
}

// Ranking is the order in which a reranker put the best hits of a turn. It names them by
// their position, because each byte of it is stored with the thread.
type Ranking struct {
	Hits   []int     `json:"hits,omitempty"`   // indices into Turn.Hits, best first
	Scores []float64 `json:"scores,omitempty"` // of Hits, rounded to six decimals
	// Judged is the highest score that a reranking model gave, from 0 to 1: how far the best
	// passage answers the question. It is nil if no model ranked.
	Judged *float64 `json:"judged,omitempty"`
}

// Leg is an origin of a hit: one entry per list that contains it.
type Leg struct {
	Name  string  `json:"name"`  // lexical, dense, …
	Query int     `json:"query"` // index into Turn.Queries
	Rank  int     `json:"rank"`  // from 1
	Score float64 `json:"score"` // score in the list of the leg
	// Share is the share of the query's weight for this list, from 0 to 1, if several
	// legs searched for the query; 0 means all of it.
	Share  float64 `json:"share,omitempty"`
	*Trail         // set if the hit was found through relations
}

// Trail describes the relations that led to a hit. It is shared and read-only.
type Trail struct {
	Via      string `json:"via,omitempty"`      // source of the document that the last relation leads from
	Relation string `json:"relation,omitempty"` // its kind, one of Relations
	Hops     int    `json:"hops,omitempty"`     // relations that were followed
}

// Linked reports whether relations led to the hit.
func (l Leg) Linked() bool { return l.Trail != nil && l.Via != "" }

// Of returns the leg's share of the weight of its query.
func (l Leg) Of(weight float64) float64 {
	if l.Share == 0 {
		return weight
	}
	return weight * l.Share
}

// Grade says how well the search result fits the question.
type Grade struct {
	Score   float64 `json:"score"`             // 0.00–1.00; 0.50 and more passes
	Refined *Query  `json:"refined,omitempty"` // a better query; nil if the grader knows none
	By      string  `json:"by,omitempty"`      // the grader: offline or the model
	Why     string  `json:"why,omitempty"`     // for the trace
}

// Bands of certainty: how sure a person may be of an answer.
const (
	BandAnswers  = "answers"  // what is shown answers the question
	BandProbably = "probably" // it probably does
	BandUnsure   = "unsure"   // it was answered, though what was found is not likely to hold the answer
	BandClosest  = "closest"  // it is only the closest that was found
)

// Grades from which on an answer is called one without reserve, and probably one.
const (
	surely   = 0.75
	probably = 0.5
)

// Band is the band of an answer whose sources have a grade.
func Band(grade float64, abstained bool) string {
	switch {
	case abstained:
		return BandClosest
	case grade >= surely:
		return BandAnswers
	case grade >= probably:
		return BandProbably
	}
	return BandUnsure
}

// Chunk is a piece of a document: Text == document[Start:End], in bytes of the
// extracted UTF-8 text. The extracted text of Markdown, plain text and code is the
// file itself. The extracted text of a table has other lines than its file, but StartLine,
// EndLine and Lines are those of the file. StartLine and EndLine are 0 for PDF, which has
// pages, and for formats without lines and pages, such as HTML and DOCX.
type Chunk struct {
	ID        string   `json:"id"`               // UUID version 5, made of source and span
	Root      string   `json:"root,omitempty"`   // absolute path of the indexed folder or file
	Source    string   `json:"source"`           // path under Root, with slashes
	Title     string   `json:"title"`            // title of the document
	Headings  []string `json:"headings"`         // headings above the chunk, outermost first
	Text      string   `json:"text"`             // never empty
	Start     int      `json:"start"`            // byte offset in the document
	End       int      `json:"end"`              // first byte after the chunk
	StartLine int      `json:"start_line"`       // from 1; 0 if the file has no lines
	EndLine   int      `json:"end_line"`         // inclusive
	Page      int      `json:"page,omitempty"`   // page of Start, from 1; 0 if the file has no pages
	Breaks    []int    `json:"breaks,omitempty"` // byte offsets in the document of the page starts within the chunk
	Lines     []int    `json:"lines,omitempty"`  // file line of each line of Text; nil if the lines are consecutive
	Kind      string   `json:"kind,omitempty"`   // text, code, table, list, or mixed for several kinds of block
	Ordinal   int      `json:"ordinal"`          // position among the document's chunks, from 0
	Hash      string   `json:"hash,omitempty"`   // SHA-256 of Text, in hex

	// PageLabels are the numbers that the pages from Page on bear, such as iv; nil if they count from 1.
	PageLabels []string `json:"page_labels,omitempty"`

	Cut Cut `json:"cut,omitzero"` // how the chunker cut the chunk

	// Metadata of the document, or "".
	URL          string `json:"url,omitempty"` // public https address
	DocumentType string `json:"document_type,omitempty"`
	DocumentID   string `json:"document_id,omitempty"`

	// Metadata is all metadata of the document, and FileHash the SHA-256 of its file and
	// metadata file when it was indexed, in hex. The index returns them with a chunk; the
	// state of a conversation does not store them.
	Metadata Metadata `json:"-"`
	FileHash string   `json:"-"`
}

// LineAt returns the file line of a line of Text, counted from 0; 0 if the file has no
// lines.
func (c Chunk) LineAt(line int) int {
	switch {
	case len(c.Lines) > 0:
		return c.Lines[min(line, len(c.Lines)-1)]
	case c.StartLine == 0:
		return 0
	}
	return c.StartLine + line
}

// PageAt returns the page of a byte offset of the document within the chunk; 0 if the
// file has no pages.
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

// PageLabel returns the numbers that the pages of the document's bytes start to end bear, such as iv or iv–vi;
// "" if the pages count from 1.
func (c Chunk) PageLabel(start, end int) string {
	first, last := c.PageAt(start)-c.Page, c.PageAt(end-1)-c.Page
	switch {
	case last >= len(c.PageLabels):
		return ""
	case first < last:
		return c.PageLabels[first] + "–" + c.PageLabels[last]
	}
	return c.PageLabels[first]
}

// Part returns a copy of the chunk with Text[from:to] only. Start, End, lines and pages
// are adjusted. The ID and the hash are still those of the whole chunk.
func (c Chunk) Part(from, to int) Chunk {
	before := strings.Count(c.Text[:from], "\n")
	within := strings.Count(strings.TrimSuffix(c.Text[from:to], "\n"), "\n")
	start, end := c.Start+from, c.Start+to
	first, last := c.LineAt(before), c.LineAt(before+within)
	if n := c.PageAt(end-1) - c.Page + 1; n <= len(c.PageLabels) {
		c.PageLabels = c.PageLabels[c.PageAt(start)-c.Page : n]
	}
	c.Page, c.Breaks = c.PageAt(start), breaksWithin(c.Breaks, start, end)
	if len(c.Lines) > 0 {
		c.Lines = c.Lines[min(before, len(c.Lines)-1):min(before+within+1, len(c.Lines))]
	}
	c.Text, c.Start, c.End, c.StartLine, c.EndLine = c.Text[from:to], start, end, first, max(first, last)
	return c
}

// breaksWithin returns the ascending offsets between start and end, both exclusive.
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

// Cut describes how a chunk was cut. It is zero for chunks of old versions, which did
// not record it.
type Cut struct {
	Chunker string `json:"chunker,omitempty"` // the chunker; for adaptive the chunker that it chose
	Level   int    `json:"level,omitempty"`   // level of the innermost Markdown heading, from 1; 0 above the first heading
	Inside  string `json:"inside,omitempty"`  // opening line of the code block, if the chunk starts inside one

	Sentences int `json:"sentence_count,omitempty"` // set by the semantic chunker

	// Set for source code.
	Language    string `json:"language,omitempty"`         // go, python, …
	Declaration string `json:"declaration_type,omitempty"` // function_declaration, class_declaration, …; empty between declarations
	Name        string `json:"name,omitempty"`             // declared name; Type.Method for Go methods
}

// Source is a chunk in the context, with its score.
type Source struct {
	Chunk
	Score float64 `json:"score"`

	Copies int `json:"-"` // other chunks with the same text that were found and left out; known while it is graded
}

// Citation connects a statement of the answer with the passage that supports it.
type Citation struct {
	N         int     `json:"n"` // the N of [Source N]
	Source    string  `json:"source"`
	Root      string  `json:"root,omitempty"`
	Title     string  `json:"title"`
	Start     int     `json:"start"` // byte offset of the quote in the document
	End       int     `json:"end"`
	StartLine int     `json:"start_line"` // 0 if the file has no lines
	EndLine   int     `json:"end_line"`
	Page      int     `json:"page,omitempty"`       // first page of the quote, from 1; 0 if the file has no pages
	EndPage   int     `json:"end_page,omitempty"`   // last page of the quote
	PageLabel string  `json:"page_label,omitempty"` // the numbers that these pages bear, such as iv; "" if they count from 1
	Quote     string  `json:"quote"`                // document[Start:End]
	Score     float64 `json:"score"`
	Chunk     string  `json:"chunk"`           // ID of the chunk
	Hash      string  `json:"hash"`            // hash of the chunk
	URL       string  `json:"url,omitempty"`   // public https address of the document, or ""
	Found     bool    `json:"found,omitempty"` // the check put the mark; the author of the answer did not cite this
}

// QuotedIn reports whether the document still has the quote at its place.
func (c Citation) QuotedIn(document []byte) bool {
	return 0 <= c.Start && c.Start < c.End && c.End <= len(document) && string(document[c.Start:c.End]) == c.Quote
}

// Plan is the result of a rewriter.
type Plan struct {
	Language   string
	Route      string
	Standalone bool    // the question can be understood without the conversation
	Queries    []Query // one to three; the first is the question as asked
	By         string  // the model that was asked for queries; empty if none was
	Added      int     // queries of transforms, which come beyond the three
}

// Task is the input of an answerer.
type Task struct {
	Question string
	Language string
	Route    string
	Queries  []Query // the queries of the search
	Sources  []Source
	Grade    Grade
	Summary  string
	Messages []Message // trimmed to the token limit, oldest first; the last is the question
	Metadata bool      // show the type and ID of documents
	Scores   bool      // show the scores of sources
	Asked    []string  // earlier questions, oldest first, including those whose messages were summarised
	Abstain  bool      // the sources do not answer: quotes are only the closest passages
	Declined string    // a model's refusal; the closest passages then stand below it
}

// Answer is the result of an answerer.
type Answer struct {
	Text      string // Markdown, with [Source N] after each statement
	Citations []Citation
	Abstained bool
	Terms     []string // becomes Exchange.Terms
	// Order lists the numbers of the task's sources in the order in which Text and
	// Citations number them. It is nil if they keep the numbers of the task.
	Order []int
	Added []Source // used beside the task's; Order numbers them behind these
	Model string   // name of the model, or "offline"
	Grade *Grade   // replaces the grade of the turn; nil keeps it
}
