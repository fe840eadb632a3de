// Package remote is a [search.Backend] whose data is on a server, for document sets that
// outgrow one machine, or that several machines search. A server implements [Store]; packages
// search/weaviate and search/pgvector do.
//
// The server holds everything: the list of known files with their hashes, the chunks and their
// vectors. So any machine can continue the work of another one. Words are analyzed here, and
// the server gets terms without white space, so every script and stemmer works as in the
// embedded index. Words and vectors are searched by separate requests, and fusion, filters and
// traces are those of package search.
//
// Ids are derived from content, so sending something twice changes nothing. A change of a file
// sends the new chunks, deletes the old ones, and then writes the file, which commits it:
// chunks with a version above that of their file are not found. If a store has no transactions
// and the process is killed in between, the next sync reads the file again.
//
// One process at a time may index a folder; any number may search it, and index others.
package remote

import (
	"context"
	"strings"
	"sync"

	"github.com/google/uuid"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
)

// Format is the version of the data in a [Store], with the analyzer of its terms. A store with
// another one cannot be used.
func Format() string { return "ragflow/2 " + text.Multilingual().Name() }

// MaxChunks is the number of chunks that a [Store] must be able to return for one request.
const MaxChunks = 10_000

// Store keeps folders, files, chunks and vectors on a server. It is safe for concurrent use.
// All ids are UUIDs, except Chunk.Public.
type Store interface {
	// Prepare makes the tables, unless they exist.
	Prepare(ctx context.Context) error
	// Change calls fn to change a folder. With transactions on the server, the calls of fn with
	// its context are one transaction.
	Change(ctx context.Context, root string, fn func(ctx context.Context) error) error

	// Roots returns all folders; none if there are no tables.
	Roots(ctx context.Context) ([]Root, error)
	// Files calls each for the files of some folders, and possibly of others.
	Files(ctx context.Context, roots []string, each func(File) error) error
	// Terms returns the data of PutTerms; nil if there is none.
	Terms(ctx context.Context, root string) ([]byte, error)
	// Chunks returns the chunks that pass; at most MaxChunks if the server has such a limit.
	Chunks(ctx context.Context, f Filter, with Fields) ([]Chunk, error)
	// EachChunk calls each for every chunk of some folders, and possibly of others.
	EachChunk(ctx context.Context, roots []string, with Fields, each func(Chunk) error) error
	// Words returns up to q.Limit chunks by their words, with nearly the highest scores, in any
	// order.
	Words(ctx context.Context, q Words) ([]Chunk, error)

	PutRoot(ctx context.Context, r Root) error
	// PutFiles writes files and replaces those with the same ids.
	PutFiles(ctx context.Context, files []File) error
	// NoteFile changes only the data of a file.
	NoteFile(ctx context.Context, id string, data []byte) error
	DeleteFiles(ctx context.Context, ids []string) error
	PutChunks(ctx context.Context, chunks []Chunk) error
	// DeleteChunks deletes all chunks that pass, with their vectors.
	DeleteChunks(ctx context.Context, f Filter) error
	PutTerms(ctx context.Context, root string, terms []byte) error

	// Embedders returns the embedders of vectors, with their dimensions.
	Embedders(ctx context.Context) ([]search.VectorSpec, error)
	// CountVectors counts the vectors of some folders; 0 for an unknown embedder.
	CountVectors(ctx context.Context, e search.VectorSpec, roots []string) (int, error)
	// EachVector calls each with the ids of the chunks of some folders that have a vector.
	EachVector(ctx context.Context, e search.VectorSpec, roots []string, each func(id string)) error
	// PutVectors writes the vectors of chunks, with the dimension of the embedder.
	PutVectors(ctx context.Context, e search.VectorSpec, chunks []Chunk, vectors [][]float32) error
	// DeleteVectors deletes the vectors of some folders and returns their number. all also
	// forgets the embedder.
	DeleteVectors(ctx context.Context, e search.VectorSpec, roots []string, all bool) (int, error)
	// Near returns up to limit chunks with the nearest vectors, and the cosine as score.
	Near(ctx context.Context, e search.VectorSpec, f Filter, vector []float32, limit int) ([]Chunk, error)

	Close() error
}

// HybridStore is a [Store] that can rank by words and vectors in one request.
type HybridStore interface {
	// RanksHybrid reports whether the address of the store asks for that.
	RanksHybrid() bool
	// Hybrid returns up to w.Limit chunks by words and by a vector, best first. Only chunks
	// with a vector are found.
	Hybrid(ctx context.Context, e search.VectorSpec, w Words, vector []float32) ([]Chunk, error)
}

// Root is a folder.
type Root struct {
	Name       string
	Generation int64  // of the last change: microseconds since 1970, and always increasing
	Chunking   string // see search.Backend
	Embedder   string // JSON of a search.VectorSpec; empty if there is none
}

// File is a file of a folder.
type File struct {
	ID, Root string
	Source   string // valid UTF-8, for people who inspect the server
	Data     []byte // JSON of a search.File
	Version  int64  // chunks with a greater one are not part of the file; 0 if it was never completed
	Chunks   int
	Terms    string // of its title and text, separated by spaces
}

// Chunk is a passage of a file.
type Chunk struct {
	ID, Root, File string
	Public         string // the id by which package search knows it
	Version        int64
	Ordinal        int
	Source         string // WithText, and this and the next four of valid UTF-8
	Title          string // WithText
	Headings       string // WithText; separated by ›
	Text           string // WithText
	Hash           string // WithText; of the text
	Terms          string // WithTerms; separated by spaces, in any order
	Data           []byte // WithData; JSON of its place in the file
	Score          float64
}

// Fields are the fields of a [Chunk] that a request returns besides its ids, version and
// ordinal. A store may return more.
type Fields int

// The groups of fields.
const (
	WithText Fields = 1 << iota
	WithTerms
	WithData
)

// Filter selects chunks that pass all its fields that are not nil.
type Filter struct {
	Roots, Files, IDs, Publics []string
	First                      bool // only the first chunk of a file
}

// Words is a search by words. A chunk gets the BM25 of its terms, with the parameters of
// search.DefaultRanking, and Document times that of its file's terms.
type Words struct {
	Filter   Filter
	Weights  map[string]float64 // by term, as stored; not empty
	Document float64
	Limit    int
	With     Fields

	// Statistics that a server may need: the searched folders, their numbers of chunks and
	// files, and the number of chunks with a term.
	Roots         []string
	Chunks, Files int
	DocFreq       func(term string) int
	Length        float64 // average number of terms of a chunk
}

// DB is an index on a server. It is safe for concurrent use.
type DB struct {
	store    Store
	analyzer text.Analyzer

	writing sync.Mutex       // held while something is changed
	failed  map[string]int64 // versions of changes that seemed to fail, by root; the next change reuses them

	mu    sync.Mutex // guards the fields below
	known map[string]*root
	terms map[string]termCounts // by root
}

// New returns the index on a store, which it closes.
func New(store Store) *DB {
	return &DB{store: store, analyzer: search.Multilingual(), known: map[string]*root{}, terms: map[string]termCounts{}, failed: map[string]int64{}}
}

// ReadOnly implements search.Backend; a server is never opened for reading only.
func (*DB) ReadOnly() bool { return false }

// Store returns the store of the index, for tests of servers.
func (db *DB) Store() Store { return db.store }

// ID returns the id of an object with the given identity.
func ID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(strings.Join(parts, "\x00"))).String()
}

// Close implements search.Backend. Searches under way fail.
func (db *DB) Close() error { return db.store.Close() }
