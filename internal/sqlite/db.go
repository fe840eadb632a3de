package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Durability selects the failures that a commit survives.
type Durability int

// The levels of durability.
const (
	// ProcessCrash keeps every commit when the process dies at any point. A power
	// failure may lose the last commits but does not damage the file.
	ProcessCrash Durability = iota
	// PowerLoss keeps every commit in a power failure, too: each transaction is
	// forced to the disk before Write returns. Concurrent writes share one
	// transaction and its cost.
	PowerLoss
)

// Access selects how a database is opened.
type Access int

// The kinds of access.
const (
	// ReadWrite opens for reading and writing. A file or folder that cannot be
	// written is an error that matches [ErrReadOnly].
	ReadWrite Access = iota
	// ReadIfNeeded opens for reading and writing, or for reading only if the file
	// or folder cannot be written.
	ReadIfNeeded
	// ReadOnly opens for reading only.
	ReadOnly
)

// DefaultPatience is longer than any transaction of a healthy process takes.
const DefaultPatience = 2 * time.Minute

// Options configure a database. The zero value opens a file without a
// schema.
type Options struct {
	// Migrations bring the schema from each version to the next: the first one
	// from an empty file to version 1. Released migrations must never change.
	Migrations []string
	// ApplicationID marks the files of one kind, so that files of another kind are
	// refused, and so are files with another schema than that of the migrations. Zero:
	// neither is checked.
	ApplicationID int32
	// Durability of commits.
	Durability Durability
	// Access decides whether a read-only file is an error.
	Access Access
	// Patience is how long a lock of another process is waited for before the
	// operation fails with [ErrLocked]. Zero: [DefaultPatience].
	Patience time.Duration
	// Erase overwrites deleted and replaced content with zeros. The old bytes are
	// gone once [DB.Checkpoint] has emptied the log.
	Erase bool
}

// Counters count what a DB did since it was opened.
type Counters struct {
	Statements int64 // statements run by callbacks and by the package itself
	Commits    int64 // transactions that wrote
	Writes     int64 // callbacks saved; greater than Commits if they were grouped
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path    string // as given; for messages
	file    string // absolute path; empty in memory
	raw     string // URI of the file without its log; set if it was opened for writing
	options Options
	pool    *sql.DB // opens connections; keeps none

	writer *writer // nil if the database is open for reading only

	idle    chan *conn    // open connections for reading
	free    chan struct{} // one token for each connection that may be opened
	closing chan struct{}
	once    sync.Once

	statements, commits, writes atomic.Int64
}

// Open opens or creates the database at path, together with its folder. The
// path ":memory:", or an empty one, gives a private database in memory that ends
// with Close. The context bounds opening only, including the wait for another
// process that is migrating the file.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	db := &DB{path: path, options: o, idle: make(chan *conn, readers), free: make(chan struct{}, readers), closing: make(chan struct{})}
	if err := db.open(ctx); err != nil {
		if db.pool != nil {
			_ = db.pool.Close()
		}
		return nil, fmt.Errorf("open database %s: %w", path, db.explain(err))
	}
	for range readers - len(db.idle) {
		db.free <- struct{}{}
	}
	return db, nil
}

// ReadOnly reports whether the database was opened for reading only. Every
// Write then fails with an error that matches [ErrReadOnly].
func (db *DB) ReadOnly() bool { return db.writer == nil }

// Counters returns the counters of the DB.
func (db *DB) Counters() Counters {
	return Counters{Statements: db.statements.Load(), Commits: db.commits.Load(), Writes: db.writes.Load()}
}

// Read runs fn in a transaction that cannot change the database and sees it as it
// was at the first statement of fn. If ctx ends, a statement of QueryRow is
// interrupted, and one of Query ends at its next row.
func (db *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return db.retry(ctx, func() error {
		cn, err := db.reader(ctx)
		if err != nil {
			return db.explain(err)
		}
		usable := false
		defer func() {
			if usable {
				db.idle <- cn
				return
			}
			cn.close()
			db.free <- struct{}{}
		}()
		if err := cn.do("BEGIN"); err != nil {
			return db.explain(err)
		}
		defer func() { usable = cn.rollback() }()
		return db.explain(call(fn, &Tx{ctx, cn}))
	})
}

// reader returns a connection that nobody else uses, or opens one.
func (db *DB) reader(ctx context.Context) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case <-db.closing: // first, because select picks at random
		return nil, ErrClosed
	default:
	}
	select {
	case cn := <-db.idle: // before one is opened
		return cn, nil
	default:
	}
	select {
	case cn := <-db.idle:
		return cn, nil
	case <-db.free:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-db.closing:
		return nil, ErrClosed
	}
	cn, err := db.connect(ctx, true)
	if err != nil {
		db.free <- struct{}{}
	}
	return cn, err
}

// Close finishes started writes, waits for active reads, empties
// the write-ahead log and closes the file. Closing twice is not an error.
func (db *DB) Close() error {
	var err error
	db.once.Do(func() {
		close(db.closing)
		if db.writer != nil {
			db.writer.close()
		}
		for range cap(db.free) {
			select {
			case <-db.free:
			case cn := <-db.idle:
				cn.close()
			}
		}
		err = db.Checkpoint(context.Background())
		_ = db.pool.Close()
	})
	return err
}

// retry calls f until it succeeds, fails for another reason than a lock of
// another connection, or the context or the patience ends.
func (db *DB) retry(ctx context.Context, f func() error) error {
	var since time.Time
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if err == nil || !isBusy(err) {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) >= db.options.Patience {
			return &Error{Path: db.path, Kind: ErrLocked, Err: fmt.Errorf("for more than %v: %w", db.options.Patience, err)}
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("waiting for another process that uses the database: %w", context.Cause(ctx))
		}
	}
}
