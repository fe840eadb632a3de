package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Backend is what an index must do: hold documents cut into chunks, and search
// them. Collections are named by their root, the folder that was indexed.
// Implementations are safe for concurrent use, and searches go on while documents
// are put in. A change that a method acknowledged survives the end of the process.
type Backend interface {
	// Put stores files with their chunks, all or none, in place of what the
	// collection held of these files. It makes the collection where there is none.
	Put(ctx context.Context, root string, entries []Entry) error
	// Touch stores size and time of files whose content was found unchanged.
	Touch(ctx context.Context, root string, files ...File) error
	// Fail stores why files could not be read. Chunks of an earlier version stay.
	Fail(ctx context.Context, root string, files ...File) error
	// Delete removes files with their chunks.
	Delete(ctx context.Context, root string, sources ...string) error
	// Publish makes what was put fast to search. Searches find it before, too.
	Publish(ctx context.Context, root string) error

	// Files returns the files of a collection by source; none where there is no such
	// collection.
	Files(ctx context.Context, root string) (map[string]File, error)
	// Collections lists all collections by root.
	Collections(ctx context.Context) ([]Collection, error)
	// Chunking returns the text that SetChunking stored for a collection, "" without one.
	Chunking(ctx context.Context, root string) (string, error)
	SetChunking(ctx context.Context, root, note string) error
	// Stats says how large the index is, without reading its texts.
	Stats(ctx context.Context) (Stats, error)
	// Embed gives the chunks of collections the vectors they lack. Where a collection
	// has vectors of another model, the error is an [*EmbedderError], unless o.Switch
	// is set.
	Embed(ctx context.Context, spec VectorSpec, roots []string, o EmbedOptions) (*EmbedReport, error)
	// Embedder returns what made the vectors of a collection; found is false where it
	// has none.
	Embedder(ctx context.Context, root string) (spec VectorSpec, found bool, err error)
	// PruneVectors deletes the vectors that no collection uses and counts them.
	PruneVectors(ctx context.Context) (int, error)

	// Snapshot returns the collections as they are now, to search in. The error
	// matches [ErrNotIndexed] where one does not exist.
	Snapshot(ctx context.Context, roots ...string) (Snapshot, error)
	// ReadOnly reports whether nothing can be changed.
	ReadOnly() bool
	Close() error
}

// Snapshot searches some collections as they were at one moment. It is safe for
// concurrent use and needs no closing.
type Snapshot interface {
	// SearchWords returns up to k chunks by their words, best first.
	SearchWords(ctx context.Context, q state.Query, k int) ([]state.Hit, error)
	// Vectors returns the vectors that a model made of the chunks. The error is an
	// [*EmbedderError] where another one made them.
	Vectors(ctx context.Context, spec VectorSpec) (Vectors, error)
	// CheckEmbedder returns the error that Vectors would, without loading any.
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

	// Chunks returns chunks by id, in the order asked for. Ids that are not in the
	// index any more are left out.
	Chunks(ctx context.Context, ids []string) ([]state.Chunk, error)
	// Snippets returns a function that finds the part of a passage that fits a query best.
	Snippets(q state.Query) func(passage string) Snippet
	// Respelled lists the words of a query that no chunk holds, with the terms that are
	// searched for instead.
	Respelled(query string) []Respelled
	// Speaks reports whether chunks are in a language.
	Speaks(language string) bool
	Analyzer() text.Analyzer
	Docs() int               // chunks
	Files() int              // documents
	Passing() int            // documents that this snapshot may find
	DocFreq(term string) int // chunks that hold a term
	IDF(term string) float64 // inverse document frequency of a term
}

// Vectors are the vectors of the chunks of a [Snapshot]. They are safe for
// concurrent use.
type Vectors interface {
	// Search returns up to k chunks by the cosine of their vector and query, which must
	// be at least least.
	Search(ctx context.Context, query []float32, k int, least float64) ([]state.Hit, error)
	// Of returns the vectors of the chunks of a narrowed snapshot.
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

// Facts about an index; match them with errors.Is.
var (
	ErrNotIndexed      = errors.New("not indexed")                // the error that wraps it names the root
	ErrEmbedderChanged = errors.New("made by another embedder")   // the error is an *EmbedderError
	ErrTextRefused     = errors.New("the model refuses the text") // of EmbedOptions.Embed: it is tried again, shorter
)

// File is a file as the index knows it.
type File struct {
	Source  string            // path under the root, with slashes
	Size    int64             // bytes
	ModTime time.Time         // to the nanosecond; the zone is not kept
	Hash    string            // SHA-256 of its bytes, in hex
	Title   string            // of the document
	Chunker string            // fingerprint of the chunking options; another one means chunking again
	Meta    map[string]string // front matter and the like
	// Metadata is Meta with typed values; nil where all values are text. Put prefers it
	// to Meta.
	Metadata state.Metadata
	URL      string // where the document says it is published, https; empty where it does not
	Error    string // why it could not be read; empty where it could
	Chunks   int    // number of chunks; Put counts them itself
	CutBy    string // name of the chunker that cut it; empty for a file without chunks
}

// Entry is a file with its chunks, in order of Ordinal.
type Entry struct {
	File   File
	Chunks []state.Chunk
}

// Collection is what the index holds of one root.
type Collection struct {
	Root       string
	Files      int
	Chunks     int
	Generation int64     // rises with every change that a search could see
	Changed    time.Time // when it rose last; zero where that is not known
}

// Stats says how large an index is.
type Stats struct {
	Analyzer string // analyzer and format of the terms
	Bytes    int64  // of the database; 0 where that is not known
}

// UnknownKeyError means that a filter names a key that no document has.
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

// Respelled is a word of a query that no chunk holds, with the terms that are
// searched for instead.
type Respelled struct {
	Word  string        // as written
	Terms []SimilarTerm // most similar first
}

// SimilarTerm is a term of the index that is spelled almost like a word.
type SimilarTerm struct {
	Term   string
	Edits  int // letters added, removed, replaced or swapped; 0: only diacritics differ
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
// with the fields text (weight 1), heading path and title. N and df count chunks. To
// the sum over terms is added Document times the same sum for the document as a
// whole, with text and title as fields and documents counted instead of chunks.
//
// With Title, Heading and Document 0 this is plain BM25.
type Ranking struct {
	K1       float64 `json:"k1"`       // how soon repeated terms stop to count; ≥ 0
	B        float64 `json:"b"`        // how much long texts are marked down; 0–1
	Title    float64 `json:"title"`    // weight of the title; ≥ 0
	Heading  float64 `json:"heading"`  // weight of the heading path; ≥ 0
	Document float64 `json:"document"` // weight of the document's own score; ≥ 0
}

// DefaultRanking returns the parameters in use. They were chosen on docker-eval and
// SciFact; the figures change little around all of them but Document, without which
// three of thirty questions lose the first place.
func DefaultRanking() Ranking {
	return Ranking{K1: 1.2, B: 0.75, Title: 2, Heading: 0.5, Document: 1}
}
