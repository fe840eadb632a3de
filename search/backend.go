package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/ragflow/state"
)

// Backend is an index: it holds documents cut into chunks, and searches them. The name of a
// collection is its root, the indexed folder. Implementations are safe for concurrent use, and
// searches run while documents are put in. A change that a method has returned from survives
// the end of the process.
type Backend interface {
	// Put stores files with their chunks, all or none, and replaces what the collection held of
	// these files. It creates the collection if needed.
	Put(ctx context.Context, root string, entries []Entry) error
	// Touch stores size and time of files with unchanged content.
	Touch(ctx context.Context, root string, files ...File) error
	// Fail stores File.Error of files that could not be read. Their chunks stay.
	Fail(ctx context.Context, root string, files ...File) error
	// Delete removes files with their chunks.
	Delete(ctx context.Context, root string, sources ...string) error
	// Publish makes new documents fast to search. Searches find them before, too.
	Publish(ctx context.Context, root string) error

	// Files returns the files of a collection by source; none if there is no such collection.
	Files(ctx context.Context, root string) (map[string]File, error)
	// Collections lists all collections by root.
	Collections(ctx context.Context) ([]Collection, error)
	// Chunking returns the text that SetChunking stored for a collection, or "".
	Chunking(ctx context.Context, root string) (string, error)
	SetChunking(ctx context.Context, root, note string) error
	// Stats returns the size of the index, without reading its texts.
	Stats(ctx context.Context) (Stats, error)
	// Embed makes the vectors that the chunks of collections lack. If a collection has vectors
	// of another model and o.Switch is not set, the error is an [*EmbedderError].
	Embed(ctx context.Context, spec VectorSpec, roots []string, o EmbedOptions) (*EmbedReport, error)
	// Embedder returns the embedder of a collection's vectors; found is false if it has none.
	Embedder(ctx context.Context, root string) (spec VectorSpec, found bool, err error)
	// PruneVectors deletes the vectors that no collection uses and returns their number.
	PruneVectors(ctx context.Context) (int, error)

	// Snapshot returns the current state of collections. If one does not exist, the error
	// matches [ErrNotIndexed].
	Snapshot(ctx context.Context, roots ...string) (Snapshot, error)
	// ReadOnly reports whether the index was opened for reading only.
	ReadOnly() bool
	Close() error
}

// Snapshot searches collections in their state at one moment. It is safe for concurrent use and
// needs no closing.
type Snapshot interface {
	// SearchWords returns up to k chunks by their words, best first.
	SearchWords(ctx context.Context, q state.Query, k int) ([]state.Hit, error)
	// Vectors returns the vectors of the chunks. If another embedder made them, the error is an
	// [*EmbedderError].
	Vectors(ctx context.Context, spec VectorSpec) (Vectors, error)
	// CheckEmbedder returns the error of Vectors without loading vectors.
	CheckEmbedder(ctx context.Context, spec VectorSpec) error
	// Documents returns all documents by root and source, with those that a filter leaves out
	// and those without chunks. The slice is read-only.
	Documents(ctx context.Context) ([]*Document, error)
	// Narrow returns a snapshot that finds only documents that pass. Statistics stay those of
	// all documents.
	Narrow(ctx context.Context, pass func(*Document) bool) (Snapshot, error)
	// BestChunks returns, for each of some documents, the chunk that fits a query best, with
	// its score by words, or the first chunk with the score 0. The chunk of a document that
	// may not be found is "".
	BestChunks(ctx context.Context, q state.Query, docs []*Document) ([]state.Hit, error)

	// Chunks returns chunks by id, in the given order, without those that left the index.
	Chunks(ctx context.Context, ids []string) ([]state.Chunk, error)
	// Snippets returns a function that finds the part of a passage that fits a query best.
	Snippets(q state.Query) func(passage string) Snippet
	// Respelled returns the words of a query that no chunk holds, with the terms that are
	// searched for instead.
	Respelled(query string) []Respelled
	// Speaks reports whether chunks are in a language.
	Speaks(language string) bool
	Analyzer() Analyzer
	Docs() int               // chunks
	Files() int              // documents
	Passing() int            // documents that this snapshot may find
	DocFreq(term string) int // chunks that hold a term
	IDF(term string) float64 // inverse document frequency of a term
}

// Vectors are the vectors of the chunks of a [Snapshot]. They are safe for concurrent use.
type Vectors interface {
	// Search returns up to k chunks whose vectors have a cosine with query of at least
	// minCosine, best first.
	Search(ctx context.Context, query []float32, k int, minCosine float64) ([]state.Hit, error)
	// Of returns the vectors for a narrowed snapshot.
	Of(s Snapshot) Vectors
	Len() int     // chunks with a vector
	Missing() int // chunks without
}

