package index

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
)

// ErrNotIndexed tells that a root was never indexed. The error that wraps it
// names the root.
var ErrNotIndexed = errors.New("not indexed")

// ErrEarlier is returned for an index that an earlier version of this program made.
// It cannot be read and is built again from the documents.
var ErrEarlier = errors.New("the index was made by an earlier version of this program")

// Options say how an index works. The zero value is ready for use.
type Options struct {
	Ranking  *Ranking      // how hits are scored; nil: DefaultRanking
	Analyzer text.Analyzer // of documents and queries; nil: text.Multilingual
	Logger   *slog.Logger  // told of segments that cannot be saved or were damaged; nil discards
	Access   sqlite.Access // whether a file that cannot be written is an error; it is by default
}

// DB is an open index. It is safe for concurrent use, by several processes too.
type DB struct {
	sql      *sqlite.DB
	id       string // of the database, minted when it was made
	folder   string // of the segments; empty: in memory only
	ranking  Ranking
	analyzer text.Analyzer
	log      *slog.Logger

	flush      int64      // bytes of terms that are worth a tier
	publishing sync.Mutex // held while tiers are merged and saved

	mu    sync.Mutex      // held while tiers are loaded and views put together
	tiers map[stamp]*tier // published ones
	seen  map[int64]*view // newest one seen, by collection

	vectorsMu sync.Mutex               // held while vectors are loaded or put together
	vectors   map[stamp]*vectorSegment // by what their tier was made of
}

// Open opens or makes the index at path. The empty path makes one in memory
// that ends with Close. Errors are those of a database that is damaged, newer or
// of another program, or of a Ranking out of range.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	db := &DB{
		ranking: DefaultRanking(), analyzer: o.Analyzer, log: o.Logger,
		flush: flushBytes, tiers: map[stamp]*tier{}, seen: map[int64]*view{}, vectors: map[stamp]*vectorSegment{},
	}
	if o.Ranking != nil {
		db.ranking = *o.Ranking
	}
	if err := db.ranking.check(); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if db.analyzer == nil {
		db.analyzer = text.Multilingual()
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	if path != "" && path != ":memory:" {
		db.folder = path + ".segments"
	}
	var err error
	db.sql, err = sqlite.Open(ctx, path, sqlite.Options{Migrations: migrations(), ApplicationID: applicationID, Access: o.Access})
	if e, ok := errors.AsType[*sqlite.Error](err); ok && errors.Is(e, sqlite.ErrForeign) && strings.Contains(e.Err.Error(), earlierID) {
		return nil, fmt.Errorf("open index %s: %w", path, ErrEarlier)
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if err := db.identify(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open index %s: %w", path, err), db.sql.Close())
	}
	return db, nil
}

// identify reads the id of the database, or mints it. It stands in segments, so
// that those of a database that was deleted are not taken for those of its
// successor.
func (db *DB) identify(ctx context.Context) error {
	read := func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT coalesce(max(value), '') FROM settings WHERE name = 'id'`).Scan(&db.id)
	}
	if err := db.sql.Read(ctx, read); err != nil || db.id != "" || db.ReadOnly() {
		return err
	}
	return db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		if _, err := tx.Exec(`INSERT INTO settings(name, value) VALUES('id', ?) ON CONFLICT DO NOTHING`, rand.Text()); err != nil {
			return err
		}
		return read(tx)
	})
}

// ReadOnly reports whether the index was opened for reading only. Every change
// then fails with an error that matches sqlite.ErrReadOnly.
func (db *DB) ReadOnly() bool { return db.sql.ReadOnly() }

// Counters tell what the index did since it was opened, for tests and
// diagnostics.
func (db *DB) Counters() sqlite.Counters { return db.sql.Counters() }

// Close closes the index. Searchers made before can still search, but not read
// chunks.
func (db *DB) Close() error { return db.sql.Close() }
