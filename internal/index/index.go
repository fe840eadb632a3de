package index

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
)

// Options configure an index. The zero value is ready for use.
type Options struct {
	Ranking  *search.Ranking // parameters of the score; nil means DefaultRanking
	Analyzer text.Analyzer   // of documents and queries; nil means search.Multilingual
	Logger   *slog.Logger    // logs segments that cannot be saved or are damaged; nil discards
	Access   sqlite.Access   // whether a read-only file is an error; it is by default
}

// DB is an open index. It is safe for concurrent use, by several processes too.
type DB struct {
	sql      *sqlite.DB
	ranking  search.Ranking
	analyzer text.Analyzer
	log      *slog.Logger

	flush      int64       // see flushBytes
	erased     atomic.Bool // texts were deleted since the last Publish
	publishing sync.Mutex  // held while segments are merged and saved

	mu       sync.Mutex // held while segments are loaded and snapshots are made
	segments map[segmentKey]*segment
	seen     map[int64]*snapshot // newest snapshots by collection

	vectorsMu sync.Mutex // held while vectors are loaded
	vectors   map[segmentKey]*segmentVectors
}

// Open opens the index at path, and creates it if needed. The empty path makes one in memory
// that ends with Close. Errors are a damaged, newer or foreign database, or a Ranking out of
// range.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	db := &DB{
		ranking: search.DefaultRanking(), analyzer: o.Analyzer, log: o.Logger,
		flush: flushBytes, segments: map[segmentKey]*segment{}, seen: map[int64]*snapshot{}, vectors: map[segmentKey]*segmentVectors{},
	}
	if o.Ranking != nil {
		db.ranking = *o.Ranking
	}
	if err := checkRanking(db.ranking); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if db.analyzer == nil {
		db.analyzer = search.Multilingual()
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	var err error
	db.sql, err = sqlite.Open(ctx, path, sqlite.Options{Migrations: migrations(), ApplicationID: applicationID, Access: o.Access, Erase: true})
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	return db, nil
}

// ReadOnly reports whether the index was opened for reading only. Every change then fails with
// an error that matches sqlite.ErrReadOnly.
func (db *DB) ReadOnly() bool { return db.sql.ReadOnly() }

// Counters returns counts of database operations since Open, for tests and diagnostics.
func (db *DB) Counters() sqlite.Counters { return db.sql.Counters() }

// Close closes the index. Existing searchers can still search, but not read chunks.
func (db *DB) Close() error { return db.sql.Close() }