// HybridServer is a [Snapshot] on a server that can rank by words and vectors in one request.
// Its [Vectors] are [HybridVectors].
type HybridServer interface {
	// RanksHybrid reports whether hybrid ranking on the server is enabled.
	RanksHybrid() bool
}

// HybridVectors are vectors on a [HybridServer].
type HybridVectors interface {
	// SearchHybrid returns up to k chunks by the words of a query and its vector, best first.
	SearchHybrid(ctx context.Context, q state.Query, vector []float32, k int) ([]state.Hit, error)
}

// Names of the legs of a search, in [state.Leg].
const (
	LegHybrid  = "hybrid"  // the lexical and the dense leg, fused
	LegLexical = "lexical" // by words
	LegDense   = "dense"   // by the vectors of an embedder
	LegGraph   = "graph"   // by the names of documents, and by the relations between them
)

// Errors of an index; match them with errors.Is.
var (
	ErrNotIndexed      = errors.New("not indexed")                // the error that wraps it names the root
	ErrEmbedderChanged = errors.New("made by another embedder")   // wrapped by an *EmbedderError
	ErrTextRefused     = errors.New("the model refuses the text") // from EmbedOptions.Embed: the text is tried again, cut shorter
)

// File is a file as the index knows it.
type File struct {
	Source  string            // path under the root, with slashes
	Size    int64             // bytes
	ModTime time.Time         // to the nanosecond; the zone is not kept
	Hash    string            // SHA-256 of its bytes, in hex
	Title   string            // of the document
	Chunker string            // fingerprint of the chunking options; if it changes, the file is chunked again
	Meta    map[string]string // front matter and the like
	// Metadata is Meta with typed values; nil if all values are text. Put prefers it to Meta.
	Metadata state.Metadata
	URL      string // where the document is published, if it says so; https
	Error    string // why it could not be read, or not wholly; empty if it could
	Chunks   int    // number of chunks; Put counts them
	CutBy    string // name of the chunker that cut it; empty for a file without chunks
}

// Entry is a file with its chunks, in order of Ordinal.
type Entry struct {
	File   File
	Chunks []state.Chunk
}

// Collection describes the documents of one root.
type Collection struct {
	Root       string
	Files      int
	Indexed    int // files that hold chunks
	Chunks     int
	Generation int64     // increases with every change that a search could see
	Changed    time.Time // time of the last change; zero if unknown
}

// Stats describes the size of an index.
type Stats struct {
	Analyzer string // analyzer and format of the terms
	Bytes    int64  // of the database; 0 if unknown
}

// UnknownKeyError is the error of a filter by a key that no document has.
type UnknownKeyError struct {
	Key   string
	Known []string // all keys, ascending
}

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("no document has the key %q; there are %s", e.Key, strings.Join(e.Known, ", "))
}

// Snippet is the part of a text that fits a query best. Positions are bytes of the text.
type Snippet struct {
	Start int    `json:"start"`
	End   int    `json:"end"`   // first byte after
	Marks []Mark `json:"marks"` // words of the query, in order, not overlapping; positions in the whole text
}

// Mark is a word of the query in a text.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Respelled is a word of a query that no chunk holds, with the terms that are searched for
// instead.
type Respelled struct {
	Word  string        // as written
	Terms []SimilarTerm // most similar first
}

// SimilarTerm is a term of the index with almost the spelling of a word.
type SimilarTerm struct {
	Term   string
	Edits  int // letters added, removed, replaced or swapped; 0 if only diacritics differ
	Chunks int // that hold it
}

// MaxHops is the largest number of relations that a search follows.
const MaxHops = 3

// Ranking holds the parameters of BM25. For each term of the query a chunk gets
//
//	weight · idf · tf·(K1+1) / (tf+K1)
//	idf = ln((N−df+0.5)/(df+0.5) + 1)
//	tf  = Σ over fields: field weight · occurrences / (1 − B + B·length/average length)
//
// with the fields text (weight 1), heading path and title. N and df count chunks. To the sum
// over terms is added Document times the same sum for the whole document, with text and title
// as fields and documents counted instead of chunks.
//
// With Title, Heading and Document 0 this is plain BM25. The embedded index takes Title as 1 at
// most for a query of 30 words and more.
type Ranking struct {
	K1       float64 `json:"k1"`       // how slowly repeated terms saturate; ≥ 0
	B        float64 `json:"b"`        // how much length lowers the score; 0–1
	Title    float64 `json:"title"`    // weight of the title; ≥ 0
	Heading  float64 `json:"heading"`  // weight of the heading path; ≥ 0
	Document float64 `json:"document"` // weight of the document's own score; ≥ 0
}

// DefaultRanking returns the parameters in use. They were chosen on docker-eval and SciFact;
// the figures change little around all of them except Document, without which three of thirty
// questions lose the first place.
func DefaultRanking() Ranking {
	return Ranking{K1: 1.2, B: 0.75, Title: 2, Heading: 0.5, Document: 1}
}
